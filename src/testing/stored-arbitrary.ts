// Arbitrary contents of a store: queues with valid options, and messages whose contents are bodies of Deliver frames, unusual ones
// included.

import fc from 'fast-check';
import type { DeadLetterFacts } from '../broker/interface/message-content.ts';
import type { RecoveredRecord, StoreRecord } from '../broker/interface/store-record.ts';
import type { Priority } from '../model/priority.ts';
import { defaultQueueOptions, type QueueOptions } from '../model/queue-options.ts';
import { codePoint } from './code-point.ts';
import { contentOf } from './test-content.ts';
import { bodyBytes } from './wire-bytes.ts';

const wallAt = fc.integer({ min: 0, max: 4_000_000_000_000 });
const count = fc.nat(5);
const headerText = fc.oneof(
  fc.constantFrom('', '1', '0', '__proto__', 'priority', 'ß'),
  fc.string({ minLength: 1, maxLength: 8 }),
);

const json = fc
  .tuple(fc.json({ stringUnit: codePoint }), fc.constantFrom('', ' ', '\n'))
  .map(([text, before]) => Buffer.from(before + text));
const payload = fc.oneof(
  { weight: 4, arbitrary: json },
  fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes)),
  fc
    .constantFrom('', 'null', '-0', '1.0', '12345678901234567890', '{"b":1,"1":2}', '"\ufeff"', '\ufeff1')
    .map((text) => Buffer.from(text)),
);

const options: fc.Arbitrary<QueueOptions> = fc
  .record({
    mode: fc.constantFrom(0, 1, 2, 3),
    maxQueueSize: fc.integer({ min: 1, max: 2_147_483_647 }),
    ttlTicks: fc.option(fc.integer({ min: 1, max: 8_640_000_000_000_000 }), { nil: undefined }),
    deadLetterQueueName: fc.option(fc.constantFrom('gone', 'fällt.dlq'), { nil: undefined }),
    overflowStrategy: fc.constantFrom(0, 1, 2),
  })
  .map(({ ttlTicks, deadLetterQueueName, ...given }) => ({
    ...defaultQueueOptions,
    ...given,
    ...(ttlTicks === undefined ? {} : { messageTtlMs: fromTicks(ttlTicks) }),
    ...(deadLetterQueueName === undefined ? {} : { deadLetterQueueName }),
  }));

/** As a time span on the wire is read: whole seconds, and what is left of one. */
function fromTicks(ticks: number): number {
  const left = ticks % 10_000_000;
  return ((ticks - left) / 10_000_000) * 1000 + left / 10_000;
}

const deadLetter: fc.Arbitrary<DeadLetterFacts> = fc.record({
  reason: fc.constantFrom('MessageExpired' as const, 'QueueOverflow' as const),
  source: fc.constantFrom('orders', 'gone'),
  attempts: count,
  deadLetteredWallAt: wallAt,
});

const message = fc.record({
  which: fc.nat(10),
  payload,
  headers: fc.array(fc.tuple(headerText, headerText), { maxLength: 3 }),
  priority: fc.constantFrom<Priority>(0, 1, 2, 3),
  acceptedWallAt: wallAt,
  failedAttempts: count,
  deadLetter: fc.option(deadLetter, { nil: undefined, freq: 3 }),
  queueInContent: fc.constantFrom('same', 'same', 'orders', ''),
});

/** The records of a recovery, as a broker receives them. */
export const storedRecords: fc.Arbitrary<readonly RecoveredRecord[]> = fc
  .tuple(
    fc.array(fc.record({ options, createdWallAt: wallAt }), { minLength: 1, maxLength: 4 }),
    fc.array(message, { maxLength: 12 }),
  )
  .map(([queues, messages]) => [
    ...queues.map((queue, index) => ({
      kind: 'queue' as const,
      generation: index + 1,
      name: nameOf(index),
      ...queue,
    })),
    ...messages.map(({ which, payload, headers, deadLetter, queueInContent, ...stored }, index) => {
      const id = `m${index} "ö"`;
      const home = which % queues.length;
      const queue = queueInContent === 'same' ? (deadLetter?.source ?? nameOf(home)) : queueInContent;
      return {
        kind: 'message' as const,
        generation: home + 1,
        sequence: index * 3 + 1,
        id,
        content: bodyBytes({ command: 26, id, queue, payload, headers }),
        ...stored,
        ...(deadLetter === undefined ? {} : { deadLetter }),
      };
    }),
  ]);

function nameOf(index: number): string {
  return ['orders', 'größe', '订单', 'jobs.dlq'][index] ?? `q${index}`;
}

/** The records to commit so that a recovery returns these. */
export function recordsThatGive(recovered: readonly RecoveredRecord[]): readonly StoreRecord[] {
  return recovered.flatMap((record): readonly StoreRecord[] => {
    if (record.kind === 'queue') return [{ ...record, kind: 'queueCreated' }];
    const { failedAttempts, ...stored } = record;
    const { generation, sequence } = stored;
    return [
      { ...stored, content: contentOf(stored.content), kind: 'messageAdded' },
      { kind: 'attemptFailed', generation, sequence, failedAttempts },
    ];
  });
}
