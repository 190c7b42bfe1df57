// Asserts that no message of a load remains: the subscribers, which have acknowledged everything, disconnect, and a new subscriber
// receives only what is published afterwards. This shows a lost ack without waiting for the ack timeout. Area: DELIVERY.
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
    const what = `number of waiting messages in ${info?.['name']} after all were acknowledged`;
    assert.equal(info?.['messageCount'], 0, what, 'DELIVERY-001');
  }
  await Promise.all(queues.map((queue) => newcomer.subscribe(queue)));
  const last = new Map(queues.map((queue) => [queue, ctx.id('last')]));
  await Promise.all([...last].map(([queue, id]) => newcomer.publish(queue, '"last"', { id })));
  for (const [queue, id] of last) {
    const delivery = await newcomer.delivery({ queue });
    assert.equal(
      delivery.id,
      id,
      'the id of the message that is published after all were acknowledged',
      'DELIVERY-001',
    );
    await newcomer.ack(delivery);
  }
  const what = 'no acknowledged message is delivered again';
  await newcomer.expectNothingBeforePong('Deliver', what, 'DELIVERY-001');
}

/** Waits until subscriberCount of every queue is 0. */
async function waitForNoSubscribers(
  ctx: CheckContext,
  witness: Connection,
  queues: readonly string[],
): Promise<void> {
  const until = ctx.now() + ctx.timing.answerMs;
  for (;;) {
    const infos = await Promise.all(queues.map((queue) => witness.queueInfo(queue)));
    const isEmpty = infos.every((info) => info?.['subscriberCount'] === 0);
    ctx.assert.ok(isEmpty || ctx.now() < until, 'subscriberCount is 0 after all subscribers disconnected', {
      expected: '0 for each queue',
      actual: infos.map((info) => info?.['subscriberCount']),
      clause: 'DELIVERY-069',
    });
    if (isEmpty) return;
    await pause(pollIntervalMs);
  }
}
