// Checks of a connection after the handshake: ids of answers, Ping, order of answers, commands that a client must not send.
// Areas: CONN, ERROR.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import { frameText } from '../trace.ts';
import { answerRule } from '../wire/check-traffic.ts';
import { Command } from '../wire/command.ts';
import { encodeBody, encodeFrame, frameAround } from '../wire/encode.ts';
import type { FrameFields, ReceivedFrame } from '../wire/frame.ts';
import { errorCodes } from './shared/error-codes.ts';
import { pingFields, sendPartialFrame } from './shared/partial-frames.ts';
import { messageCountOf, newQueue } from './shared/queue-state.ts';
import { expectBytesRefused, expectRefusedWith } from './shared/refusals.ts';
import { inQueueInfo, type JsonRecord, requiredField } from './shared/required-fields.ts';

export const connectionChecks: CheckModule = [
  // CONN-006 (MUST): The broker gives every positive answer except ConnectAck the id of its command.
  {
    id: 'CONN-006a',
    title: 'answers every command with its id and with the matching answer command',
    clauses: ['CONN-006', 'BODY-043'],
    profile: 'core',
    evidence: { frames: 8, assertions: 8 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = ctx.queue('ids');
      for (const [command, answerCommand] of answersByCommand) {
        const named = command === Command.ListQueues || command === Command.Ping ? {} : { queue };
        const id = ctx.id();
        const answer = await client.request({ command, id, ...named });
        ctx.assert.equal(answer.id, id, 'the id of the answer');
        const known: readonly number[] = Object.values(Command);
        ctx.assert.oneOf(answer.command, known, `the answer to ${nameOf(command)}`, 'BODY-043');
        const rule = answerRule(command) ?? 'CONN-006';
        ctx.assert.equal(answer.command, answerCommand, `the answer to ${nameOf(command)}`, rule);
      }
    },
  },
  // CONN-040 (MUST): The broker answers a command at most once.
  {
    id: 'CONN-040a',
    title: 'sends one answer to each command',
    clauses: ['CONN-040'],
    profile: 'core',
    evidence: { frames: 24, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect({ own: true });
      const taken = new Set([client.connectAck.sequence]);
      for (const name of ['first', 'second', 'third']) {
        const queue = ctx.queue(name);
        for (const [command] of answersByCommand) {
          const named = command === Command.ListQueues || command === Command.Ping ? {} : { queue };
          taken.add((await client.request({ command, id: ctx.id(), ...named })).sequence);
        }
      }
      taken.add((await client.ping()).sequence);
      const others = client.received.filter(
        ({ command, sequence }) => command !== Command.Deliver && !taken.has(sequence),
      );
      ctx.assert.deepEqual(others.map(frameText), [], 'the frames beside one answer to each command');
    },
  },
  // CONN-008 (SHOULD): The broker gives an Error that answers a command the id of that command.
  {
    id: 'CONN-008a',
    title: 'sends an Error with the id of the command that it answers',
    clauses: ['CONN-008'],
    profile: 'core',
    evidence: { frames: 4, assertions: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = ctx.queue('errors');
      for (const faulty of [
        { command: Command.Subscribe, id: ctx.id() },
        { command: Command.Publish, id: ctx.id('m'), queue, payload: '{' },
        { command: 77, id: ctx.id() },
      ]) {
        await client.send(faulty);
        const error = await client.expect('Error');
        ctx.assert.equal(error.id, faulty.id, 'the id of the Error');
      }
    },
  },
  // CONN-009 (SHOULD): The broker gives an Error a new id of at least one byte, when the Error answers no command or a
  // command whose id is missing or unreadable.
  {
    id: 'CONN-009a',
    title: 'sends an Error with a new id when the id of the command cannot be read',
    clauses: ['CONN-009'],
    profile: 'core',
    accepts: ['an Error with a non-empty id', 'closing the connection'],
    evidence: { frames: 1, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const cut = frameAround(encodeBody({ command: Command.Ping, id: ctx.id() }).subarray(0, 9));
      const { error } = await expectBytesRefused(ctx, client, cut, 'the body ends in the id');
      ctx.assert.ok(error === undefined || error.id !== '', 'the Error has a non-empty id', {
        actual: error === undefined ? 'closed' : frameText(error),
      });
    },
  },
  // CONN-010 (MUST): The broker names the queue of the command in PublishAck, SubscribeAck and UnsubscribeAck.
  {
    id: 'CONN-010a',
    title: 'names the queue in PublishAck, SubscribeAck and UnsubscribeAck',
    clauses: ['CONN-010'],
    profile: 'core',
    evidence: { frames: 4, assertions: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'named');
      ctx.assert.equal((await client.publish(queue, '1')).queue, queue, 'the queue in PublishAck');
      const other = await newQueue(ctx, client, 'named-too');
      ctx.assert.equal((await client.subscribe(other)).queue, other, 'the queue in SubscribeAck');
      ctx.assert.equal((await client.unsubscribe(other)).queue, other, 'the queue in UnsubscribeAck');
    },
  },
  // CONN-020 (MUST): The broker gives Pong the id of its Ping.
  {
    id: 'CONN-020a',
    title: 'answers each Ping with a Pong of the same id, including long and non-ASCII ids',
    clauses: ['CONN-020', 'CONN-019'],
    profile: 'core',
    evidence: { frames: 4, assertions: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      for (const id of ['p', `${ctx.id('ping')}-日本-${'x'.repeat(200)}`, 'p'.repeat(256)]) {
        await client.send({ command: Command.Ping, id });
        const pong = await client.expect('Pong');
        ctx.assert.equal(pong.id, id, 'the id of the Pong');
      }
    },
  },
  // CONN-021 (MUST): The broker answers a Ping without waiting for anything that another client does.
  {
    id: 'CONN-021a',
    title: 'answers two clients that each sent part of a Ping when the rest arrives',
    clauses: ['CONN-021'],
    profile: 'core',
    evidence: { frames: 5, assertions: 1 },
    run: async (ctx) => {
      const first = await ctx.connect({ own: true });
      const other = await ctx.connect({ own: true });
      const [ping, otherPing] = [pingFields(ctx), pingFields(ctx)];
      const remainder = await sendPartialFrame(ctx, first, encodeFrame(ping));
      const otherRemainder = await sendPartialFrame(ctx, other, encodeFrame(otherPing));
      await other.sendPieces([otherRemainder]);
      await other.expect({ command: 'Pong', id: otherPing.id }, { clause: 'CONN-021' });
      await first.sendPieces([remainder]);
      await first.expect({ command: 'Pong', id: ping.id }, { clause: 'CONN-021' });
    },
  },
  // CONN-026 (SHOULD): The broker answers a command value that is not in spec/tables/commands.yaml by Error
  // UNKNOWN_COMMAND.
  {
    id: 'CONN-026a',
    title: 'answers unknown commands with UNKNOWN_COMMAND and keeps the connection open',
    clauses: ['CONN-026', 'CONN-028'],
    profile: 'core',
    evidence: { frames: 5, assertions: 6 },
    run: (ctx) => expectUnknown(ctx, 'CONN-026', [3, 77, 255]),
  },
  // CONN-027 (SHOULD): The broker answers a command that only a broker sends by Error UNKNOWN_COMMAND.
  {
    id: 'CONN-027a',
    title: 'answers commands that only a broker sends with UNKNOWN_COMMAND',
    clauses: ['CONN-027', 'CONN-028'],
    profile: 'core',
    evidence: { frames: 7, assertions: 12 },
    run: (ctx) =>
      expectUnknown(ctx, 'CONN-027', [
        Command.ConnectAck,
        Command.Pong,
        Command.PublishAck,
        Command.SubscribeAck,
        Command.UnsubscribeAck,
        Command.Deliver,
      ]),
  },
  // CONN-029 (SHOULD): The broker answers a Connect on a connection that has a successful Connect by Error
  // INVALID_MESSAGE.
  {
    id: 'CONN-029a',
    title: 'answers each further Connect with INVALID_MESSAGE, whatever its version',
    clauses: ['CONN-029', 'CONN-013'],
    profile: 'core',
    evidence: { frames: 10, assertions: 8 },
    run: async (ctx) => {
      for (const [version, clause] of [
        [1, 'CONN-029'],
        [9, 'CONN-013'],
      ] as const) {
        const client = await ctx.connect({ own: true });
        // One more than AUTH-009 lets a client try.
        for (let count = 0; count < 4; count += 1) {
          await client.send({ command: Command.Connect, id: ctx.id(), version });
          const error = await client.expect('Error', { clause });
          const what = `the error code for version ${version}`;
          ctx.assert.equal(error.errorCode, 'INVALID_MESSAGE', what, clause);
        }
      }
    },
  },
  // CONN-030 (SHOULD): The broker keeps the user, the compression and the subscriptions of a connection after a second
  // Connect.
  {
    id: 'CONN-030a',
    title: 'does not change subscriptions and compression after a second Connect',
    clauses: ['CONN-030', 'CONN-029'],
    profile: 'core',
    evidence: { frames: 8, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect({ headers: { 'supported-compression': 'brotli' } });
      const queue = await newQueue(ctx, client, 'kept');
      await client.subscribe(queue);
      const payload = JSON.stringify('x'.repeat(3000));
      await client.publish(queue, payload);
      const before = await client.delivery({ queue });
      await client.ack(before);
      const headers = { 'supported-compression': 'gzip' };
      await client.send({ command: Command.Connect, id: ctx.id(), headers });
      await client.expect({ command: ['Error', 'ConnectAck'] });
      await client.publish(queue, payload);
      const delivery = await client.delivery({ queue }, { clause: 'CONN-030' });
      ctx.assert.equal(delivery.flags, before.flags, 'the flags of the Deliver frame after a second Connect');
      await client.ack(delivery);
    },
  },
  // CONN-031 (MUST): The broker carries out the frames of one connection in the order in which the client sent them.
  {
    id: 'CONN-031a',
    title: 'carries out the commands of a connection in the order in which they were sent',
    clauses: ['CONN-031'],
    profile: 'core',
    evidence: { frames: 4, assertions: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = ctx.queue('in-order');
      const [empty, two, deleted] = [ctx.id('info'), ctx.id('info'), ctx.id('info')];
      await client.sendTogether([
        { command: Command.CreateQueue, id: ctx.id(), queue },
        { command: Command.QueueInfo, id: empty, queue },
        { command: Command.Publish, id: ctx.id('m'), queue, payload: '1' },
        { command: Command.Publish, id: ctx.id('m'), queue, payload: '2' },
        { command: Command.QueueInfo, id: two, queue },
        { command: Command.DeleteQueue, id: ctx.id(), queue },
        { command: Command.QueueInfo, id: deleted, queue },
      ]);
      ctx.assert.equal(
        messageCountIn(await client.expect({ id: empty })),
        0,
        'messageCount before the first Publish',
      );
      ctx.assert.equal(
        messageCountIn(await client.expect({ id: two })),
        2,
        'messageCount after two publishes',
      );
      const last = await client.expect({ id: deleted });
      ctx.assert.equal(last.payload.length, 0, 'the length of the payload after DeleteQueue', 'QUEUE-024');
    },
  },
  // CONN-033 (MUST): The broker sends SubscribeAck before the first Deliver of that subscription.
  {
    id: 'CONN-033a',
    title: 'sends SubscribeAck before the first Deliver of messages that wait',
    clauses: ['CONN-033'],
    profile: 'core',
    evidence: { frames: 4, messages: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'ack-first');
      await client.publish(queue, '1');
      const ack = await client.subscribe(queue);
      const delivery = await client.delivery({ queue });
      const first = ack.sequence < delivery.sequence ? ack : delivery;
      ctx.assert.equal(first.commandName, 'SubscribeAck', 'the first frame of the subscription');
      await client.ack(delivery);
    },
  },
  // CONN-035 (SHOULD): The broker sends answers in the order of their commands, except the PublishAck of a blocked
  // Publish.
  {
    id: 'CONN-035a',
    title: 'sends answers and Errors in the order of their commands',
    clauses: ['CONN-035'],
    profile: 'core',
    evidence: { frames: 6, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'answers');
      const commands: readonly FrameFields[] = [
        { command: Command.Publish, id: ctx.id('m'), queue, payload: '1' },
        { command: Command.Ping, id: ctx.id() },
        { command: Command.QueueInfo, id: ctx.id(), queue },
        { command: Command.Unsubscribe, id: ctx.id() },
        { command: Command.Publish, id: ctx.id('m'), queue, payload: '2' },
        { command: Command.Ping, id: ctx.id() },
      ];
      const before = client.received.length;
      await client.sendTogether(commands);
      await client.expect({ id: commands.at(-1)?.id ?? '' });
      await client.ping();
      // Other checks cover the id of an Error.
      const order = client.received
        .slice(before, -1)
        .map(({ id, commandName }) => (commandName === 'Error' ? commandName : id));
      const expected = commands.map(({ id, queue, command }) =>
        queue === undefined && command !== Command.Ping ? 'Error' : id,
      );
      ctx.assert.deepEqual(order, expected, 'the order of the answers');
    },
  },
  // CONN-036 (MUST): The broker sends no answer to an Ack and to a Disconnect that it does not refuse.
  {
    id: 'CONN-036a',
    title: 'sends no answer to an Ack',
    clauses: ['CONN-036'],
    profile: 'core',
    evidence: { frames: 5, messages: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'silent-ack');
      await client.subscribe(queue);
      await client.publish(queue, '1');
      await client.ack(await client.delivery({ queue }));
      await client.expectNothingBeforePong(() => true, 'no frame answers an Ack');
    },
  },
  // ERROR-001 (MUST): The broker answers a command that it refuses by Error and sends no positive answer.
  {
    id: 'ERROR-001a',
    title: 'answers a refused command with an Error and without a positive answer',
    clauses: ['ERROR-001', 'PUBLISH-003'],
    profile: 'core',
    evidence: { frames: 4, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'either-or');
      const publish = { command: Command.Publish, id: ctx.id('m'), queue, payload: '{"a":' };
      const options = { queue: ctx.queue('x'), payload: '{"maxQueueSize":0}' };
      let refusedCount = 0;
      for (const [clause, faulty] of [
        ['PUBLISH-014', publish],
        ['QUEUE-032', { command: Command.CreateQueue, id: ctx.id(), ...options }],
      ] as const) {
        const from = client.received.length;
        await client.send(faulty);
        const isAnswer = ({ id, command }: ReceivedFrame): boolean =>
          id === faulty.id || command === Command.Error;
        await client.expect(isAnswer, { what: 'an answer' });
        await client.ping();
        const answers = client.received.slice(from).filter(({ command }) => command !== Command.Pong);
        const isRefused = answers.some(({ command }) => command === Command.Error);
        ctx.should(isRefused, clause, 'the command is refused', { actual: answers.map(frameText) });
        if (isRefused) refusedCount += 1;
        ctx.assert.equal(answers.length, 1, 'number of answers to one command');
      }
      if (refusedCount === 0) ctx.notApplicable('the broker refuses neither command');
    },
  },
  // ERROR-002 (MUST): Error has command value 99 and carries a code that is not empty, and the field errorMessage.
  {
    id: 'ERROR-002a',
    title: 'sends every Error with a code and a text',
    clauses: ['ERROR-002', 'ERROR-003', 'ERROR-018'],
    profile: 'core',
    evidence: { frames: 5, assertions: 1 },
    run: async (ctx) => {
      const queue = ctx.queue('x');
      const errors: ReceivedFrame[] = [];
      for (const faulty of [
        { command: 78, id: ctx.id() },
        { command: Command.CreateQueue, id: ctx.id(), queue, payload: '{"mode":9}' },
        { command: Command.Publish, id: ctx.id('m'), queue, payload: '{' },
      ]) {
        // The broker may close the connection after each of them.
        const client = await ctx.connect({ own: true });
        await client.send(faulty);
        await client.send(pingFields(ctx));
        await client.expectOrClosed('Pong');
        errors.push(...client.received.filter(({ command }) => command === Command.Error));
      }
      // Refusing these commands is only a SHOULD, and the broker may close the connection without an Error.
      if (errors.length === 0)
        ctx.notApplicable('the broker answers none of the faulty commands with an Error');
      for (const error of errors) {
        ctx.assert.matches(error.errorCode, /./, 'the error code');
        ctx.should(error.errorMessage !== '', 'ERROR-018', 'the Error has a text', {
          actual: `Error ${error.errorCode} with an empty errorMessage`,
        });
        ctx.should(
          errorCodes.includes(error.errorCode),
          'ERROR-003',
          'the error code is listed in the table of error codes',
          {
            actual: error.errorCode,
          },
        );
      }
    },
  },
  // ERROR-004 (SHOULD): The broker answers a command that needs a queue name and has none by Error INVALID_QUEUE.
  {
    id: 'ERROR-004a',
    title: 'answers commands without a queue name with INVALID_QUEUE',
    clauses: ['ERROR-004'],
    profile: 'core',
    evidence: { frames: 7, assertions: 12 },
    run: async (ctx) => {
      const client = await ctx.connect();
      for (const command of [20, 22, 24, 40, 41, 42]) {
        const fields = { command, id: ctx.id() };
        await expectRefusedWith(ctx, client, fields, {
          code: 'INVALID_QUEUE',
          what: 'the queue name is empty',
        });
      }
    },
  },
  // ERROR-006 (MUST): After an Error that does not end the connection, the broker answers the next command.
  {
    id: 'ERROR-006a',
    title: 'handles the next command after an Error',
    clauses: ['ERROR-006'],
    profile: 'core',
    evidence: { frames: 5, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'goes-on');
      const faulty = { command: Command.CreateQueue, id: ctx.id(), queue: ctx.queue('x') };
      await client.send({ ...faulty, payload: '{"maxQueueSize":-1}' });
      await client.expect({ command: ['Error', 'CreateQueue'] });
      await client.publish(queue, '1');
      ctx.assert.equal(
        await messageCountOf(client, queue),
        1,
        'number of messages published after the Error',
      );
    },
  },
] satisfies readonly Check[];

