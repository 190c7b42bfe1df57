// The broker of a check: started by an adapter, started by shell commands (hooked-broker.ts), or attached. All have one interface, so that
// checks need not know the difference. Stop, crash and restart of an attached broker are refused before a check runs; a call here is a
// fault of the engine.
import type { ConfigurationRequest, TlsSettings } from '../configuration.ts';
import { fillConfiguration } from '../configuration.ts';
import type { Timing } from '../timing.ts';
import type { BrokerExit } from './broker-process.ts';
import { BrokerProcess } from './broker-process.ts';
import { makeDataDirectory, removeDataDirectory } from './data-directory.ts';
import { setFileWrites } from './file-writes.ts';
import { unreachableReason, waitForEndNotice } from './listening.ts';
import { LogTail } from './log-tail.ts';
import { TargetFault } from './target-fault.ts';
import type { Endpoints, SpawnLifecycle } from './target-file.ts';
import { replaceCertificates, withCertificatePaths } from './test-certificates.ts';

export type Broker = {
  /** The current addresses; a restart may change them. */
  readonly endpoints: Endpoints;
  readonly identity: { readonly name: string; readonly version?: string } | undefined;
  /** Settings that the adapter does not honour. */
  readonly unsupported: readonly string[];
  readonly log: LogTail;
  /** The process id of the adapter, which may be an ancestor of the broker; undefined if the runner started none. */
  readonly processId: number | undefined;
  /** Other brokers run in the same process and end with it, so that another check may have ended it. */
  readonly sharesProcess?: true;
  readonly unwantedEnd: BrokerExit | undefined;
  /** As `unwantedEnd`, but connects to the broker if that is the only way to know; may use a connection. */
  findUnwantedEnd(): Promise<BrokerExit | undefined>;
  terminate(): void;
  /** Closes the standard input of its adapter, which must end then. Absent if the runner started no adapter. */
  readonly closeInput?: () => void;
  crash(): Promise<void>;
  readonly exit: Promise<BrokerExit>;
  /** Why the hook failed that was to stop it; undefined or absent if none did. */
  readonly stopFault?: unknown;
  /** Starts it again with the same configuration and data. */
  start(): Promise<void>;
  /**
   * Starts a second broker with the same configuration and data directory, and stops it again. Throws a TargetFault if it does not start,
   * PrerequisiteMissing if the target cannot run two brokers.
   */
  startSecond(): Promise<void>;
  /**
   * Starts a broker with another configuration and its own data directory, and stops it again. Throws a TargetFault if it does not start.
   * Absent if the runner starts no broker with settings of its choice.
   */
  startOther?(request: ConfigurationRequest): Promise<void>;
  /** Replaces its certificate and key by those of other test certificates, and sends SIGHUP. Absent if the runner cannot. */
  renewCertificate?(by: TlsSettings): void;
  /** As `start`, but its files cannot become larger than this. Absent if the runner cannot limit them. */
  startWithFileLimit?(maxBytes: number): Promise<void>;
  /** Lets all writes to its files fail, or succeed again, while it runs. False if the system cannot. Absent if the runner started no process. */
  setFileWrites?(areAllowed: boolean): Promise<boolean>;
  /** Its data directory; undefined if the runner gave it none. */
  readonly dataDirectory: string | undefined;
  /** Stops it and removes its data; does nothing to an attached broker. Throws a TargetFault if the hook that stops it failed. */
  dispose(): Promise<void>;
};

/** Starts a broker with a data directory of its own. Throws a TargetFault. */
export async function spawnBroker(
  lifecycle: SpawnLifecycle,
  request: ConfigurationRequest,
  timing: Timing,
): Promise<Broker> {
  const dataDirectory = makeDataDirectory();
  const broker = new SpawnedBroker(lifecycle, request, timing, dataDirectory);
  try {
    await broker.start();
    return broker;
  } catch (error) {
    removeDataDirectory(dataDirectory);
    throw error;
  }
}

class SpawnedBroker implements Broker {
  readonly #lifecycle: SpawnLifecycle;
  readonly #request: ConfigurationRequest;
  readonly #timing: Timing;
  readonly dataDirectory: string;
  readonly log = new LogTail();
  #process: BrokerProcess | undefined;

  constructor(
    lifecycle: SpawnLifecycle,
    request: ConfigurationRequest,
    timing: Timing,
    dataDirectory: string,
  ) {
    this.#lifecycle = lifecycle;
    this.#request = request;
    this.#timing = timing;
    this.dataDirectory = dataDirectory;
  }

