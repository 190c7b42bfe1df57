// What the checks of faults share: something that breaks exactly one rule is sent, a Ping behind it, and what comes before the
// Pong is the broker's judgement. Any Error counts as a refusal, whatever its id; closing counts where the text allows it.
// Areas: FRAME, BODY, ERROR, QUEUE, PUBLISH.
import type { CheckContext } from '../../check.ts';
import type { ClosedHow, Connection } from '../../connection.ts';
import { frameText } from '../../trace.ts';
import { Command } from '../../wire/command.ts';
import { encodeFrame } from '../../wire/encode.ts';
import type { FrameFields, ReceivedFrame } from '../../wire/frame.ts';

export type Refusal = {
  /** The Error that came; undefined when the broker only closed the connection. */
  readonly error: ReceivedFrame | undefined;
  /** Whether the connection was still served afterwards. */
  readonly open: boolean;
};

/**
 * Sends the faulty command and judges what comes: Error, with or without closing, or closing alone. Everything else, no
 * Error at all included, fails the check.
 */
export async function expectRefused(
  ctx: CheckContext,
  connection: Connection,
  fields: FrameFields,
  what: string,
): Promise<Refusal> {
  await connection.send(fields);
  return readRefusal(ctx, connection, what);
}

/** The same for bytes that no field list describes: whole frames, so that the Ping behind them is read. */
export async function expectBytesRefused(
  ctx: CheckContext,
  connection: Connection,
  bytes: Buffer,
  what: string,
): Promise<Refusal> {
  await connection.sendRaw(bytes);
  return readRefusal(ctx, connection, what);
}

async function readRefusal(ctx: CheckContext, connection: Connection, what: string): Promise<Refusal> {
  const pingId = ctx.id('ping');
  await connection.send({ command: Command.Ping, id: pingId });
  const first = await connection.expectOrClosed(isNoDelivery, { what: `an Error because ${what}` });
  if (typeof first === 'string') return { error: undefined, open: false };
  if (first.id === pingId) return readLateRefusal(ctx, connection, what);
  requireError(ctx, first, what);
  const after = await connection.expectOrClosed({ command: 'Pong', id: pingId });
  return { error: first, open: typeof after !== 'string' };
}

/** The Pong came first. That answers keep their order is only recommended: the Error may still come. */
async function readLateRefusal(ctx: CheckContext, connection: Connection, what: string): Promise<Refusal> {
  const late = await connection.expectOrClosed('Error', { what: `an Error because ${what}` });
  ctx.warn('CONN-035', 'the Error came after the answer to a later command');
  return typeof late === 'string' ? { error: undefined, open: false } : { error: late, open: true };
}

function requireError(ctx: CheckContext, frame: ReceivedFrame, what: string): void {
  const detail = { expected: 'Error, or closing the connection', actual: frameText(frame) };
  ctx.assert.ok(frame.command === Command.Error, `it is refused: ${what}`, detail);
}

function isNoDelivery(frame: ReceivedFrame): boolean {
  return frame.command !== Command.Deliver;
}

/**
 * As `refusedCommand`, and the Error has this code. For checks whose level is that of the code. Closing without an Error is right
 * for INVALID_MESSAGE alone: the breach of a field rule.
 */
export async function expectRefusedWith(
  ctx: CheckContext,
  connection: Connection,
  fields: FrameFields,
  expected: { readonly code: string; readonly what: string },
): Promise<Refusal> {
  const refusal = await expectRefused(ctx, connection, fields, expected.what);
  const mayClose = expected.code === 'INVALID_MESSAGE';
  if (refusal.error === undefined && mayClose) return refusal;
  ctx.assert.equal(refusal.error?.errorCode, expected.code, `the code of the Error: ${expected.what}`);
  return refusal;
}

/** Hands out a connection, and a new one when the broker closed the last: for a series of faults that may each end one. */
export function connectAgainWhenClosed(ctx: CheckContext): (last?: Refusal) => Promise<Connection> {
  let current: Connection | undefined;
  return async (last) => {
    if (current === undefined || current.isClosed || last?.open === false) {
      current = await ctx.connect();
    }
    return current;
  };
}

/** How a broker took a framing fault. */
export type FaultOutcome = 'Error, then closed' | 'Error, still open' | 'closed' | 'read on';

/** Sends bytes with a framing fault and a Ping behind them; tells what became of the connection. */
export async function sendFramingFault(
  ctx: CheckContext,
  connection: Connection,
  bytes: Buffer,
): Promise<{ readonly outcome: FaultOutcome; readonly error: ReceivedFrame | undefined }> {
  const ping = encodeFrame({ command: Command.Ping, id: ctx.id('ping') });
  await connection.sendRaw(Buffer.concat([bytes, ping]));
  return readFaultOutcome(ctx, connection);
}

/** The same when the bytes have been sent and nothing behind them can be read. */
export async function readFaultOutcome(
  ctx: CheckContext,
  connection: Connection,
): Promise<{ readonly outcome: FaultOutcome; readonly error: ReceivedFrame | undefined }> {
  const first = await connection.expectOrClosed(() => true, { what: 'an Error, or the closing' });
  if (typeof first === 'string') return { outcome: 'closed', error: undefined };
  if (first.command === Command.Pong) return { outcome: 'read on', error: undefined };
  ctx.assert.ok(first.command === Command.Error, 'nothing is carried out for a faulty frame', {
    expected: 'Error, or closing the connection',
    actual: frameText(first),
  });
  const after: ReceivedFrame | ClosedHow = await connection.expectOrClosed('Pong');
  return { outcome: typeof after === 'string' ? 'Error, then closed' : 'Error, still open', error: first };
}

/**
 * Every way of taking a framing fault that keeps the MUSTs; all but the first are decided otherwise than recommended. `errorClause`
 * recommends the Error: FRAME-011 for a size over a limit.
 */
export function acceptFaultOutcome(
  ctx: CheckContext,
  outcome: FaultOutcome,
  errorClause: 'FRAME-011' | 'FRAME-012' = 'FRAME-012',
): void {
  ctx.acceptable(
    outcome,
    [
      { title: 'Error, then closed', when: (actual) => actual === 'Error, then closed' },
      {
        title: 'Error, still open',
        when: (actual) => actual === 'Error, still open',
        difference: { clause: 'FRAME-013', text: 'the connection stays open after a framing fault' },
      },
      {
        title: 'closed',
        when: (actual) => actual === 'closed',
        difference: { clause: errorClause, text: 'the connection is closed without an Error' },
      },
      {
        title: 'read on',
        when: (actual) => actual === 'read on',
        difference: { clause: errorClause, text: 'the faulty frame is passed over without a word' },
      },
    ],
    'a framing fault is answered by Error and closing, and nothing else happens',
  );
}
