// The broker that a check talks to, however it came to run: started by an adapter, by shell commands (hooked-broker.ts), or attached
// to. One interface, so that a check never knows the difference; what an attached broker cannot do (stop, crash, start again)
// is refused before the check runs, and is a fault of the engine when it is asked for here.
import type { ConfigurationRequest } from '../configuration.ts';
import { fillConfiguration } from '../configuration.ts';
import type { Timing } from '../timing.ts';
import type { BrokerExit } from './broker-process.ts';
import { BrokerProcess } from './broker-process.ts';
import { makeDataDirectory, removeDataDirectory } from './data-directory.ts';
import { unreachableReason, waitForEndNotice } from './listening.ts';
import { LogTail } from './log-tail.ts';
import { TargetFault } from './target-fault.ts';
import type { Endpoints, SpawnLifecycle } from './target-file.ts';

export type Broker = {
  /** Where it listens now: a restart moves it. */
  readonly endpoints: Endpoints;
  readonly identity: { readonly name: string; readonly version?: string } | undefined;
  /** Settings that the adapter could not honour. */
  readonly unsupported: readonly string[];
  readonly log: LogTail;
  /** Of the adapter, whose descendant the broker may be; undefined where the runner started none. */
  readonly processId: number | undefined;
  /** Other brokers live in its process and end with it: who ended it may have meant another one. */
  readonly sharesProcess?: true;
  readonly unwantedEnd: BrokerExit | undefined;
  /** As `unwantedEnd`, but looks whether it can be reached where that is the only way to know; may take a connection. */
  findUnwantedEnd(): Promise<BrokerExit | undefined>;
  terminate(): void;
  /** Ends the standard input of its adapter, which has to end then. Absent where the runner started none. */
  readonly closeInput?: () => void;
  crash(): Promise<void>;
  readonly exit: Promise<BrokerExit>;
  /** Starts it again with the same configuration and data. */
  start(): Promise<void>;
  /**
   * Starts a second broker with the same configuration and data directory, and ends it again. Throws a TargetFault when it does not start,
   * PrerequisiteMissing where there is no way to have two.
   */
  startSecond(): Promise<void>;
  /** The folder for its files; undefined where the runner gave it none. */
  readonly dataDirectory: string | undefined;
  /** Ends it for good and removes its data; leaves an attached broker alone. */
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
      tcp,
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

  async startSecond(): Promise<void> {
    await (await this.#startProcess()).crash();
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
    // Nothing is asked of it any more: waiting for its orderly end would only cost time.
    await this.#process?.crash();
    removeDataDirectory(this.dataDirectory);
  }

  #startProcess(): Promise<BrokerProcess> {
    const configuration = fillConfiguration(this.#request, this.dataDirectory);
    const options = { withinMs: this.#timing.startMs, log: this.log };
    return BrokerProcess.start(this.#lifecycle, configuration, options);
  }

  get #running(): BrokerProcess {
    if (this.#process === undefined) throw new Error('the broker was not started');
    return this.#process;
  }
}

/** A broker that runs already. Nothing is started, and nothing is ended. Throws a TargetFault when nobody listens there. */
export async function attachedBroker(endpoints: Endpoints, timing: Timing): Promise<Broker> {
  const { host, port } = endpoints.tcp;
  const reason = await unreachableReason(endpoints.tcp, timing.startMs);
  if (reason !== undefined) {
    const message = `nothing can be reached at ${host}:${port} (${reason}); is a broker running there`;
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
