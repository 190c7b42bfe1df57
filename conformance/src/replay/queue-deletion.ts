// Deletes the queues of a trace on an attached broker: before the replay, which must not find the messages of an earlier one, and after it.
import { ExpectationFailure } from '../expectation.ts';
import { ProbeClient } from '../observation/probe-client.ts';
import type { Endpoints } from '../target/target-file.ts';
import type { Timing } from '../timing.ts';
import type { TraceFile } from '../trace-file.ts';
import { Command } from '../wire/command.ts';
import type { Credentials } from '../wire/credentials.ts';
import { framesIn } from './frame-difference.ts';

export type QueueDeletion = {
  readonly tcp: Endpoints['tcp'];
  readonly timing: Timing;
  readonly credentials: Credentials;
};

/** Does nothing if the broker does not let it: the replay shows how the broker answers. */
export async function deleteQueues(
  trace: TraceFile,
  { tcp, timing, credentials }: QueueDeletion,
): Promise<void> {
  const client = new ProbeClient({ tcp, timing, name: 'replay', credentials });
  try {
    const connection = await client.connect();
    for (const queue of queuesOf(trace))
      await connection.request({ command: Command.DeleteQueue, id: client.id(), queue });
    await connection.disconnect();
  } catch (error) {
    if (!(error instanceof ExpectationFailure)) throw error;
  } finally {
    client.close();
  }
}

/** The queues in the frames of the trace whose names no other check uses, and their generated dead letter queues. */
function queuesOf({ names, events }: TraceFile): readonly string[] {
  if (names === undefined) return [];
  const frames = events.flatMap(({ hex }) => framesIn(Buffer.from(hex, 'hex')).frames);
  const queues = frames.map(({ queue }) => queue).filter((queue) => queue.startsWith(`${names}.`));
  return [...new Set(queues.flatMap((queue) => [queue, `${queue}.dlq`]))];
}
