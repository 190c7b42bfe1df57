// The broker's core as a function of state, input and time: an input goes in, outputs come out. No sockets, no clock, no randomness, no
// promises. Every command is answered by exactly one effect with its token, in its own step or a later one.
//
// This file drives a step: what is due comes first, then the gate and the handler of the input, then whatever can be sent.
// Implements SHUTDOWN-005, DELIVERY-009 and RETRY-013.

import type { LargestQueues, QueueFigures, QueueInfo, SubscriberFigures } from '../model/queue-info.ts';
import { Core, MAX_CHANGES_PER_STEP } from './core.ts';
import { refusalOf } from './gate.ts';
import { handle } from './handlers.ts';
import type { EarlierCore } from './interface/earlier-core.ts';
import type { Effect } from './interface/effect.ts';
import type { Input } from './interface/input.ts';
import type { MessageContent } from './interface/message-content.ts';
import type { BrokerSettings } from './interface/settings.ts';
import { type BrokerStats, emptyStats } from './interface/stats.ts';
import type { RecoveredRecord, StoreRecord } from './interface/store-record.ts';
import type { Time } from './interface/time.ts';
import { Recovery } from './recovery.ts';

export class Broker {
  readonly #core: Core;
  /** Present until the first input: what a store had kept comes before it. */
  #recovery: Recovery | undefined;
  /** The instant for which what was due has been done, as far as one step may. */
  #doneUntil = Number.NEGATIVE_INFINITY;

  /** `earlier`: what `asEarlierCore` of the core before this one has returned. */
  constructor(settings: BrokerSettings, earlier: EarlierCore = nothingEarlier()) {
    this.#core = new Core(settings, earlier);
    this.#recovery = new Recovery(this.#core, earlier.queues);
  }

  /**
   * Takes up what a store had kept, one record after the other, before the first input. There are no outputs; what is due by then happens
   * with the first input, so look at `nextDeadline()` afterwards. Throws for records that contradict each other.
   */
  recover(record: RecoveredRecord<MessageContent>, time: Time): void {
    if (this.#recovery === undefined) throw new Error('The broker has begun: nothing can be recovered now.');
    this.#core.step.begin(time);
    this.#recovery.take(record);
  }

  /** Takes one input. Times never go back from one call to the next; `takeOutputs` returns the results. */
  step(input: Input, time: Time): void {
    this.#recovery = undefined;
    this.#core.step.begin(time);
    if (time.now > this.#doneUntil || input.kind === 'tick') this.#doWhatIsDue();
    if (!this.#refuses(input)) handle(this.#core, input);
    this.#moveMessages();
  }

  /** The outputs of the steps since the last call: carry out the effects after the records are committed. */
  takeOutputs(): { readonly records: readonly StoreRecord[]; readonly effects: readonly Effect[] } {
    return this.#core.step.takeOutputs();
  }

  /** Messages that dead letters have pushed out of full queues since the last call, by queue, for the operator; undefined: none. */
  takeEvictions(): ReadonlyMap<string, number> | undefined {
    return this.#core.step.takeEvictions();
  }

  /** How long messages have waited for their first delivery since the last call, in milliseconds; those that did not wait are left out. */
  takeWaits(): readonly number[] {
    return this.#core.step.takeWaits();
  }

  /** Everything that was taken out so far has been written: what may be sent without acknowledgments counts anew. */
  written(): void {
    this.#core.bursts.written();
  }

  /** When a tick is due, in milliseconds on the monotonic clock; undefined: not before another input. */
  nextDeadline(): number | undefined {
    const { step, timers, inFlight } = this.#core;
    if (step.isDraining) return undefined;
    const timerAt = timers.nextAt();
    const timeoutAt = inFlight.nextTimeoutAt();
    if (timerAt === undefined || timeoutAt === undefined) return timerAt ?? timeoutAt;
    return Math.min(timerAt, timeoutAt);
  }

  /** Snapshot of the queue of that name, or undefined when there is none. */
  queueInfo(name: string): QueueInfo | undefined {
    return this.#core.queues.get(name)?.info();
  }

  largestQueues(limit: number): LargestQueues {
    return this.#core.queues.largest(limit);
  }

  /** Snapshot of all queues, in the order of their creation. */
  queueFigures(): readonly QueueFigures[] {
    return this.#core.queues.figures();
  }

  /** At most `limit` subscriptions of the queue, in the order in which they were made; none when there is no such queue. */
  subscriberFigures(queue: string, limit: number): readonly SubscriberFigures[] {
    return this.#core.queues.get(queue)?.delivery.subscribers(limit) ?? [];
  }

  /** The names of all queues, in the order of their creation. */
  queueNames(): readonly string[] {
    return this.#core.queues.names();
  }

  get queueCount(): number {
    return this.#core.queues.size;
  }

  stats(): Readonly<BrokerStats> {
    return this.#core.step.stats;
  }

  /** What the core after this one, in the same process, is to take over. Possible also after a step has thrown. */
  asEarlierCore(): EarlierCore {
    const { step, queues } = this.#core;
    const stats = { ...step.stats, inFlightCount: 0, queuedBytes: 0, structureBytes: 0 };
    return { stats, queues: queues.counts(), lastGeneration: queues.lastGeneration };
  }

  /** Asks the gate about a command, and refuses it if the gate says so. */
  #refuses(input: Input): boolean {
    if (!('token' in input)) return false;
    const refusal = refusalOf(this.#core, input);
    if (refusal === undefined) return false;
    this.#core.step.refuse(input.connection, input.token, refusal.code, refusal.text);
    return true;
  }

  /** Everything that is due by now takes effect before the input, and before younger messages move. */
  #doWhatIsDue(): void {
    const { step, timers, attempts } = this.#core;
    if (step.isDraining) return;
    this.#doneUntil = step.now;
    let left = MAX_CHANGES_PER_STEP - attempts.timeOut(MAX_CHANGES_PER_STEP);
    while (left > 0) {
      const fire = timers.takeDue(step.now);
      if (fire === undefined) break;
      left -= 1 + fire(left);
    }
    this.#moveMessages();
  }

  /** Sends and admits messages of every queue that has changed, until nothing moves any more. */
  #moveMessages(): void {
    const { step, publishes } = this.#core;
    if (step.isDraining) return;
    for (let queue = step.takeTouched(); queue !== undefined; queue = step.takeTouched()) {
      if (queue.deleted) continue;
      queue.delivery.dispatch();
      while (publishes.admitNext(queue)) queue.delivery.dispatch();
    }
  }
}

function nothingEarlier(): EarlierCore {
  return { stats: emptyStats(), queues: [], lastGeneration: 0 };
}
