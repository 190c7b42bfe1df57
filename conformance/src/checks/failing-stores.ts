// Checks of a broker whose files cannot be written for a while, as on a full or broken disk: a limit of the system does it, so that a broker needs
// nothing for it. Where its messages are confirmed all the same, the store is not in its files, and these rules do not show. Areas: DURABLE, HEALTH.
import { setTimeout as pause } from 'node:timers/promises';
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { Command } from '../wire/command.ts';
import { crashBroker, durableBroker, takeAll } from './shared/durable-broker.ts';
import { eventually, newQueue } from './shared/queue-state.ts';
import { newSubscriber } from './shared/queue-with-subscribers.ts';
import { publishSeries } from './shared/subscribers.ts';

/** So large that no file of a check reaches it. */
const maxFileBytes = 1024 ** 3;

const pollIntervalMs = 50;

export const failingStoreChecks: CheckModule = [
  // DURABLE-017 (SHOULD): When a commit fails, the broker has made nothing of its batch visible, and answers the
  // publishes of the batch by Error STORAGE_ERROR.
  {
    id: 'DURABLE-017a',
    title: 'refuses a message that it cannot write to its files, and does not deliver it',
    clauses: ['DURABLE-017', 'DURABLE-003'],
    ...durableBroker,
    accepts: ['it confirms the message and has it after a crash (not applicable)'],
    evidence: { frames: 8, assertions: 3 },
    run: async (ctx) => {
      const { queue, subscriber, unwritten, answer } = await failingStore(ctx);
      if (answer?.command === Command.PublishAck) await expectKept(ctx, queue, unwritten);
      ctx.assert.equal(answer?.commandName, 'Error', 'the answer to a Publish that cannot be stored');
      ctx.assert.equal(answer?.errorCode, 'STORAGE_ERROR', 'the error code');
      await subscriber.closed({ clause: 'DURABLE-018' });
      const delivered = subscriber.received.filter(({ command }) => command === Command.Deliver);
      ctx.assert.deepEqual(
        delivered.filter(({ id }) => id === unwritten).map(({ id }) => id),
        [],
        'deliveries of the message that cannot be stored',
      );
    },
  },
  // DURABLE-018 (SHOULD): When a commit fails, the broker sends every client a Disconnect with header reason
  // storage_error and closes its connection.
  {
    id: 'DURABLE-018a',
    title: 'sends every client a Disconnect with reason storage_error when it cannot write to its files',
    clauses: ['DURABLE-018'],
    ...durableBroker,
    evidence: { frames: 10, assertions: 6 },
    run: async (ctx) => {
      const { publisher, subscriber, bystander } = await storeThatFails(ctx);
      for (const client of [publisher, subscriber, bystander]) {
        const disconnect = await client.expect('Disconnect');
        ctx.assert.equal(disconnect.header('reason'), 'storage_error', 'header reason of Disconnect');
        await client.closed();
      }
    },
  },
  // DURABLE-019 (SHOULD): After a failed commit, the broker recovers from the store in the same way as at a start, once
  // a probe commit succeeds.
  {
    id: 'DURABLE-019a',
    title: 'serves again with all confirmed messages when its files can be written again, and not before',
    clauses: ['DURABLE-019', 'DURABLE-021', 'DURABLE-020'],
    ...durableBroker,
    evidence: { frames: 12, messages: 2, assertions: 3 },
    run: async (ctx) => {
      const { queue, confirmed } = await storeThatFails(ctx);
      // A broker that opens its files again without a probe serves as soon as it has read them.
      const until = ctx.now() + ctx.timing.silenceMs + ctx.timing.lateMs;
      while (ctx.now() < until) {
        ctx.assert.notEqual(
          await connectAnswer(ctx),
          'ConnectAck',
          'the answer to Connect before it can write',
        );
        await pause(pollIntervalMs);
      }
      await ctx.broker.allowWrites();
      await servesAgain(ctx);
      const recovered = new Set((await takeAll(ctx, queue)).map(({ id }) => id));
      const missing = confirmed.filter((id) => !recovered.has(id));
      ctx.assert.deepEqual(missing, [], 'confirmed messages that are missing', 'DURABLE-021');
      const client = await ctx.connect({ own: true });
      await client.publish(queue, '"written"');
    },
  },
  // DURABLE-020 (SHOULD): Until the broker has recovered from a failed commit, it answers a Connect by Error
  // STORAGE_ERROR.
  {
    id: 'DURABLE-020a',
    title: 'refuses a Connect with STORAGE_ERROR while it cannot write to its files',
    clauses: ['DURABLE-020'],
    ...durableBroker,
    evidence: { frames: 8, assertions: 1 },
    run: async (ctx) => {
      await storeThatFails(ctx);
      ctx.assert.equal(
        await connectAnswer(ctx),
        'STORAGE_ERROR',
        'the answer to Connect while it cannot write',
      );
    },
  },
  // HEALTH-011 (SHOULD): GET /ready answers 503 with a reason, while the broker recovers or its store fails.
  {
    id: 'HEALTH-011a',
    title:
      'answers GET /ready with 503 and a reason while it cannot write to its files, and with 200 afterwards',
    clauses: ['HEALTH-011'],
    ...durableBroker,
    requires: { ...durableBroker.requires, profiles: ['durable'] },
    profile: 'observability',
    accepts: ['it has /ready', 'it has no such path (not applicable)'],
    evidence: { frames: 8, responses: 3, assertions: 3 },
    run: async (ctx) => {
      const before = await ctx.http.get('/ready');
      if (before.status >= 400 && before.status < 500) ctx.notApplicable('the broker has no /ready');
      ctx.assert.equal(before.status, 200, 'the status of /ready before');
      await storeThatFails(ctx);
      const during = await ctx.http.get('/ready');
      ctx.assert.equal(during.status, 503, 'the status of /ready while it cannot write');
      ctx.assert.notEqual(during.body.trim(), '', 'the body of /ready, which says why');
      await ctx.broker.allowWrites();
      await servesAgain(ctx);
      const readiness = async () => (await ctx.http.get('/ready')).status;
      await eventually(ctx, readiness, (status) => status === 200, { text: '/ready answers 200 afterwards' });
    },
  },
] satisfies readonly Check[];

