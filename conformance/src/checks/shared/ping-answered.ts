// Shared by the checks of blocked publishes: whether the broker still reads from a connection. Areas: OVERFLOW, PUBLISH, QUEUE.
import type { CheckContext } from '../../check.ts';
import type { Connection } from '../../connection.ts';
import { Command } from '../../wire/command.ts';
import { waitUntil } from './retry-attempts.ts';

/**
 * Whether a Ping is answered within `ctx.timing.silenceMs` and until the broker has answered a later Ping of the witness: a broker that had
 * no processor for so long has not stopped reading. By then, a broker that still reads has read everything sent before.
 */
export async function isPingAnswered(
  ctx: CheckContext,
  connection: Connection,
  witness: Connection,
): Promise<boolean> {
  const id = ctx.id('ping');
  await connection.send({ command: Command.Ping, id });
  const isAnswered = (): boolean => connection.received.some((frame) => frame.id === id);
  const until = ctx.now() + ctx.timing.silenceMs;
  while (!isAnswered() && ctx.now() < until) await waitUntil(ctx, ctx.now() + 10);
  if (isAnswered()) return true;
  const { atMs } = await witness.ping({ clause: 'OVERFLOW-013' });
  // A broker with a thread for each connection may have answered the later Ping first.
  await waitUntil(ctx, atMs + 10);
  return isAnswered();
}
