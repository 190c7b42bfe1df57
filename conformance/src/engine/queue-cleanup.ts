// Deletes what the checks left on a broker that goes on running: every queue whose name begins as the names of a check that has ended,
// generated dead letter queues included. It works beside the checks, on one connection of its own, and never in the way of a verdict:
// a broker that does not answer is asked once more at the end of the run, and then left alone. Area: QUEUE.
import { ProbeClient } from '../observation/probe-client.ts';
import type { Endpoints } from '../target/target-file.ts';
import type { Timing } from '../timing.ts';
import type { BrokerConnection } from '../wire/broker-connection.ts';
import { Command } from '../wire/command.ts';
import { within } from '../within.ts';
import type { Pacer } from './pacer.ts';
import type { RunNames } from './run-names.ts';

export type QueueCleanupSetting = {
  readonly tcp: Endpoints['tcp'];
  readonly timing: Timing;
  readonly names: RunNames;
  readonly seed: number;
  readonly pacer: Pacer;
};

/** Who interrupts a run does not want to wait for it. */
const interruptedMs = 2000;

export class QueueCleanup {
  readonly #names: RunNames;
  readonly #client: ProbeClient;
  /** Beginnings of the names of checks that have ended since the last sweep. */
  #pending = new Set<string>();
  #connection: BrokerConnection | undefined;
  #sweeping: Promise<void> | undefined;
  #isNeeded = false;
  #hasFailed = false;

  constructor({ tcp, timing, names, seed, pacer }: QueueCleanupSetting) {
    this.#names = names;
    this.#client = new ProbeClient({
      tcp,
      timing: { ...timing, answerMs: timing.answerMs / 2 },
      name: names.ofVisit('cleanup', seed),
      pacer,
    });
  }

  /** Deletes the queues of a check that has been judged, in the background. `names`: the beginning of its names. */
  checkEnded(names: string): void {
    this.#isNeeded = true;
    this.#pending.add(`${names}.`);
    if (!this.#hasFailed) this.#sweeping ??= this.#sweepPending();
  }

  /** After the last check: deletes what is left. A sentence when queues may still be there. Never rejects. */
  async finish(signal?: AbortSignal): Promise<string | undefined> {
    const isInterrupted = signal?.aborted === true;
    if (!this.#isNeeded && !isInterrupted) return undefined;
    const swept = this.#sweepAll();
    const isClean = isInterrupted ? await within(swept, interruptedMs) : await swept;
    await this.#client.cleanUp();
    if (isClean === true) return undefined;
    return `queues of this run may be left on the broker; their names contain ${this.#names.mark}`;
  }

  /** Deletes every queue of the run; tells whether the broker lists none any more. */
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
