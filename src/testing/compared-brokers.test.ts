// The comparison and the audit find faults: the real core with one fault in its outputs must be rejected, by both or by the one that checks
// that rule.

import { describe, expect, it } from 'vitest';
import { Broker } from '../broker/broker.ts';
import type { Effect } from '../broker/interface/effect.ts';
import type { Input } from '../broker/interface/input.ts';
import type { StoreRecord } from '../broker/interface/store-record.ts';
import type { Time } from '../broker/interface/time.ts';
import type { LargestQueues, QueueFigures, QueueInfo, SubscriberFigures } from '../model/queue-info.ts';
import { BrokerAudit } from './broker-audit.ts';
import { BrokerHarness, type SteppedBroker, testSettings } from './broker-harness.ts';
import { ComparedBrokers } from './compared-brokers.ts';
import { ids } from './core-harness.ts';
import { anyContent } from './test-content.ts';

type Outputs = ReturnType<SteppedBroker['takeOutputs']>;

/** The real core with one fault in its outputs. */
class LyingBroker implements SteppedBroker {
  readonly #honest = new Broker(testSettings);
  readonly #lie: (outputs: Outputs) => Outputs;
  readonly #lieAboutInfo: (info: QueueInfo) => QueueInfo;

  constructor(
    lie: (outputs: Outputs) => Outputs,
    lieAboutInfo: (info: QueueInfo) => QueueInfo = (info) => info,
  ) {
    this.#lie = lie;
    this.#lieAboutInfo = lieAboutInfo;
  }

  step(input: Input, time: Time): void {
    this.#honest.step(input, time);
  }

  takeOutputs(): Outputs {
    return this.#lie(this.#honest.takeOutputs());
  }

  nextDeadline(): number | undefined {
    return this.#honest.nextDeadline();
  }

  queueInfo(name: string): QueueInfo | undefined {
    const info = this.#honest.queueInfo(name);
    return info === undefined ? undefined : this.#lieAboutInfo(info);
  }

  largestQueues(limit: number): LargestQueues {
    return this.#honest.largestQueues(limit);
  }

  queueFigures(): readonly QueueFigures[] {
    return this.#honest.queueFigures();
  }

  subscriberFigures(queue: string, limit: number): readonly SubscriberFigures[] {
    return this.#honest.subscriberFigures(queue, limit);
  }

  queueNames(): readonly string[] {
    return this.#honest.queueNames();
  }

  stats(): ReturnType<SteppedBroker['stats']> {
    return this.#honest.stats();
  }
}

/** Checks a core with the audit alone. */
class AuditedBroker extends LyingBroker {
  readonly #audit = new BrokerAudit(testSettings);
  #last: { readonly input: Input; readonly time: Time } | undefined;

  override step(input: Input, time: Time): void {
    super.step(input, time);
    this.#last = { input, time };
  }

