// Sends frames in parts and makes sure that the broker has read a part: by a complete Ping in front of it in the same piece, or by the Pong
// of another client. Area: FRAME.
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

/**
 * Sends each byte of a frame on its own. The Pong of another client shows that the broker has read a byte, so that TCP cannot join it with
 * the next one. All these Pings together take about a tenth of frameTimeout at most, or two answers: on a slow network only some of the
 * bytes have one, spread over the frame, so that a broker that closes connections whose frames take too long does not close this one.
 */
export async function sendBytewise(
  ctx: CheckContext,
  connection: Connection,
  other: Connection,
  frame: Buffer,
): Promise<void> {
  const startedAt = ctx.now();
  const maxMs = ctx.target.frameTimeoutMs / 10;
  // However slow the network, the broker has a part of the head alone, and a part of the body.
  const always = [0, Math.floor(frame.length / 2)];
  for (const [index, byte] of frame.entries()) {
    await connection.sendPieces([Buffer.from([byte])]);
    const isInTime = ctx.now() - startedAt <= (maxMs * (index + 1)) / frame.length;
    if (isInTime || always.includes(index)) await other.ping();
  }
}
