// Checks of clients that send and do not read: the broker stops reading from them. Area: LIMIT.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { Command } from '../wire/command.ts';
import { sizedPayload } from './shared/bodies.ts';
import { newQueue } from './shared/queue-state.ts';
import { waitUntil } from './shared/retry-attempts.ts';

const longName = 'q'.repeat(150);
const longNameCount = 100;

/** What the system may keep for two sockets with its usual limits, and more. */
const maxSocketBytes = 16 * 1024 * 1024;
const floodBytes = 2 * maxSocketBytes;
const floodMessageBytes = 256 * 1024;
/** In which at least one more answer comes, of very many. */
const floodAnswerMs = 8000;

export const unreadAnswerChecks: CheckModule = [
  // LIMIT-015 (SHOULD): The broker stops reading from a connection whose unsent frames exceed maxOutboundBytes, and
  // resumes when they have been sent.
  {
    id: 'LIMIT-015a',
    title: 'stops reading from a client that does not read its answers, and goes on when the client reads',
    clauses: ['LIMIT-015'],
    profile: 'limits',
    requires: { configuration: { limits: { maxOutboundBytes: 65_536 } } },
    evidence: { frames: 10, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, client, 'flooded', { overflowStrategy: 0, maxQueueSize: 2 });
      client.pauseReading();
      await askForLongAnswers(ctx, client);
      const { last, isRead } = await flood(ctx, client, queue);
      ctx.assert.ok(!isRead, 'the broker stops reading', {
        expected: 'unread bytes',
        actual: `it has read ${floodBytes} bytes of a client that reads none of its answers`,
      });
      client.resumeReading();
      await waitWhileAnswersCome(ctx, client, last);
      await client.expect((frame) => frame.id === last, { what: 'the answer to the last Publish' });
      await client.ping({ clause: 'LIMIT-015' });
    },
  },
];

/** Asks for lists of queues, without reading them, until the answers fill all buffers between the broker and the client. */
async function askForLongAnswers(ctx: CheckContext, client: Connection): Promise<void> {
  const other = await ctx.connect();
  for (let count = 0; count < longNameCount; count += 1) await newQueue(ctx, other, `${longName}-${count}`);
  // Other checks may have queues on this broker too.
  const { payload } = await other.request({ command: Command.ListQueues, id: ctx.id('list') });
  const answerBytes = Math.max(payload.length, longNameCount * longName.length);
  const listCount = Math.ceil(maxSocketBytes / answerBytes);
  for (let count = 0; count < listCount; count += 1)
    await client.send({ command: Command.ListQueues, id: ctx.id('list') });
}

/**
 * Publishes without waiting for answers, until the broker has read nothing for a while, or has read floodBytes. `last`: the id of the last
 * Publish. The next message follows when the system has taken the one before, which shows that the broker reads, however slowly.
 */
async function flood(
  ctx: CheckContext,
  client: Connection,
  queue: string,
): Promise<{ readonly last: string; readonly isRead: boolean }> {
  const payload = sizedPayload({ id: ctx.id('m'), queue, totalBytes: floodMessageBytes });
  const other = await ctx.connect();
  let last = '';
  for (let sentBytes = 0; sentBytes < floodBytes; sentBytes += floodMessageBytes) {
    last = ctx.id('m');
    await client.sendTogether([{ command: Command.Publish, id: last, queue, payload }]);
    if (await isLeft(ctx, client, other)) return { last, isRead: false };
  }
  return { last, isRead: true };
}

/** Waits until the system has taken all bytes: false; or has taken none for a while in which the broker answered the pings of another client. */
async function isLeft(ctx: CheckContext, client: Connection, other: Connection): Promise<boolean> {
  for (let turn = 0; client.unsentBytes > 0 && turn < 100; turn += 1) await nextTurn();
  let [left, changedAt, pingCount] = [client.unsentBytes, ctx.now(), 0];
  while (left > 0 && (pingCount < 10 || ctx.now() < changedAt + 2 * ctx.timing.silenceMs)) {
    await waitUntil(ctx, ctx.now() + 50);
    await other.ping({ clause: 'LIMIT-015' });
    pingCount += 1;
    if (client.unsentBytes !== left) [left, changedAt, pingCount] = [client.unsentBytes, ctx.now(), 0];
  }
  return left > 0;
}

/** Waits for the answer to the last of very many commands, as long as others come. */
async function waitWhileAnswersCome(ctx: CheckContext, client: Connection, last: string): Promise<void> {
  const { received } = client;
  let [count, changedAt] = [received.length, ctx.now()];
  while (!received.slice(count).some(({ id }) => id === last) && ctx.now() < changedAt + floodAnswerMs) {
    if (received.length > count) [count, changedAt] = [received.length, ctx.now()];
    await waitUntil(ctx, ctx.now() + 50);
  }
}
