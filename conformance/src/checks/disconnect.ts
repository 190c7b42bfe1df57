// Checks of the end of a connection by its client: no answer to Disconnect, and everything that was sent before is carried out. Area: CONN.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { Command } from '../wire/command.ts';
import { expectLastCommands } from './shared/last-commands.ts';
import { messageCountOf, newQueue, waitForInfo } from './shared/queue-state.ts';
import { newSubscriber } from './shared/queue-with-subscribers.ts';
import { expectOnlySentinel } from './shared/subscribers.ts';

export const disconnectChecks: CheckModule = [
  // CONN-024 (MUST): The broker closes the connection after a Disconnect of the client that it does not refuse, and
  // does not answer it.
  {
    id: 'CONN-024a',
    title: 'closes the connection after Disconnect without an answer',
    clauses: ['CONN-024', 'CONN-036'],
    profile: 'core',
    evidence: { frames: 1, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect({ own: true });
      await client.disconnect();
      await client.closed();
      ctx.assert.deepEqual(
        client.received.slice(1).map(({ commandName }) => commandName),
        [],
        'the frames received after ConnectAck',
      );
    },
  },
  // CONN-025 (MUST): Before it closes the connection, the broker sends the answers to commands that arrived before the
  // Disconnect, except to publishes that are still blocked (OVERFLOW-018).
  {
    id: 'CONN-025a',
    title: 'sends the answers to commands that arrived before Disconnect',
    clauses: ['CONN-025', 'CONN-031'],
    profile: 'core',
    evidence: { frames: 5, assertions: 5 },
    run: async (ctx) => {
      const client = await ctx.connect({ own: true });
      const queue = ctx.queue('last-words');
      await client.sendTogether([
        { command: Command.CreateQueue, id: ctx.id(), queue },
        { command: Command.Publish, id: ctx.id('m'), queue, payload: '1' },
        { command: Command.QueueInfo, id: ctx.id(), queue },
        { command: Command.Ping, id: ctx.id('ping') },
        { command: Command.Disconnect, id: ctx.id() },
      ]);
      await client.closed();
      for (const answer of ['CreateQueue', 'PublishAck', 'QueueInfo', 'Pong'] as const)
        await client.expect(answer);
    },
  },
  // CONN-025 (MUST): Before it closes the connection, the broker sends the answers to commands that arrived before the
  // Disconnect, except to publishes that are still blocked (OVERFLOW-018).
  {
    id: 'CONN-025b',
    title: 'stores and confirms a message whose Publish is directly followed by Disconnect',
    clauses: ['CONN-025', 'CONN-031', 'PUBLISH-002'],
    profile: 'core',
    evidence: { frames: 11, assertions: 3 },
    run: async (ctx) => {
      const witness = await ctx.connect();
      const queue = await newQueue(ctx, witness, 'last-message');
      for (const number of [1, 2, 3]) {
        const client = await ctx.connect({ own: true });
        const id = ctx.id('m');
        await client.sendTogether([
          { command: Command.Publish, id, queue, payload: '1' },
          { command: Command.Disconnect, id: ctx.id() },
        ]);
        await client.closed();
        await client.expect({ command: 'PublishAck', id });
        ctx.assert.equal(await messageCountOf(witness, queue), number, 'number of messages', 'PUBLISH-002');
      }
    },
  },
  // CONN-041 (SHOULD): When a client ends its side of the connection without a Disconnect, the broker carries out the
  // commands that it sent before, except publishes that are still blocked (OVERFLOW-018), sends their answers and
  // closes the connection.
  {
    id: 'CONN-041a',
    title: 'carries out and answers what a client sent before it ended its side of the connection',
    clauses: ['CONN-041'],
    profile: 'core',
    evidence: { frames: 8, assertions: 6 },
    run: async (ctx) => {
      const witness = await ctx.connect();
      await expectLastCommands(ctx, await ctx.connect({ own: true }), witness);
    },
  },
  // CONN-031 (MUST): The broker carries out the frames of one connection in the order in which the client sent them.
  {
    id: 'CONN-031b',
    title: 'settles a message whose Ack is directly followed by Disconnect',
    clauses: ['CONN-031', 'DELIVERY-001'],
    profile: 'delivery',
    evidence: { frames: 20, messages: 4 },
    run: async (ctx) => {
      const witness = await ctx.connect();
      const queue = await newQueue(ctx, witness, 'last-ack');
      for (let round = 0; round < 3; round += 1) await acknowledgeAndLeave(ctx, witness, queue);
      await witness.subscribe(queue);
      await expectOnlySentinel(ctx, witness, queue, {
        text: 'the messages that were acknowledged before Disconnect are not delivered again',
        clause: 'CONN-031',
      });
    },
  },
] satisfies readonly Check[];

/** A subscriber takes one message, and sends its Ack and Disconnect together. */
async function acknowledgeAndLeave(ctx: CheckContext, witness: Connection, queue: string): Promise<void> {
  const holder = await newSubscriber(ctx, queue);
  const { id } = await witness.publish(queue, '1');
  await holder.delivery({ queue, id });
  await holder.sendTogether([
    { command: Command.Ack, id },
    { command: Command.Disconnect, id: ctx.id() },
  ]);
  await holder.closed();
  await waitForInfo(ctx, witness, queue, { field: 'subscriberCount', value: 0 });
}
