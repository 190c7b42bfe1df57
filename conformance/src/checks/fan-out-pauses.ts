// Checks of FanOutWithAck copies in the pause before their next attempt: an ack settles them, and the end of their connection ends them.
// They run when the target declares capability nack, which begins the pause at a known time. Areas: DELIVERY, METRICS.
import type { CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { Command } from '../wire/command.ts';
import { requireFields } from './metrics.ts';
import { recordAt, waitForRecord } from './shared/http-records.ts';
import { fanOutWithAck, queueWithOneSubscriber } from './shared/queue-with-subscribers.ts';
import { expectNotRedelivered } from './shared/retry-attempts.ts';
import { publishSeries } from './shared/subscribers.ts';

const pauses = {
  prefers: { timing: { retryDelayMs: 1000 } },
  requires: { capabilities: ['nack'] },
} as const;

export const fanOutPauseChecks: CheckModule = [
  // DELIVERY-007 (SHOULD): The broker settles a delivery by an ack that arrives during the pause before the next
  // attempt.
  {
    id: 'DELIVERY-007b',
    title: 'settles a FanOutWithAck copy when its ack arrives during the pause after a negative ack',
    clauses: ['DELIVERY-007', 'DELIVERY-001'],
    profile: 'retry-dlq',
    ...pauses,
    evidence: { frames: 9, messages: 2, assertions: 1 },
    run: async (ctx) => {
      const { queue, subscriber, id } = await pausedCopy(ctx);
      await subscriber.ack({ id, queue });
      await subscriber.ping();
      const text = 'the acknowledged message is not delivered again';
      await expectNotRedelivered(ctx, subscriber, queue, { text });
    },
  },
  // METRICS-014 (SHOULD): in_flight_messages is the number of deliveries that have not ended.
  {
    id: 'METRICS-014c',
    title: 'does not count a FanOutWithAck copy in in_flight_messages whose connection ended in its pause',
    clauses: ['METRICS-014'],
    profile: 'observability',
    isolation: 'fresh',
    ...pauses,
    evidence: { frames: 7, messages: 1, responses: 2, assertions: 2 },
    run: async (ctx) => {
      requireFields(ctx, await recordAt(ctx, '/metrics/', [200]), ['in_flight_messages']);
      const { subscriber } = await pausedCopy(ctx, async () => {
        await waitForRecord(ctx, '/metrics/', { in_flight_messages: 1 });
      });
      await subscriber.abort();
      await waitForRecord(ctx, '/metrics/', { in_flight_messages: 0 });
    },
  },
];

type PausedCopy = { readonly queue: string; readonly subscriber: Connection; readonly id: string };

/** A copy that its only subscriber has refused once. `meanwhile`: done when it is in flight. */
async function pausedCopy(ctx: CheckContext, meanwhile?: () => Promise<void>): Promise<PausedCopy> {
  const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, fanOutWithAck);
  const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
  await subscriber.delivery({ queue });
  await meanwhile?.();
  await subscriber.send({ command: Command.Ack, id, headers: { failureReason: 'HandlerException' } });
  await subscriber.ping();
  return { queue, subscriber, id };
}
