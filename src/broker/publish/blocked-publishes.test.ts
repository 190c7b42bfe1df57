// Blocked publishes alone, where a whole core would take too long: as many repeats as a thousand connections may send.

import { expect, it } from 'vitest';
import { testSettings } from '../../testing/broker-harness.ts';
import type { QueuedMessage } from '../queue/message.ts';
import type { Queue } from '../queue/queue.ts';
import type { StepContext } from '../queue/step-context.ts';
import { BlockedPublishes } from './blocked-publishes.ts';
import { Publisher } from './publisher.ts';

const REPEAT_COUNT = 500_000;

it('leaves a blocked publish to its repeats, however many they are', () => {
  const stats = { structureBytes: 0, queuedBytes: 0 };
  const step = { stats, touch: () => undefined } as unknown as StepContext;
  const queue = { name: 'q', heldBytes: 0 } as Queue;
  const message = { id: 'm', heldBytes: 1, content: { byteLength: 1 } } as QueuedMessage;
  const blockedPublishes = new BlockedPublishes(step, testSettings);
  const [first, second] = [new Publisher(1), new Publisher(2)];
  blockedPublishes.add(queue, message, { publisher: first, token: 0 });
  const blocked = blockedPublishes.find(queue, 'm');
  if (blocked === undefined) throw new Error('it is not blocked');
  for (let token = 1; token <= REPEAT_COUNT; token += 1)
    blockedPublishes.repeat(blocked, { publisher: second, token });
  blockedPublishes.withdrawOf(first);
  const promoted = blockedPublishes.find(queue, 'm');
  expect([promoted?.publisher, promoted?.token]).toEqual([second, 1]);
  expect(promoted?.repeats).toHaveLength(REPEAT_COUNT - 1);
});
