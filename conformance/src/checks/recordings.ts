// Checks that send recorded frames of an existing client. The broker must answer with the recorded commands and ids. Queues have new
// names where the recorded names may already exist. Areas: CONN, QUEUE, COMPRESS, AUTH.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import type { GoldenFrame } from '../suite-data.ts';
import { answerRule } from '../wire/check-traffic.ts';
import { Command } from '../wire/command.ts';
import { encodeFrame } from '../wire/encode.ts';
import type { FrameFields } from '../wire/frame.ts';
import { withToken, withUsers } from './shared/users.ts';

export const recordingChecks: CheckModule = [
  // CONN-019 (MUST): The broker answers a Ping after Connect by Pong.
  {
    id: 'CONN-019a',
    title: 'answers the recorded pings of an existing client, replayed byte for byte',
    clauses: ['CONN-019', 'CONN-020', 'CONN-024'],
    profile: 'core',
    evidence: { frames: 3, assertions: 4 },
    run: async (ctx) => {
      for (const frames of ctx.recording('keep-alive')) {
        await replay(ctx, frames, 'CONN-019', (frame) => Buffer.from(frame.hex, 'hex'));
      }
    },
  },
  // QUEUE-001 (MUST): The broker creates a queue with the options in the payload of CreateQueue, and answers by a
  // CreateQueue with the id of the command.
  {
    id: 'QUEUE-001b',
    title: 'answers the recorded queue commands, publishes and acks of an existing client',
    clauses: ['QUEUE-001', 'CONN-006', 'DELIVERY-050', 'BODY-043'],
    profile: 'core',
    evidence: { frames: 20, messages: 3 },
    run: async (ctx) => {
      for (const frames of ctx.recording('queues-publish-deliver')) {
        const names = newQueueNames(ctx, frames);
        const sent = withoutRefusedCommands(frames);
        await replay(ctx, sent, 'answer', (frame) => encodeFrame(withNewQueueName(frame, names)));
      }
    },
  },
  // COMPRESS-016 (MUST): The broker delivers a message with the same fields, whether its Publish was compressed or not.
  {
    id: 'COMPRESS-016a',
    title: 'answers the recorded compressed frames of an existing client, replayed byte for byte',
    clauses: ['COMPRESS-016', 'COMPRESS-002', 'COMPRESS-003', 'CONN-006'],
    profile: 'compression',
    // Queue names in compressed bytes cannot be replaced, so no other check may use the queues.
    isolation: 'fresh',
    evidence: { frames: 12, messages: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      for (const frames of ctx.recording('compression')) {
        const { queue } = frames.find(({ command }) => command === 'Subscribe') ?? { queue: '' };
        await client.createQueue(queue);
        await replay(ctx, frames, 'COMPRESS-016', (frame) => Buffer.from(frame.hex, 'hex'));
      }
    },
  },
  // AUTH-001 (MUST): When a token is configured, the broker accepts a Connect whose header authToken equals it.
  {
    id: 'AUTH-001b',
    title: 'answers the recorded Connects of an existing client with the right token and with another one',
    clauses: ['AUTH-001', 'AUTH-002'],
    ...withToken,
    // The frames are sent as they are, so no other check may use the queue.
    isolation: 'fresh',
    evidence: { frames: 3, assertions: 3 },
    run: (ctx) => replayInOrder(ctx, 'token'),
  },
  // AUTH-005 (MUST): When authorization is on, the broker accepts a Connect whose headers authUsername and authPassword
  // name a user and its password.
  {
    id: 'AUTH-005b',
    title: 'answers the recorded commands of an existing client about users and rights',
    clauses: [
      'AUTH-005',
      'AUTH-006',
      'AUTH-016',
      'AUTH-035',
      'AUTH-036',
      'AUTH-038',
      'AUTH-039',
      'AUTH-040',
      'AUTH-041',
      'AUTH-042',
      'AUTH-043',
      'AUTH-045',
    ],
    ...withUsers,
    isolation: 'fresh',
    evidence: { frames: 22, assertions: 20 },
    run: (ctx) => replayInOrder(ctx, 'users-and-permissions'),
  },
] satisfies readonly Check[];