/** Every command that has a positive answer, in an order in which all succeed. */
const answersByCommand: readonly (readonly [command: number, answer: number])[] = [
  [Command.CreateQueue, Command.CreateQueue],
  [Command.Subscribe, Command.SubscribeAck],
  [Command.Publish, Command.PublishAck],
  [Command.QueueInfo, Command.QueueInfo],
  [Command.ListQueues, Command.ListQueues],
  [Command.Ping, Command.Pong],
  [Command.Unsubscribe, Command.UnsubscribeAck],
  [Command.DeleteQueue, Command.DeleteQueue],
];

function nameOf(command: number): string {
  return Object.entries(Command).find(([, number]) => number === command)?.[0] ?? String(command);
}

async function expectUnknown(
  ctx: CheckContext,
  clause: 'CONN-026' | 'CONN-027',
  commands: readonly number[],
): Promise<void> {
  const client = await ctx.connect({ own: true });
  const queue = ctx.queue('unknown');
  for (const command of commands) {
    await client.send({ command, id: ctx.id(), queue });
    const error = await client.expect('Error');
    const isNamed = error.errorCode === 'UNKNOWN_COMMAND';
    ctx.should(isNamed, clause, `the error code for command ${command} is UNKNOWN_COMMAND`, {
      actual: error.errorCode,
    });
    await client.ping({ what: 'a Pong after the Error', clause: 'CONN-028' });
  }
}

function messageCountIn(info: ReceivedFrame): unknown {
  const fields = info.json() as JsonRecord | null | undefined;
  return fields === undefined ? undefined : requiredField(fields ?? {}, 'messageCount', inQueueInfo);
}
