// Checks that send recorded frames of an existing client. The broker must answer with the recorded commands and ids. Queues have new
// names where the recorded names may already exist. Areas: CONN, QUEUE, COMPRESS.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import type { GoldenFrame } from '../suite-data.ts';
import { answerRule } from '../wire/check-traffic.ts';
import { Command } from '../wire/command.ts';
import { encodeFrame } from '../wire/encode.ts';

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
] satisfies readonly Check[];

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
    if (frame.from === 'client') await client.sendRaw(bytesOf(frame));
    else await expectRecorded(ctx, client, { frames, index, clause });
  }
  await client.closed({ clause: 'CONN-024' });
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
    { what: `${command} with id ${frame.id}`, ...clauseOf(frame, frames, clause) },
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
