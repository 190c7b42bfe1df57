// Starts all brokers of one planted fault in one process, so that the process loads the broker only once: loading takes ten times as long
// as starting. Each broker gets the same request and has its own ports, data, log and state; only the process is shared. If the host ends,
// all its brokers end: each reports it, and the next start creates a new host. A broker that a check stops or kills, or may kill, must not
// run in a host. The program in the host is host-program.ts.
import { createInterface } from 'node:readline';
import { fillConfiguration } from '../src/configuration.ts';
import type { BrokerOrder } from '../src/engine/broker-pool.ts';
import type { Broker } from '../src/target/broker.ts';
import type { AdapterAnswer, BrokerExit } from '../src/target/broker-process.ts';
import { readAnswer } from '../src/target/broker-process.ts';
import { makeDataDirectory, removeDataDirectory } from '../src/target/data-directory.ts';
import { waitForEndNotice } from '../src/target/listening.ts';
import { LogTail } from '../src/target/log-tail.ts';
import { ProcessGroup } from '../src/target/process-group.ts';
import { TargetFault } from '../src/target/target-fault.ts';
import type { SpawnLifecycle } from '../src/target/target-file.ts';
import type { HostNews, HostOrder } from './host-program.ts';

type Order = Pick<BrokerOrder, 'request' | 'timing'>;

export class BrokerHost {
  readonly #command: SpawnLifecycle;
  #process: HostProcess | undefined;

  /** Does not start a process yet. */
  constructor(command: SpawnLifecycle) {
    this.#command = command;
  }

  /** Starts a broker, in a new host if the host has ended. Throws a TargetFault. */
  async start(order: Order): Promise<Broker> {
    for (;;) {
      const host = this.#living();
      try {
        return await host.startBroker(order);
      } catch (error) {
        const othersDid = host.group.ended !== undefined && host.startedCount > 0;
        if (!othersDid) throw error;
      }
    }
  }

  /** Ends the host and all brokers in it. */
  async end(): Promise<void> {
    await this.#process?.end();
  }

  #living(): HostProcess {
    if (this.#process === undefined || this.#process.group.ended !== undefined) {
      this.#process = new HostProcess(this.#command);
    }
    return this.#process;
  }
}

/** The log of the process. It cannot be assigned to one broker, so all brokers get it. */
class SharedLog extends LogTail {
  readonly #brokers: ReadonlyMap<number, HostedBroker>;

  constructor(brokers: ReadonlyMap<number, HostedBroker>) {
    super();
    this.#brokers = brokers;
  }

  override add(line: string): void {
    super.add(line);
    for (const { log } of this.#brokers.values()) log.add(line);
  }
}

class HostProcess {
  readonly group: ProcessGroup;
  readonly #brokers = new Map<number, HostedBroker>();
  readonly #log = new SharedLog(this.#brokers);
  startedCount = 0;
  endWanted = false;

  constructor({ command: [program = '', ...args], cwd, environment }: SpawnLifecycle) {
    this.group = new ProcessGroup({ program, args, cwd, environment, children: 'end' }, this.#log);
    createInterface({ input: this.group.stdout }).on('line', (line) => this.#take(line));
  }

  async startBroker({ request, timing }: Order): Promise<Broker> {
    const broker = new HostedBroker(this);
    const number = this.#brokers.size + 1;
    this.#brokers.set(number, broker);
    const order: HostOrder = { broker: number, request: fillConfiguration(request, broker.dataDirectory) };
    this.group.write(JSON.stringify(order));
    try {
      broker.answer = readAnswer(await this.#answerTo(broker, timing.startMs));
    } catch (error) {
      await broker.dispose();
      throw error;
    }
    this.startedCount += 1;
    return broker;
  }

  async end(): Promise<void> {
    this.endWanted = true;
    this.group.kill();
    await this.group.exit;
  }

  #take(line: string): void {
    const news = JSON.parse(line) as HostNews;
    const broker = this.#brokers.get(news.broker);
    if ('log' in news) broker?.log.add(news.log);
    else broker?.noteAnswer(news.answer);
  }

  async #answerTo(broker: HostedBroker, withinMs: number): Promise<string> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const fault = new TargetFault('no answer', `no answer of the host within ${withinMs} ms`);
      timer = setTimeout(() => reject(fault), withinMs);
    });
    const ended = this.group.exit.then((): never => {
      const log = this.#log.lines.slice(-10).join('\n');
      throw new TargetFault('ended', `the host of the brokers ended before it answered:\n${log}`);
    });
    try {
      return await Promise.race([broker.answered, late, ended]);
    } finally {
      clearTimeout(timer);
    }
  }
}

class HostedBroker implements Broker {
  readonly sharesProcess = true;
  readonly log = new LogTail();
  readonly dataDirectory = makeDataDirectory();
  readonly answered: Promise<string>;
  noteAnswer: (answer: string) => void = () => {};
  answer: AdapterAnswer | undefined;
  readonly #host: HostProcess;

  constructor(host: HostProcess) {
    this.#host = host;
    this.answered = new Promise((resolve) => {
      this.noteAnswer = resolve;
    });
  }

  get endpoints(): Broker['endpoints'] {
    const { tcp, health, dashboard } = this.#answer;
    return {
      tcp: { host: tcp.host, port: tcp.port },
      ...(health === undefined || health === null ? {} : { health }),
      ...(dashboard === undefined || dashboard === null ? {} : { dashboard }),
    };
  }

  get identity(): Broker['identity'] {
    return this.#answer.broker;
  }

  get unsupported(): readonly string[] {
    return this.#answer.unsupported ?? [];
  }

  get processId(): number | undefined {
    return this.#host.group.processId;
  }

  get exit(): Promise<BrokerExit> {
    return this.#host.group.exit;
  }

  get unwantedEnd(): BrokerExit | undefined {
    return this.#host.endWanted ? undefined : this.#host.group.ended;
  }

  async findUnwantedEnd(): Promise<BrokerExit | undefined> {
    await waitForEndNotice(this.exit);
    return this.unwantedEnd;
  }

  terminate(): never {
    throw new Error('a broker in a host cannot end alone');
  }

  async crash(): Promise<never> {
    return this.terminate();
  }

  async start(): Promise<never> {
    return this.terminate();
  }

  async startSecond(): Promise<never> {
    return this.terminate();
  }

  /** Leaves the broker running in its host: a clean stop would take longer. */
  async dispose(): Promise<void> {
    removeDataDirectory(this.dataDirectory);
  }

  get #answer(): AdapterAnswer {
    if (this.answer === undefined) throw new Error('the broker was not started');
    return this.answer;
  }
}
