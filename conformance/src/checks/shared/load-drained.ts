// The end of a load: its subscribers, which have acknowledged everything, leave, and a newcomer must get what is published then and
// nothing else. So an ack that the broker did not read shows without waiting for the ack timeout. Area: DELIVERY.
import { setTimeout as pause } from 'node:timers/promises';
import type { CheckContext } from '../../check.ts';
import type { Connection } from '../../connection.ts';
import type { VolumeLoad } from './volume-load.ts';

const pollIntervalMs = 10;

export async function expectLoadDrained(
  ctx: CheckContext,
  load: VolumeLoad,
  newcomer: Connection,
): Promise<void> {
  const { assert } = ctx;
  const queues = load.streams.map(({ queue }) => queue);
  await Promise.all(load.subscribers.map((subscriber) => subscriber.ping()));
  await Promise.all(load.subscribers.map((subscriber) => subscriber.end()));
  await waitForNoSubscribers(ctx, newcomer, queues);
  for (const info of await Promise.all(queues.map((queue) => newcomer.queueInfo(queue)))) {
    const what = `messages that wait in ${info?.['name']} after all were acknowledged`;
    assert.equal(info?.['messageCount'], 0, what, 'DELIVERY-001');
  }
  await Promise.all(queues.map((queue) => newcomer.subscribe(queue)));
  const last = new Map(queues.map((queue) => [queue, ctx.id('last')]));
  await Promise.all([...last].map(([queue, id]) => newcomer.publish(queue, '"last"', { id })));
  for (const [queue, id] of last) {
    const delivery = await newcomer.delivery({ queue });
    assert.equal(delivery.id, id, 'the message after all were acknowledged', 'DELIVERY-001');
    await newcomer.ack(delivery);
  }
  const what = 'a message that was acknowledged does not come again';
  await newcomer.expectNothingBeforePong('Deliver', what, 'DELIVERY-001');
}

/** Waits until the broker counts no subscriber any more. */
async function waitForNoSubscribers(
  ctx: CheckContext,
  witness: Connection,
  queues: readonly string[],
): Promise<void> {
  const until = ctx.now() + ctx.timing.answerMs;
  for (;;) {
    const infos = await Promise.all(queues.map((queue) => witness.queueInfo(queue)));
    const isEmpty = infos.every((info) => info?.['subscriberCount'] === 0);
    ctx.assert.ok(isEmpty || ctx.now() < until, 'the subscribers that left are counted no more', {
      clause: 'DELIVERY-069',
    });
    if (isEmpty) return;
    await pause(pollIntervalMs);
  }
}
