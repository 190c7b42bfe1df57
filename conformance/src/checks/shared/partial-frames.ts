// Half a frame that the broker has certainly read: a whole Ping goes before it in the same piece, and its Pong is awaited. Area: FRAME.
import type { CheckContext } from '../../check.ts';
import type { Connection } from '../../connection.ts';
import { Command } from '../../wire/command.ts';
import { encodeFrame } from '../../wire/encode.ts';
import type { FrameFields } from '../../wire/frame.ts';

export function pingFields(ctx: CheckContext): FrameFields {
  return { command: Command.Ping, id: ctx.id('ping') };
}

/** Sends a frame but for its last four bytes; returns those, to be sent later. */
export async function sendPartialFrame(
  ctx: CheckContext,
  connection: Connection,
  frame: Buffer,
): Promise<Buffer> {
  const ping = pingFields(ctx);
  await connection.sendPieces([Buffer.concat([encodeFrame(ping), frame.subarray(0, -4)])]);
  await connection.expect({ command: 'Pong', id: ping.id });
  return frame.subarray(-4);
}
