// Checks of what clients with compression get: each in its own algorithm, and in order also when a large body takes longer to compress
// than the small ones behind it, and all of it when they leave. Areas: COMPRESS, DELIVERY, CONN.
import type { Check, CheckModule } from '../check.ts';
import { Command } from '../wire/command.ts';
import { algorithmFlags } from '../wire/compression.ts';
import { fittingLength, numberedText } from './shared/bodies.ts';
import { newQueue } from './shared/queue-state.ts';
import { fanOutWithAck, fanOutWithoutAck } from './shared/queue-with-subscribers.ts';
import { idsOf, publishSeries, takeAndAck } from './shared/subscribers.ts';
import { token, withToken } from './shared/users.ts';

/** Larger bodies may be compressed beside other work, and take longer. */
const largeBytes = 200_000;

/** Queues whose names make a list of more than `largeBytes`. */
const longName = 'q'.repeat(150);
const longNameCount = 1300;

export const compressedDeliveryChecks: CheckModule = [
  // COMPRESS-004 (MUST): A broker sends compressed frames only on a connection whose handshake agreed on an algorithm.
  {
    id: 'COMPRESS-004b',
    title: 'agrees on no algorithm that only a refused Connect of the same connection offered',
    clauses: ['COMPRESS-004', 'COMPRESS-010'],
    profile: 'compression',
    requires: withToken.requires,
    accepts: [
      'the frame is not compressed',
      'the connection is closed after the refused Connect (not applicable)',
    ],
    evidence: { frames: 6, messages: 1, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.rawConnect();
      const headers = { 'supported-compression': 'gzip, brotli' };
      await client.send({ command: Command.Connect, id: ctx.id(), headers });
      await client.expectOrClosed('Error', { clause: 'AUTH-003' });
      const id = ctx.id();
      await client.send({ command: Command.Connect, id, headers: { authToken: token } });
      const answer = await client.expectOrClosed({ command: 'ConnectAck', id });
      const connectAck =
        typeof answer === 'string'
          ? ctx.notApplicable('the connection is closed after the refused Connect')
          : answer;
      const queue = await newQueue(ctx, client, 'large');
      await client.subscribe(queue);
      await client.publish(queue, JSON.stringify(numberedText(fittingLength(ctx.target, 4000))));
      const delivery = await client.delivery({ queue });
      ctx.assert.equal(delivery.flags, 0, 'the flags of the Deliver frame');
      const agreed = connectAck.header('negotiated-compression');
      ctx.assert.equal(agreed, undefined, 'header negotiated-compression', 'COMPRESS-010');
      await client.ack(delivery);
    },
  },
  // CONN-025 (MUST): Before it closes the connection, the broker sends the answers to commands that arrived before the
  // Disconnect, except to publishes that are still blocked (OVERFLOW-018).
  {
    id: 'CONN-025c',
    title: 'sends a large answer that it compresses before it closes the connection after Disconnect',
    clauses: ['CONN-025'],
    profile: 'compression',
    isolation: 'fresh',
    evidence: { frames: 1300, assertions: 4 },
    run: async (ctx) => {
      const witness = await ctx.connect();
      for (let start = 0; start < longNameCount; start += 100) {
        const names = Array.from({ length: 100 }, (_, index) => ctx.queue(`${longName}-${start + index}`));
        await Promise.all(names.map((name) => witness.createQueue(name)));
      }
      for (const algorithm of ['gzip', 'brotli']) {
        const client = await ctx.connect({ headers: { 'supported-compression': algorithm }, own: true });
        await client.sendTogether([
          { command: Command.ListQueues, id: ctx.id('list') },
          { command: Command.Disconnect, id: ctx.id() },
        ]);
        await client.closed({ clause: 'CONN-024' });
        const what = 'the answer to ListQueues before the connection is closed';
        const answer = await client.expect('ListQueues', { what });
        ctx.assert.equal(
          (answer.json() as readonly unknown[]).length,
          longNameCount,
          'number of listed queues',
        );
      }
    },
  },
  // COMPRESS-007 (MUST): A broker compresses with the agreed algorithm and no other.
  {
    id: 'COMPRESS-007b',
    title: 'sends each subscriber of a fan-out the message in its own algorithm',
    clauses: ['COMPRESS-007', 'COMPRESS-004', 'COMPRESS-016'],
    profile: 'compression',
    evidence: { frames: 18, messages: 6 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const plain = await ctx.connect({ own: true });
      const gzip = await ctx.connect({ headers: { 'supported-compression': 'gzip' }, own: true });
      const brotli = await ctx.connect({ headers: { 'supported-compression': 'brotli' } });
      const subscribers = [
        { subscriber: gzip, algorithm: 'gzip' },
        { subscriber: plain, algorithm: 'none' },
        { subscriber: brotli, algorithm: 'brotli' },
      ] as const;
      for (const [name, options] of Object.entries({ fanOutWithAck, fanOutWithoutAck })) {
        const queue = await newQueue(ctx, publisher, name, options);
        for (const { subscriber } of subscribers) await subscriber.subscribe(queue);
        const payload = JSON.stringify(numberedText(4000));
        await publisher.publish(queue, payload);
        for (const { subscriber, algorithm } of subscribers) {
          const delivery = await subscriber.delivery({ queue });
          const allowed = [algorithmFlags.none, algorithmFlags[algorithm]];
          const what = `the flags of the Deliver frame to the subscriber that agreed on ${algorithm}`;
          const clause = algorithm === 'none' ? 'COMPRESS-004' : 'COMPRESS-007';
          ctx.assert.oneOf(delivery.flags, allowed, what, clause);
          ctx.assert.sameJson(delivery.payload, payload, 'the payload', 'COMPRESS-016');
          if (options === fanOutWithAck) await subscriber.ack(delivery);
        }
      }
    },
  },
  // DELIVERY-035 (MUST): In every mode except PriorityBased, the broker delivers the messages of one publisher to one
  // subscriber through one queue for the first time in the order in which they were published.
  {
    id: 'DELIVERY-035b',
    title: 'delivers small messages behind large ones to a subscriber with compression',
    clauses: ['DELIVERY-035'],
    profile: 'compression',
    evidence: { frames: 26, messages: 12 },
    run: async (ctx) => {
      const payload = JSON.stringify(numberedText(fittingLength(ctx.target, largeBytes)));
      for (const algorithm of ['gzip', 'brotli']) {
        const client = await ctx.connect({ headers: { 'supported-compression': algorithm } });
        const queue = await newQueue(ctx, client, algorithm);
        const ids: string[] = [];
        for (let round = 0; round < 2; round += 1) {
          const large = ctx.id('large');
          await client.publish(queue, payload, { id: large });
          ids.push(large, ...(await publishSeries(ctx, client, queue, 2)));
        }
        await client.subscribe(queue);
        const delivered = idsOf(await takeAndAck(client, queue, ids.length));
        ctx.assert.deepEqual(delivered, ids, 'the delivered messages, in order');
      }
    },
  },
] satisfies readonly Check[];
