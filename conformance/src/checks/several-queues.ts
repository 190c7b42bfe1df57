// Checks of connections that subscribe to several queues: each gets the messages of its own queues, and an Ack that names a queue is for that
// queue. Area: DELIVERY.
import type { CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { Command } from '../wire/command.ts';
import { newQueue } from './shared/queue-state.ts';
import { fanOutWithAck, fanOutWithoutAck } from './shared/queue-with-subscribers.ts';
import { publishSeries } from './shared/subscribers.ts';

/** Times that the messages of several queues are published in one write: a busy broker may read one of them in parts. */
const rounds = 3;

export const severalQueueChecks: CheckModule = [
  // DELIVERY-024 (MUST): In FanOutWithoutAck the broker delivers each message to every subscriber that is subscribed
  // and whose connection is draining.
  {
    id: 'DELIVERY-024e',
    title:
      'delivers to two subscribers, each of some fan-out queues, the messages of these, published in one write',
    clauses: ['DELIVERY-024', 'DELIVERY-014'],
    profile: 'delivery',
    evidence: { frames: 60, messages: 30, assertions: 12 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      for (const [name, mode, clause] of [
        ['without-acks', fanOutWithoutAck, 'DELIVERY-024'],
        ['with-acks', fanOutWithAck, 'DELIVERY-014'],
      ] as const) {
        const queues: string[] = [];
        for (let number = 1; number <= 4; number += 1)
          queues.push(await newQueue(ctx, publisher, `${name}-${number}`, mode));
        const members = await membersOfThree(ctx, queues);
        const areAcknowledged = mode === fanOutWithAck;
        for (let round = 0; round < rounds; round += 1)
          await expectOwnMessages(ctx, { publisher, queues, members, areAcknowledged, clause });
      }
    },
  },
  // DELIVERY-067 (SHOULD): An Ack that names a queue acknowledges only a delivery of that queue.
  {
    id: 'DELIVERY-067d',
    title: 'settles three deliveries of one id by Acks that name their queues, the middle one first',
    clauses: ['DELIVERY-067', 'DELIVERY-046'],
    profile: 'delivery',
    requires: { capabilities: ['maxInFlight'] },
    evidence: { frames: 17, messages: 6, assertions: 3 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const holder = await ctx.connect({ own: true });
      const id = ctx.id('triplet');
      const queues: string[] = [];
      for (const name of ['oldest', 'middle', 'youngest']) {
        const queue = await newQueue(ctx, publisher, name);
        await holder.subscribe(queue, { headers: { maxInFlight: '1' } });
        await publisher.publish(queue, '1', { id });
        await holder.delivery({ queue, id }, { clause: 'DELIVERY-046' });
        queues.push(queue);
      }
      const [oldest = '', middle = '', youngest = ''] = queues;
      for (const queue of [middle, youngest, oldest]) await holder.ack({ id, queue }, { withQueue: true });
      // What is not settled keeps the only place of its window.
      for (const queue of queues) {
        const [later = ''] = await publishSeries(ctx, publisher, queue, 1);
        const about = { what: 'the next message of each queue', clause: 'DELIVERY-067' };
        const next = await holder.delivery({ queue }, about);
        ctx.assert.equal(next.id, later, 'the next message of the queue');
        await holder.ack(next);
      }
    },
  },
];

type Member = { readonly connection: Connection; readonly theirs: readonly string[] };

/** Two connections, each subscribed to three of four queues: as many for each, and the same at the beginning and at the end. */
async function membersOfThree(ctx: CheckContext, queues: readonly string[]): Promise<readonly Member[]> {
  const members: Member[] = [];
  for (const leftOut of [2, 1]) {
    const theirs = queues.filter((_, index) => index !== leftOut);
    const connection = await ctx.connect({ own: true });
    for (const queue of theirs) await connection.subscribe(queue);
    members.push({ connection, theirs });
  }
  return members;
}

/** Publishes a message to each queue in one write; each member gets those of its queues and no other. */
async function expectOwnMessages(
  ctx: CheckContext,
  {
    publisher,
    queues,
    members,
    areAcknowledged,
    clause,
  }: {
    readonly publisher: Connection;
    readonly queues: readonly string[];
    readonly members: readonly Member[];
    readonly areAcknowledged: boolean;
    readonly clause: string;
  },
): Promise<void> {
  const messages = queues.map((queue) => ({ queue, id: ctx.id('m') }));
  const command = Command.Publish;
  await publisher.sendTogether(messages.map((fields) => ({ command, ...fields, payload: '1' })));
  for (const { id } of messages)
    await publisher.expect({ command: 'PublishAck', id }, { clause: 'PUBLISH-001' });
  for (const { connection, theirs } of members) {
    for (const message of messages.filter(({ queue }) => theirs.includes(queue))) {
      const what = 'the message of each queue that the connection is subscribed to';
      const delivery = await connection.delivery(message, { what, clause });
      if (areAcknowledged) await connection.ack(delivery);
    }
    const text = 'no message comes twice, nor from another queue';
    await connection.expectNothingBeforePong({ command: 'Deliver' }, text, clause);
  }
}
