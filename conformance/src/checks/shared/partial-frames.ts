// Sends part of a frame and makes sure that the broker has read it: a complete Ping precedes it in the same piece. Area: FRAME.
import type { CheckContext } from '../../check.ts';
import type { Connection } from '../../connection.ts';
import { Command } from '../../wire/command.ts';
import { encodeFrame } from '../../wire/encode.ts';
import type { FrameFields } from '../../wire/frame.ts';

export function pingFields(ctx: CheckContext): FrameFields {
  return { command: Command.Ping, id: ctx.id('ping') };
}

/** Sends a frame without its last four bytes and waits for the Pong of a preceding Ping. Returns the last four bytes. */
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