/**
 * Sends the recorded frames of all connections byte for byte, in their order, each after the broker has sent what it sent before. An Error
 * may have another id and code; everything else must be as recorded.
 */
async function replayInOrder(ctx: CheckContext, title: string): Promise<void> {
  const connections = ctx.recording(title).filter(hasCredentials).map(withoutUnconnected);
  const clients = new Map<number, Connection>();
  const steps = connections.flatMap((frames, index) => frames.map((frame) => ({ index, frame, frames })));
  for (const { index, frame, frames } of steps.sort((a, b) => a.frame.seq - b.frame.seq)) {
    const client = clients.get(index) ?? (await ctx.rawConnect());
    clients.set(index, client);
    if (frame.from === 'client') await client.sendRaw(Buffer.from(frame.hex, 'hex'));
    else if (frame.command === 'Error') await expectRecordedError(ctx, client, { frame, frames });
    else await expectRecorded(ctx, client, { frames, index: frames.indexOf(frame), clause: 'answer' });
  }
}

/** How a Connect without credentials is answered is only recommended. */
function hasCredentials(frames: readonly GoldenFrame[]): boolean {
  return frames.every(({ errorCode }) => errorCode !== 'AUTH_REQUIRED');
}

/** Without what follows a refused Connect: a broker may close the connection then. */
function withoutUnconnected(frames: readonly GoldenFrame[]): readonly GoldenFrame[] {
  const [connect, answer] = frames;
  return connect !== undefined && answer?.command === 'Error' ? [connect, answer] : frames;
}

/** Recommendations about the code of an Error: another code, or another answer, is a difference. */
const recommendations: Readonly<Record<string, string>> = {
  AUTH_FAILED: 'AUTH-004',
  NOT_AUTHORIZED: 'AUTH-021',
  USER_EXISTS: 'AUTH-048',
  USER_NOT_FOUND: 'AUTH-049',
  FORBIDDEN: 'AUTH-050',
};

async function expectRecordedError(
  ctx: CheckContext,
  client: Connection,
  { frame, frames }: { readonly frame: GoldenFrame; readonly frames: readonly GoldenFrame[] },
): Promise<void> {
  const { errorCode: code = '', id } = frame;
  const required = refusalRule(frame, frames);
  const answer = await client.expect((one) => one.command === Command.Error || one.id === id, {
    what: `the answer that was recorded as ${code}`,
    withinMs: ctx.timing.passwordMs,
    ...(required === undefined ? {} : { clause: required }),
  });
  if (required !== undefined)
    ctx.assert.equal(answer.commandName, 'Error', `the answer that was recorded as ${code}`, required);
  const text = `the error code is ${code}, as recorded`;
  const detail = { expected: code, actual: answer.errorCode };
  ctx.should(answer.errorCode === code, recommendations[code] ?? 'AUTH-021', text, detail);
}

/** The MUST by which the broker refuses the command; undefined if the refusal is only recommended. */
function refusalRule({ errorCode, id }: GoldenFrame, frames: readonly GoldenFrame[]): string | undefined {
  const [connect] = frames;
  const isToken = connect?.headers.some(([name]) => name === 'authToken') === true;
  if (errorCode === 'AUTH_FAILED') return isToken ? 'AUTH-002' : 'AUTH-006';
  if (errorCode !== 'NOT_AUTHORIZED') return undefined;
  const asked = frames.find((frame) => frame.from === 'client' && frame.id === id);
  return asked?.command.startsWith('Admin') === true ? 'AUTH-045' : 'AUTH-016';
}

/**
 * Sends the recorded frames of the client, each after the broker has sent the recorded frames before it, as `clause` requires; `answer` stands for
 * the requirement by which the command is answered.
 */
