// Deletes the queues that checks left on a broker that keeps running: every queue whose name starts with the prefix of an ended check,
// generated dead letter queues included. It runs beside the checks on its own connection and never changes a verdict. A broker that does
// not answer is asked once more at the end of the run. Area: QUEUE.
import { ProbeClient } from '../observation/probe-client.ts';
import type { Endpoints } from '../target/target-file.ts';
import type { Timing } from '../timing.ts';
import type { BrokerConnection } from '../wire/broker-connection.ts';
import { Command } from '../wire/command.ts';
import type { Credentials } from '../wire/credentials.ts';
import { within } from '../within.ts';
import type { Pacer } from './pacer.ts';
import type { RunNames } from './run-names.ts';

export type QueueCleanupSetting = {
  readonly tcp: Endpoints['tcp'];
  readonly timing: Timing;
  readonly names: RunNames;
  readonly seed: number;
  readonly pacer: Pacer;
  readonly credentials?: Credentials;
};

/** The limit for the cleanup after an interrupt: the user does not want to wait for it. */
const interruptedMs = 2000;

export class QueueCleanup {
  readonly #names: RunNames;
  readonly #client: ProbeClient;
  /** Name prefixes of the checks that have ended since the last cleanup. */
  #pending = new Set<string>();
  #connection: BrokerConnection | undefined;
  #sweeping: Promise<void> | undefined;
  #isNeeded = false;
  #hasFailed = false;

  constructor({ tcp, timing, names, seed, pacer, credentials = {} }: QueueCleanupSetting) {
    this.#names = names;
    this.#client = new ProbeClient({
      tcp,
      timing: { ...timing, answerMs: timing.answerMs / 2 },
      name: names.ofVisit('cleanup', seed),
      pacer,
      credentials,
    });
  }

  /** Deletes the queues of a judged check in the background. `names`: the prefix of its names. */
  checkEnded(names: string): void {
    this.#isNeeded = true;
    this.#pending.add(`${names}.`);
    if (!this.#hasFailed) this.#sweeping ??= this.#sweepPending();
  }

  /** After the last check: deletes the remaining queues. Returns a sentence if queues may remain. Never rejects. */
  async finish(signal?: AbortSignal): Promise<string | undefined> {
    const isInterrupted = signal?.aborted === true;
    if (!this.#isNeeded && !isInterrupted) return undefined;
    const swept = this.#sweepAll();
    const isClean = isInterrupted ? await within(swept, interruptedMs) : await swept;
    await this.#client.cleanUp();
    if (isClean === true) return undefined;
    return `the broker may still have queues of this run; their names contain ${this.#names.mark}`;
  }

  /** Deletes every queue of the run; true if the broker lists none of them afterwards. */
  async #sweepAll(): Promise<boolean> {
    const isOfRun = (queue: string): boolean => queue.includes(this.#names.mark);
    try {
      await this.#sweeping;
      await this.#sweep(isOfRun);
      return (await this.#listed(isOfRun)).length === 0;
    } catch {
      return false;
    }
  }

  async #sweepPending(): Promise<void> {
    try {
      while (this.#pending.size > 0) {
        const beginnings = [...this.#pending];
        this.#pending = new Set();
        await this.#sweep((queue) => beginnings.some((beginning) => queue.startsWith(beginning)));
      }
    } catch {
      this.#hasFailed = true;
      this.#connection = undefined;
    } finally {
      this.#sweeping = undefined;
    }
  }

  async #sweep(isMeant: (queue: string) => boolean): Promise<void> {
    const connection = await this.#connected();
    const deletions = (await this.#listed(isMeant)).map((queue) =>
      connection.request({ command: Command.DeleteQueue, id: this.#client.id(), queue }),
    );
    await Promise.all(deletions);
  }

  async #listed(isMeant: (queue: string) => boolean): Promise<readonly string[]> {
    return (await (await this.#connected()).listQueues()).filter(isMeant);
  }

  async #connected(): Promise<BrokerConnection> {
    if (this.#connection?.isClosed !== false) this.#connection = await this.#client.connect();
    return this.#connection;
  }
}
