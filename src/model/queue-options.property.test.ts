// The rules for queue options against the naive broker's own reading of them.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deadLetterName, deadLetterOptions, isPossible, meanTheSame } from '../testing/naive/options.ts';
import { runsOf } from '../testing/property-runs.ts';
import type { DeliveryMode } from './delivery-mode.ts';
import type { OverflowStrategy } from './overflow-strategy.ts';
import {
  deadLetterQueueOf,
  deadLetterQueueOptions,
  impossibleOption,
  type QueueOptions,
  sameOptions,
} from './queue-options.ts';

const counts = fc.constantFrom(1, 2, 3, 0, -1, 1.5, Number.NaN, 2_147_483_647, 2_147_483_648);
const names = fc.oneof(
  fc.constantFrom('q', 'q.dlq', 'r', '', 'a b', 'Ünï٣-_.', 'a/b', '😀', 'x'.repeat(256), 'x'.repeat(257)),
  fc.string({ unit: 'grapheme', maxLength: 6 }),
);
const queues = fc.constantFrom('q', 'r', 'x'.repeat(252), 'x'.repeat(253));

const options: fc.Arbitrary<QueueOptions> = fc.record(
  {
    mode: fc.constantFrom<DeliveryMode>(0, 1, 2, 3),
    maxQueueSize: counts,
    messageTtlMs: fc.constantFrom(1, 0.5, 0, -1, 864_000_000_000, 864_000_000_001),
    enableDeadLetterQueue: fc.boolean(),
    deadLetterQueueName: names,
    overflowStrategy: fc.constantFrom<OverflowStrategy>(0, 1, 2, 3),
    maxRetryAttempts: counts,
  },
  { requiredKeys: ['mode', 'maxQueueSize', 'enableDeadLetterQueue', 'overflowStrategy', 'maxRetryAttempts'] },
);

const possible = options.map((one) => ({ ...one, maxQueueSize: 5, maxRetryAttempts: 3 }));

describe('queue options', () => {
  it('are impossible where the rules say so [QUEUE-032, QUEUE-033, QUEUE-034, QUEUE-035, QUEUE-037, QUEUE-038, QUEUE-039]', () => {
    const property = fc.property(queues, fc.oneof(options, possible), (queue, one) => {
      expect(impossibleOption(queue, one) === undefined).toBe(isPossible(queue, one));
    });
    fc.assert(property, { numRuns: runsOf(1000) });
  });

  it('are the same where they mean the same [QUEUE-011, QUEUE-012, QUEUE-013]', () => {
    const property = fc.property(queues, possible, possible, (queue, a, b) => {
      expect(sameOptions(queue, a, b)).toBe(meanTheSame(queue, a, b));
      expect(sameOptions(queue, a, { ...a })).toBe(true);
    });
    fc.assert(property, { numRuns: runsOf(1000) });
  });

  it('differ where one property differs [QUEUE-012]', () => {
    const change = fc.constantFrom<Partial<QueueOptions>>(
      { maxQueueSize: 6 },
      { maxRetryAttempts: 4 },
      { messageTtlMs: 77 },
      { deadLetterQueueName: 'another' },
    );
    const property = fc.property(possible, change, (one, changed) => {
      expect(sameOptions('q', one, { ...one, ...changed })).toBe(false);
    });
    fc.assert(property);
  });

  it('tell name and options of the dead letter queue [DLQ-002, DLQ-003, DLQ-006]', () => {
    const property = fc.property(queues, possible, (queue, one) => {
      expect(deadLetterQueueOf(queue, one)).toBe(deadLetterName(queue, one));
      expect(deadLetterQueueOptions(one)).toEqual(deadLetterOptions(one));
    });
    fc.assert(property);
  });
});