async function replay(
  ctx: CheckContext,
  frames: readonly GoldenFrame[],
  clause: string,
  bytesOf: (frame: GoldenFrame) => Buffer,
): Promise<void> {
  const client = await ctx.rawConnect();
  // The order of a Deliver and an answer may differ from the recording. Each must arrive before the next command is sent.
  for (const [index, frame] of frames.entries()) {
    if (frame.from === 'broker') await expectRecorded(ctx, client, { frames, index, clause });
    else if (frame.command === 'Connect' && needsCredentials(ctx)) await client.send(connectOf(frame));
    else await client.sendRaw(bytesOf(frame));
  }
  await client.closed({ clause: 'CONN-024' });
}

function needsCredentials(ctx: CheckContext): boolean {
  return Object.keys(ctx.target.credentials).length > 0;
}

/** The recorded Connect as fields, to which the connection adds the credentials of the target. */
function connectOf({ id, headers }: GoldenFrame): FrameFields {
  return { command: Command.Connect, id, headers };
}

async function expectRecorded(
  ctx: CheckContext,
  client: Connection,
  { frames, index, clause }: { frames: readonly GoldenFrame[]; index: number; clause: string },
): Promise<void> {
  const frame = frames[index];
  if (frame === undefined) return;
  const { command } = frame;
  const received = await client.expect(
    (candidate) =>
      candidate.commandName === command && (command === 'ConnectAck' || candidate.id === frame.id),
    {
      what: `${command} with id ${frame.id}`,
      withinMs: ctx.timing.passwordMs,
      ...clauseOf(frame, frames, clause),
    },
  );
  if (command !== 'Deliver') return;
  const sent = frames.find(
    ({ from, command: name, id }) => from === 'client' && name === 'Publish' && id === frame.id,
  );
  ctx.assert.sameJson(received.payload, sent?.payload ?? '', 'the delivered payload', 'DELIVERY-053');
}

function clauseOf(
  { command, id }: GoldenFrame,
  frames: readonly GoldenFrame[],
  clause: string,
): { readonly clause?: string } {
  if (clause !== 'answer') return { clause };
  const asked = frames.find((frame) => frame.from === 'client' && frame.id === id);
  const rule =
    command === 'Deliver' ? 'DELIVERY-050' : answerRule(Command[asked?.command as keyof typeof Command]);
  return rule === undefined ? {} : { clause: rule };
}

/**
 * Without faulty commands and their answers, since the broker may close the connection after them; and without the second DeleteQueue of a
 * queue, whose success is only recommended.
 */
function withoutRefusedCommands(frames: readonly GoldenFrame[]): readonly GoldenFrame[] {
  const isRefused = (frame: GoldenFrame, index: number): boolean =>
    frame.command === 'Error' || frames[index + 1]?.command === 'Error';
  const isRepeated = ({ command, queue, id }: GoldenFrame): boolean =>
    command === 'DeleteQueue' &&
    frames.find((other) => other.command === command && other.queue === queue)?.id !== id;
  return frames.filter((frame, index) => !isRefused(frame, index) && !isRepeated(frame));
}

/** A new queue name for each queue name of the recording. */
function newQueueNames(ctx: CheckContext, frames: readonly GoldenFrame[]): ReadonlyMap<string, string> {
  const recordedNames = frames.map(({ queue }) => queue).filter((queue) => queue !== '');
  return new Map([...recordedNames, 'orders.failed'].map((name) => [name, ctx.queue(name)]));
}

/** The frame with the new queue names and otherwise the recorded fields. */
function withNewQueueName(frame: GoldenFrame, names: ReadonlyMap<string, string>) {
  const { id, headers } = frame;
  const command = Command[frame.command as keyof typeof Command];
  const payload = frame.payload.replace('"orders.failed"', JSON.stringify(names.get('orders.failed')));
  return { command, id, queue: names.get(frame.queue) ?? '', payload, headers };
}