  get endpoints(): Endpoints {
    const { tcp, health, dashboard } = this.#running.answer;
    return {
      tcp: { host: tcp.host, port: tcp.port },
      ...(health === undefined || health === null ? {} : { health }),
      ...(dashboard === undefined || dashboard === null ? {} : { dashboard }),
    };
  }

  get identity(): { readonly name: string; readonly version?: string } {
    return this.#running.answer.broker;
  }

  get unsupported(): readonly string[] {
    return this.#running.answer.unsupported ?? [];
  }

  get processId(): number | undefined {
    return this.#process?.processId;
  }

  get unwantedEnd(): BrokerExit | undefined {
    return this.#process?.unwantedEnd;
  }

  async findUnwantedEnd(): Promise<BrokerExit | undefined> {
    await waitForEndNotice(this.exit);
    return this.unwantedEnd;
  }

  get exit(): Promise<BrokerExit> {
    return this.#running.exit;
  }

  async start(): Promise<void> {
    this.#process = await this.#startProcess();
  }

  async startWithFileLimit(maxBytes: number): Promise<void> {
    this.#process = await this.#startProcess(withFileLimit(this.#lifecycle, maxBytes));
  }

  async setFileWrites(areAllowed: boolean): Promise<boolean> {
    const { processId } = this;
    return processId !== undefined && (await setFileWrites(processId, areAllowed));
  }

  async startSecond(): Promise<void> {
    await (await this.#startProcess()).crash();
  }

  async startOther(request: ConfigurationRequest): Promise<void> {
    const other = await spawnBroker(this.#lifecycle, withCertificatePaths(request), this.#timing);
    await other.dispose();
  }

  renewCertificate(by: TlsSettings): void {
    replaceCertificates(this.#request, by);
    this.#running.hangUp();
  }

  terminate(): void {
    this.#running.terminate();
  }

  closeInput(): void {
    this.#running.closeInput();
  }

  crash(): Promise<void> {
    return this.#running.crash();
  }

  async dispose(): Promise<void> {
    // The broker is not needed any more, so it is killed: an orderly stop would only take time.
    await this.#process?.crash();
    removeDataDirectory(this.dataDirectory);
  }

  #startProcess(lifecycle: SpawnLifecycle = this.#lifecycle): Promise<BrokerProcess> {
    const configuration = fillConfiguration(this.#request, this.dataDirectory);
    const options = { withinMs: this.#timing.startMs, log: this.log };
    return BrokerProcess.start(lifecycle, configuration, options);
  }

  get #running(): BrokerProcess {
    if (this.#process === undefined) throw new Error('the broker was not started');
    return this.#process;
  }
}

/** The unit of `ulimit -f` in a POSIX shell. */
const limitUnitBytes = 512;

/** A write beyond the limit fails, as on a full disk, and does not also end the process by SIGXFSZ. */
function withFileLimit(lifecycle: SpawnLifecycle, maxBytes: number): SpawnLifecycle {
  const count = String(Math.ceil(maxBytes / limitUnitBytes));
  const command = ['sh', '-c', 'trap "" XFSZ; ulimit -f "$0" && exec "$@"', count, ...lifecycle.command];
  return { ...lifecycle, command };
}

/** A broker that already runs. Starts and stops nothing. Throws a TargetFault if the address cannot be reached. */
export async function attachedBroker(endpoints: Endpoints, timing: Timing): Promise<Broker> {
  const { host, port } = endpoints.tcp;
  const reason = await unreachableReason(endpoints.tcp, timing.startMs);
  if (reason !== undefined) {
    const message = `${host}:${port} cannot be reached (${reason}); start the broker there, or correct the address`;
    throw new TargetFault('unreachable', message);
  }
  const refuse = (): never => {
    throw new Error('an attached broker cannot be stopped or started');
  };
  return {
    endpoints,
    identity: undefined,
    unsupported: [],
    log: new LogTail(),
    processId: undefined,
    unwantedEnd: undefined,
    findUnwantedEnd: async () => {
      await waitForEndNotice();
      const fault = await unreachableReason(endpoints.tcp, timing.connectMs);
      return fault === undefined ? undefined : { code: null, signal: null, fault };
    },
    exit: new Promise(() => {}),
    terminate: refuse,
    crash: refuse,
    start: refuse,
    startSecond: refuse,
    dataDirectory: undefined,
    dispose: async () => {},
  };
}
