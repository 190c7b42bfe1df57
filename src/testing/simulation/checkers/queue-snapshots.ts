// Checks that a life of the broker begins with the queues of the previous life: the same options and times of creation, and the same number
// of messages where that is certain (DURABLE).

import { isDeepStrictEqual } from 'node:util';
import { DeliveryMode } from '../../../model/delivery-mode.ts';
import type { Figures } from '../history.ts';
import type { Ledger } from '../ledger.ts';
import type { Complain } from './checker.ts';
import { type Infos, infosOf } from './queues.ts';
import { dlqNameOf } from './terminal-states.ts';

/** The queues after the last batch, and after the last batch that is certainly committed, because another one began after it. */
export class QueuePictures {
  #safe: Infos = new Map();
  #last: Infos = new Map();
  #figures: Figures | undefined;
  /** The number of messages at the end of the life; undefined where it is not certain. */
  #heldCount: number | undefined;
  restedEpoch = 0;
  /** Names of all queues that may have received dead letters. */
  readonly letterNames = new Set<string>();

  stepped(figures: Figures, ledger: Ledger): void {
    this.#safe = this.#last;
    this.#last = infosOf(ledger);
    this.#figures = figures;
    this.restedEpoch = ledger.epoch - 1;
    for (const { name, options } of this.#last.values()) {
      if (options.enableDeadLetterQueue) this.letterNames.add(dlqNameOf(name, options));
    }
  }

  rested(ledger: Ledger): void {
    this.#safe = this.#last;
    this.restedEpoch = ledger.epoch;
  }

  ended(ledger: Ledger): void {
    const inFlightCount = this.#figures?.inFlightCount ?? 0;
    const copies = [...this.#last.values()].some(
      ({ options }) => options.mode === DeliveryMode.FanOutWithAck,
    );
    // The copies of a fan-out are counted in flight one by one, but the message waits once.
    const isCertain = this.restedEpoch === ledger.epoch && (!copies || inFlightCount === 0);
    this.#heldCount = isCertain ? countIn(this.#last) + inFlightCount : undefined;
    this.#figures = undefined;
  }

  checkServing(ledger: Ledger, complain: Complain): void {
    const now = infosOf(ledger);
    for (const name of new Set([...now.keys(), ...this.#safe.keys(), ...this.#last.keys()])) {
      const is = snapshotOf(now, name);
      const may = [snapshotOf(this.#safe, name), snapshotOf(this.#last, name)];
      if (!may.some((snapshot) => isDeepStrictEqual(is, snapshot)))
        complain(`queue ${name} is ${JSON.stringify(is)} after a restart, and was ${JSON.stringify(may)}`);
    }
    const count = countIn(now);
    if (this.#heldCount !== undefined && count !== this.#heldCount)
      complain(`${count} messages are there after a restart, and ${this.#heldCount} were held before it`);
    this.#heldCount = undefined;
    this.#safe = now;
    this.#last = now;
    this.restedEpoch = ledger.epoch;
  }
}

function snapshotOf(infos: Infos, name: string): object | undefined {
  const info = infos.get(name);
  return info && { options: info.options, createdWallAt: info.createdWallAt };
}

export function countIn(infos: Infos): number {
  return [...infos.values()].reduce((sum, { messageCount }) => sum + messageCount, 0);
}
