// Whatever has happened to a core, one that begins from what a store has kept of it has the same queues and offers the same messages,
// each in its place and with the attempts that failed. The store here is a list; what the lists hold is judged elsewhere.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeptRecords } from '../storage/contract/kept-records.ts';
import { BrokerHarness } from '../testing/broker-harness.ts';
import {
  play,
  type ScenarioParameters,
  scenarios,
  settingsOf,
  wildParameters,
} from '../testing/broker-scenarios.ts';
import { listPacking } from '../testing/list-packing.ts';
import { runsOf } from '../testing/property-runs.ts';
import { contentOf } from '../testing/test-content.ts';
import { Broker } from './broker.ts';
import type { DeliverEffect } from './interface/effect.ts';
import type { MessageContent } from './interface/message-content.ts';
import type { RecoveredRecord } from './interface/store-record.ts';
import type { Queue } from './queue/queue.ts';

type KeptMessage = Extract<RecoveredRecord, { readonly kind: 'message' }>;

const parameters: ScenarioParameters = {
  ...wildParameters,
  ttls: [undefined],
  deadLetterNames: [undefined, 'a', 'b'],
};
const settings = { ...settingsOf(parameters), maxInFlightPerSubscriber: 100_000 };

describe('a core that has recovered', () => {
  it('has the queues that were there, with all that waited or was in flight [DURABLE-003, DURABLE-008, DURABLE-009]', () =>
    holdsFor((before, after, kept) => {
      expect(after.broker.queueNames()).toEqual(before.broker.queueNames());
      for (const name of before.broker.queueNames()) {
        const { options, createdWallAt } = before.broker.queueInfo(name) ?? {};
        const messageCount = messagesOf(kept, after, name).length;
        expect(after.broker.queueInfo(name)).toEqual({
          name,
          options,
          createdWallAt,
          messageCount,
          subscriberCount: 0,
        });
      }
    }));

  it('has recorded nothing, answered nothing and counted nothing', () =>
    holdsFor((before, after) => {
      expect(after.broker.takeOutputs()).toEqual({ records: [], effects: [] });
      const { queuedBytes, structureBytes: _, ...counts } = after.broker.stats();
      expect(Object.values(counts).every((count) => count === 0)).toBe(true);
      expect(queuedBytes).toBeLessThanOrEqual(before.broker.stats().queuedBytes);
    }));

  it('offers every message in its place, with the attempts that failed and the facts of a dead letter [DURABLE-010, DURABLE-011, DURABLE-013]', () =>
    holdsFor((_, after, kept) => {
      for (const name of after.broker.queueNames()) {
        const expected = inOrderOfOffer(
          messagesOf(kept, after, name),
          after.broker.queueInfo(name)?.options.mode,
        );
        after.subscribe(after.connect(), name, 100_000);
        const delivered = after.effects.filter(
          (effect): effect is DeliverEffect => effect.kind === 'deliver' && effect.queue === name,
        );
        expect(
          delivered.map(({ id, attempt, content, deadLetter }) => ({ id, attempt, content, deadLetter })),
        ).toEqual(
          expected.map(({ id, failedAttempts, content, deadLetter }) => ({
            id,
            attempt: failedAttempts + 1,
            content: contentOf(content),
            deadLetter,
          })),
        );
      }
    }));

  it('gives numbers that nothing else has to what comes next', () =>
    holdsFor((_, after, kept) => {
      const connection = after.connect();
      after.createQueue(connection, 'new');
      after.publish(connection, 'new', 'm1');
      kept.take(after.records);
      const numbers = kept
        .recovered()
        .map((record) => (record.kind === 'queue' ? `queue ${record.generation}` : record.sequence));
      expect(new Set(numbers).size).toBe(numbers.length);
    }));
});

/** The record as the backend hands it to the core. */
function withContent(record: RecoveredRecord): RecoveredRecord<MessageContent> {
  return record.kind === 'queue' ? record : { ...record, content: contentOf(record.content) };
}

/** Plays random scenarios, recovers from what was recorded, and hands over both cores. */
function holdsFor(check: (before: BrokerHarness, after: BrokerHarness, kept: KeptRecords) => void): void {
  const property = fc.property(scenarios(parameters), (moves) => {
    const before = play(moves, new Broker(settingsOf(parameters)), settingsOf(parameters));
    const kept = new KeptRecords();
    kept.take(before.records);
    const broker = new Broker({ ...settings, maxQueues: 100, maxQueuedBytes: 1e9, packing: listPacking() });
    for (const record of kept.recovered())
      broker.recover(withContent(record), { now: 0, wallNow: before.wallNow });
    check(before, new BrokerHarness(broker), kept);
  });
  fc.assert(property, { numRuns: runsOf(60) });
}

function messagesOf(kept: KeptRecords, { broker }: BrokerHarness, name: string): readonly KeptMessage[] {
  const records = kept.recovered();
  const queue = records.find((record) => record.kind === 'queue' && record.name === name);
  const generation: Queue['generation'] | undefined = queue?.generation;
  expect(broker.queueInfo(name)).toBeDefined();
  return records.flatMap((record) =>
    record.kind === 'message' && record.generation === generation ? [record] : [],
  );
}

function inOrderOfOffer(messages: readonly KeptMessage[], mode: number | undefined): readonly KeptMessage[] {
  if (mode !== 3) return messages;
  return [...messages].sort((a, b) => b.priority - a.priority || a.sequence - b.sequence);
}