type FailingStore = {
  /** Has the confirmed messages, one of which is in flight on the subscriber; the unwritten one was published to it. */
  readonly queue: string;
  readonly confirmed: readonly string[];
  /** The id of the message that cannot be written. */
  readonly unwritten: string;
  readonly publisher: Connection;
  readonly subscriber: Connection;
  readonly bystander: Connection;
};

/** As `failingStore`, and requires that the broker shows that it cannot write: it confirms nothing, and still runs. */
async function storeThatFails(ctx: CheckContext): Promise<FailingStore> {
  const { answer, ...failing } = await failingStore(ctx);
  if (answer?.command === Command.PublishAck)
    ctx.notApplicable('the broker confirms messages although its files cannot be written');
  return failing;
}

/** Publishes a message while the files of the broker cannot be written. `answer`: undefined if the connection was closed instead. */
async function failingStore(ctx: CheckContext) {
  await ctx.broker.crash();
  const canLimit = await ctx.broker.startWithFileLimit(maxFileBytes);
  const publisher = await ctx.connect({ own: true });
  const bystander = await ctx.connect({ own: true });
  const queue = await newQueue(ctx, publisher, 'kept');
  const confirmed = await publishSeries(ctx, publisher, queue, 2);
  const subscriber = await newSubscriber(ctx, queue);
  await subscriber.delivery({ queue });
  if (!canLimit || !(await ctx.broker.refuseWrites()))
    ctx.notApplicable('the runner cannot make writes to the files of this broker fail');
  const unwritten = ctx.id('m');
  await publisher.send({ command: Command.Publish, id: unwritten, queue, payload: '"unwritten"' });
  const what = `the answer to Publish ${unwritten}, when the broker cannot write`;
  const answer = await publisher.expectOrClosed({ id: unwritten }, { what, clause: 'DURABLE-017' });
  const hasEnded = (await ctx.tryConnect()) === undefined;
  // Ended by itself or not, the broker is not to be blamed as for an end that nothing explains.
  if (hasEnded) await ctx.broker.crash();
  ctx.assert.ok(!hasEnded, 'the broker serves on when it cannot write', {
    actual: 'it has ended, or accepts no connection',
    clause: 'DURABLE-018',
  });
  const failing: FailingStore = { queue, confirmed, unwritten, publisher, subscriber, bystander };
  return { ...failing, answer: typeof answer === 'string' ? undefined : answer };
}

/** A confirmed message must be there after a crash, wherever it is kept. */
async function expectKept(ctx: CheckContext, queue: string, id: string): Promise<never> {
  await ctx.broker.allowWrites();
  await crashBroker(ctx);
  const recovered = (await takeAll(ctx, queue)).map((delivery) => delivery.id);
  ctx.assert.ok(
    recovered.includes(id),
    'a message that was confirmed while files could not be written is there',
    {
      actual: recovered,
      clause: 'DURABLE-003',
    },
  );
  ctx.notApplicable('the broker confirms and keeps messages although its files cannot be written');
}

/** The name of the positive answer to a Connect, or the error code; undefined if there is none. */
async function connectAnswer(ctx: CheckContext): Promise<string | undefined> {
  const connection = await ctx.tryConnect();
  await connection?.send({ command: Command.Connect, id: ctx.id() });
  const what = 'the answer to Connect while the broker cannot write';
  const answer = await connection?.expectOrClosed(() => true, { what, clause: 'DURABLE-020' });
  await connection?.abort();
  if (answer === undefined || typeof answer === 'string') return undefined;
  return answer.command === Command.Error ? answer.errorCode : answer.commandName;
}

/** Waits until a Connect is accepted, as long as for a start. */
async function servesAgain(ctx: CheckContext): Promise<void> {
  const until = ctx.now() + ctx.timing.startMs;
  let answer = await connectAnswer(ctx);
  while (answer !== 'ConnectAck' && ctx.now() < until) {
    await pause(pollIntervalMs);
    answer = await connectAnswer(ctx);
  }
  ctx.assert.equal(answer, 'ConnectAck', 'the answer to Connect after it can write again', 'DURABLE-019');
}