  override takeOutputs(): Outputs {
    const outputs = super.takeOutputs();
    if (this.#last !== undefined) this.#audit.observe({ ...this.#last, ...outputs, late: false }, this);
    return outputs;
  }
}

/** Three messages to two subscribers, one of them acknowledged, one timed out. */
function scenario(broker: SteppedBroker): void {
  const h = new BrokerHarness(broker);
  const [a, b, c] = h.connectAll(3);
  h.subscribe(a, 'q', 1);
  h.publishAll(c, 'q', ids(3));
  h.ack(a, 'm1');
  h.subscribe(b, 'q', 1);
  h.advance(40_000);
  h.unsubscribe(b, 'q');
}

function withEffects(
  change: (effects: readonly Effect[]) => readonly Effect[],
): (outputs: Outputs) => Outputs {
  return ({ records, effects }) => ({ records, effects: change(effects) });
}

function withRecords(
  change: (records: readonly StoreRecord[]) => readonly StoreRecord[],
): (outputs: Outputs) => Outputs {
  return ({ records, effects }) => ({ records: change(records), effects });
}

const honest = (outputs: Outputs): Outputs => outputs;

const lies: Readonly<Record<string, (outputs: Outputs) => Outputs>> = {
  'an answer is missing': withEffects((effects) => effects.filter((one) => one.kind !== 'answered')),
  'an answer comes twice': withEffects((effects) =>
    effects.flatMap<Effect>((one) => (one.kind === 'answered' ? [one, one] : [one])),
  ),
  'an answer goes to somebody else': withEffects((effects) =>
    effects.map((one) => (one.kind === 'answered' ? { ...one, connection: 2 } : one)),
  ),
  'a delivery is missing': withEffects((effects) => effects.filter((one) => one.kind !== 'deliver')),
  'a delivery comes twice': withEffects((effects) =>
    effects.flatMap<Effect>((one) => (one.kind === 'deliver' ? [one, one] : [one])),
  ),
  'a delivery goes to somebody else': withEffects((effects) =>
    effects.map((one) => (one.kind === 'deliver' ? { ...one, connection: 3 } : one)),
  ),
  'a delivery has another content': withEffects((effects) =>
    effects.map((one) => (one.kind === 'deliver' ? { ...one, content: anyContent(1) } : one)),
  ),
  'deliveries are out of order': withEffects((effects) => [...effects].reverse()),
};

const wrongRecords: Readonly<Record<string, (outputs: Outputs) => Outputs>> = {
  'a message is never recorded': withRecords((records) =>
    records.filter((one) => one.kind !== 'messageAdded'),
  ),
  'a message is recorded twice': withRecords((records) =>
    records.flatMap<StoreRecord>((one) => (one.kind === 'messageAdded' ? [one, one] : [one])),
  ),
  'a message is never removed': withRecords((records) =>
    records.filter((one) => one.kind !== 'messageRemoved'),
  ),
  'a queue is never recorded': withRecords((records) => records.filter((one) => one.kind !== 'queueCreated')),
  'a failed attempt is counted twice': withRecords((records) =>
    records.map((one) => (one.kind === 'attemptFailed' ? { ...one, failedAttempts: 2 } : one)),
  ),
};

describe('the comparison', () => {
  it('is content with the core as it is', () => {
    expect(() => scenario(new ComparedBrokers(new Broker(testSettings), testSettings))).not.toThrow();
    expect(() => scenario(new AuditedBroker(honest))).not.toThrow();
  });

  it.each(Object.entries(lies))('finds out that %s', (_, lie) => {
    expect(() => scenario(new ComparedBrokers(new LyingBroker(lie), testSettings))).toThrow();
  });

  it('is content where the order in which queues have changed decides which dead letter stays', () => {
    const settings = { ...testSettings, ackTimeoutMs: 1000, retryDelayMs: 100, maxRetryDelayMs: 350 };
    const h = new BrokerHarness(new ComparedBrokers(new Broker(settings), settings));
    h.connect();
    const letters = { maxQueueSize: 1, enableDeadLetterQueue: true, deadLetterQueueName: 'b' };
    h.createQueue(1, 'a', { ...letters, maxRetryAttempts: 1 });
    h.createQueue(1, 'c', { ...letters, maxRetryAttempts: 3 });
    h.subscribe(1, 'c', 1);
    h.subscribe(1, 'a');
    h.publishAll(1, 'a', ['a1']);
    h.publishAll(1, 'c', ['c1']);
    h.advance(2300);
    h.subscribe(1, 'b');
    h.advance(1);
    for (const queue of ['c', 'b', 'a']) h.publish(1, queue, `${queue}2`);
    // The ends of two deliveries that were sent at one instant, from two queues, come together.
    expect(h.advance(5000)).toContain('1 <- b c2 (MaxRetriesExceeded in c after 3)');
  });

  it('finds out that a queue tells a wrong number', () => {
    const lie = (info: QueueInfo): QueueInfo => ({ ...info, subscriberCount: 7 });
    expect(() => scenario(new ComparedBrokers(new LyingBroker(honest, lie), testSettings))).toThrow(
      'different things of a queue',
    );
  });
});

describe('the audit alone', () => {
  const seen = Object.entries(lies).filter(([lie]) => lie !== 'deliveries are out of order');
  it.each([...seen, ...Object.entries(wrongRecords)])('finds out that %s', (_, lie) => {
    expect(() => scenario(new AuditedBroker(lie))).toThrow();
  });

  it('finds out that a message is nowhere', () => {
    const lie = (info: QueueInfo): QueueInfo => ({ ...info, messageCount: 0 });
    expect(() => scenario(new AuditedBroker(honest, lie))).toThrow('a message is nowhere');
  });
});
