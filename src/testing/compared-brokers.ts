// Steps two broker cores side by side, the real one and the naive one. After every step their visible state and effects must be equal, and
// the audit must pass; else it throws. Ignores what the rules leave open: the order of deliveries of different queues or to different
// connections, and the order of names in a list.

import { deepStrictEqual } from 'node:assert/strict';
import type { Effect } from '../broker/interface/effect.ts';
import type { Input } from '../broker/interface/input.ts';
import type { BrokerSettings } from '../broker/interface/settings.ts';
import type { BrokerStats } from '../broker/interface/stats.ts';
import type { StoreRecord } from '../broker/interface/store-record.ts';
import type { Time } from '../broker/interface/time.ts';
import type { LargestQueues, QueueFigures, QueueInfo, SubscriberFigures } from '../model/queue-info.ts';
import { BrokerAudit } from './broker-audit.ts';
import { tokenOf } from './broker-describers.ts';
import type { SteppedBroker } from './broker-harness.ts';
import { NaiveBroker } from './naive-broker.ts';

export class ComparedBrokers implements SteppedBroker {
  readonly #real: SteppedBroker;
  readonly #naive: NaiveBroker;
  readonly #audit: BrokerAudit;
  #records: StoreRecord[] = [];
  #effects: Effect[] = [];

  constructor(real: SteppedBroker, settings: BrokerSettings) {
    this.#real = real;
    this.#naive = new NaiveBroker(settings);
    this.#audit = new BrokerAudit(settings);
  }

  step(input: Input, time: Time): void {
    const deadline = this.#real.nextDeadline();
    const late = deadline !== undefined && deadline <= time.now && input.kind !== 'tick';
    this.#real.step(input, time);
    this.#naive.step(input, time);
    const { records, effects } = this.#real.takeOutputs();
    this.#records.push(...records);
    this.#effects.push(...effects);
    this.#audit.observe({ input, time, records, effects, late }, this.#real);
    this.#compare(effects, this.#naive.takeOutputs().effects);
  }

  takeOutputs(): { readonly records: readonly StoreRecord[]; readonly effects: readonly Effect[] } {
    const outputs = { records: this.#records, effects: this.#effects };
    this.#records = [];
    this.#effects = [];
    return outputs;
  }

  /** The earlier of both: the real core may return a deadline at which nothing happens, but must not return one that is too late. */
  nextDeadline(): number | undefined {
    const naive = this.#naive.nextDeadline();
    const real = this.#real.nextDeadline();
    if (naive !== undefined && (real === undefined || real > naive)) {
      throw new Error(`Something is due at ${naive}, but the core asks to be called at ${real}.`);
    }
    return real;
  }

  queueInfo(name: string): QueueInfo | undefined {
    return this.#real.queueInfo(name);
  }

  largestQueues(limit: number): LargestQueues {
    return this.#real.largestQueues(limit);
  }

  queueFigures(): readonly QueueFigures[] {
    return this.#real.queueFigures();
  }

  subscriberFigures(queue: string, limit: number): readonly SubscriberFigures[] {
    return this.#real.subscriberFigures(queue, limit);
  }

  queueNames(): readonly string[] {
    return this.#real.queueNames();
  }

  stats(): Readonly<BrokerStats> {
    return this.#real.stats();
  }

  #compare(realEffects: readonly Effect[], naiveEffects: readonly Effect[]): void {
    deepStrictEqual(
      bySubject(realEffects),
      bySubject(naiveEffects),
      'The core (actual) does something else than the model (expected).',
    );
    const names = this.#naive.queueNames().toSorted();
    deepStrictEqual(
      this.#real.queueNames().toSorted(),
      names,
      'The core and the model know different queues.',
    );
    deepStrictEqual(
      names.map((name) => this.#real.queueInfo(name)),
      names.map((name) => this.#naive.queueInfo(name)),
      'The core and the model tell different things of a queue.',
    );
    deepStrictEqual(
      this.#real.largestQueues(2),
      this.#naive.largestQueues(2),
      'The core and the model have other largest queues.',
    );
    deepStrictEqual(
      this.#real.queueFigures(),
      this.#naive.queueFigures(),
      'The core and the model have other figures of the queues.',
    );
    for (const name of names)
      deepStrictEqual(
        this.#real.subscriberFigures(name, 3),
        this.#naive.subscriberFigures(name, 3),
        'The core and the model have other figures of the subscribers of a queue.',
      );
    deepStrictEqual(
      // The naive broker does not measure its structures.
      { ...this.#real.stats(), structureBytes: 0 },
      this.#naive.stats(),
      'The core and the model count differently.',
    );
  }
}

/** The effects in the orders that are compared: those of one queue to one connection. Without `ahead`, which no client sees. */
function bySubject(effects: readonly Effect[]): Record<string, unknown[]> {
  const sequences: Record<string, unknown[]> = {};
  for (const effect of effects) {
    if (effect.kind === 'ahead') continue;
    const subject = subjectOf(effect);
    sequences[subject] = [...(sequences[subject] ?? []), comparable(effect)];
  }
  return sequences;
}

type ComparedEffect = Exclude<Effect, { readonly kind: 'ahead' }>;

function subjectOf(effect: ComparedEffect): string {
  switch (effect.kind) {
    case 'answered':
    case 'refused':
      return `answers to ${effect.connection} about ${tokenOf(effect).queue}`;
    case 'deliver':
      return `deliveries to ${effect.connection} from ${effect.queue}`;
    case 'saturated':
    case 'close':
      return `${effect.kind} of ${effect.connection}`;
  }
}

function comparable(effect: ComparedEffect): unknown {
  switch (effect.kind) {
    case 'answered': {
      const { result, operatorResult } = effect;
      const sorted = Array.isArray(result) ? [...result].sort() : result;
      return { words: tokenOf(effect).words, result: sorted, operatorResult };
    }
    case 'refused':
      return { words: tokenOf(effect).words, code: effect.code };
    case 'deliver':
      return {
        id: effect.id,
        attempt: effect.attempt,
        content: effect.content,
        deadLetter: effect.deadLetter,
      };
    case 'saturated':
    case 'close':
      return {};
  }
}
