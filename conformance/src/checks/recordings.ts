// The frames of an existing client, as they were recorded, sent again: each must be answered with the commands that answered it then,
// and with its id. Queues get names of their own where they may exist already. Areas: CONN, QUEUE, COMPRESS.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import type { GoldenFrame } from '../suite-data.ts';
import { Command } from '../wire/command.ts';
import { encodeFrame } from '../wire/encode.ts';

export const recordingChecks: CheckModule = [
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
  {
    id: 'QUEUE-001b',
    title: 'answers the recorded queue commands, publishes and acks of an existing client',
    clauses: ['QUEUE-001', 'CONN-006', 'DELIVERY-050', 'BODY-043'],
    profile: 'core',
    evidence: { frames: 20, messages: 3 },
    run: async (ctx) => {
      for (const frames of ctx.recording('queues-publish-deliver')) {
        const names = newQueueNames(ctx, frames);
        await replay(ctx, withoutRefusedCommands(frames), 'QUEUE-001', (frame) =>
          encodeFrame(withNewQueueName(frame, names)),
        );
      }
    },
  },
  {
    id: 'COMPRESS-016a',
    title: 'answers the recorded compressed frames of an existing client, replayed byte for byte',
    clauses: ['COMPRESS-016', 'COMPRESS-002', 'COMPRESS-003', 'CONN-006'],
    profile: 'compression',
    // Compressed bytes cannot be given other names: the queues must be nobody else's.
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

/** Sends the client's frames one after another, each when what the broker said until then has come: that each comes is `clause`. */
async function replay(
  ctx: CheckContext,
  frames: readonly GoldenFrame[],
  clause: string,
  bytesOf: (frame: GoldenFrame) => Buffer,
): Promise<void> {
  const client = await ctx.rawConnect();
  // In the recording a Deliver or an answer may come first: only that each comes before the next command counts.
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
    { what: `${command} with id ${frame.id}`, clause },
  );
  if (command !== 'Deliver') return;
  const sent = frames.find(
    ({ from, command: name, id }) => from === 'client' && name === 'Publish' && id === frame.id,
  );
  ctx.assert.sameJson(received.payload, sent?.payload ?? '', 'the payload delivered', 'DELIVERY-053');
}

/**
 * Without the commands that break a rule, and what answered them: whether those close the connection is open. And without the
 * second DeleteQueue of a queue, whose success is only recommended.
 */
function withoutRefusedCommands(frames: readonly GoldenFrame[]): readonly GoldenFrame[] {
  const isRefused = (frame: GoldenFrame, index: number): boolean =>
    frame.command === 'Error' || frames[index + 1]?.command === 'Error';
  const isRepeated = ({ command, queue, id }: GoldenFrame): boolean =>
    command === 'DeleteQueue' &&
    frames.find((other) => other.command === command && other.queue === queue)?.id !== id;
  return frames.filter((frame, index) => !isRefused(frame, index) && !isRepeated(frame));
}

/** A name of this check for each queue of the recording. */
function newQueueNames(ctx: CheckContext, frames: readonly GoldenFrame[]): ReadonlyMap<string, string> {
  const recordedNames = frames.map(({ queue }) => queue).filter((queue) => queue !== '');
  return new Map([...recordedNames, 'orders.failed'].map((name) => [name, ctx.queue(name)]));
}

/** The frame with other queue names; all else stays, so it differs from the recorded bytes in nothing else. */
function withNewQueueName(frame: GoldenFrame, names: ReadonlyMap<string, string>) {
  const { id, headers } = frame;
  const command = Command[frame.command as keyof typeof Command];
  const payload = frame.payload.replace('"orders.failed"', JSON.stringify(names.get('orders.failed')));
  return { command, id, queue: names.get(frame.queue) ?? '', payload, headers };
}
