// Shared by the checks of faulty commands and frames: they send bytes that violate one rule and then a Ping. What arrives before the
// Pong is the answer. Any Error is a refusal, whatever its id; closing the connection is one where the specification allows it. Areas:
// FRAME, BODY, ERROR, QUEUE, PUBLISH.
import type { CheckContext } from '../../check.ts';
import type { CloseKind, Connection } from '../../connection.ts';
import { frameText } from '../../trace.ts';
import { Command } from '../../wire/command.ts';
import { encodeFrame } from '../../wire/encode.ts';
import type { FrameFields, ReceivedFrame } from '../../wire/frame.ts';

export type Refusal = {
  /** The Error; undefined when the broker only closed the connection. */
  readonly error: ReceivedFrame | undefined;
  /** The broker answered the Ping after the Error. */
  readonly open: boolean;
};

/** What is to be refused. */
type Refused = {
  /** What is wrong with it: continues "the broker refuses the command because". */
  readonly what: string;
  /** Other requirements whose breach lets the broker accept it. */
  readonly possibleCauses?: readonly string[];
};

/**
 * Sends the faulty command and asserts that the broker refuses it: with an Error, by closing the connection, or both. Any other answer, or
 * no answer, fails the check.
 */
export async function expectRefused(
  ctx: CheckContext,
  connection: Connection,
  fields: FrameFields,
  what: string,
  possibleCauses: readonly string[] = [],
): Promise<Refusal> {
  return sendRefused(ctx, connection, fields, { what, possibleCauses });
}

async function sendRefused(
  ctx: CheckContext,
  connection: Connection,
  fields: FrameFields,
  refused: Refused,
): Promise<Refusal> {
  await connection.send(fields);
  return readRefusal(ctx, connection, refused);
}

/** The same for complete frames that `FrameFields` cannot describe. */
export async function expectBytesRefused(
  ctx: CheckContext,
  connection: Connection,
  bytes: Buffer,
  what: string,
): Promise<Refusal> {
  await connection.sendRaw(bytes);
  return readRefusal(ctx, connection, { what });
}

async function readRefusal(ctx: CheckContext, connection: Connection, refused: Refused): Promise<Refusal> {
  const { what } = refused;
  const pingId = ctx.id('ping');
  await connection.send({ command: Command.Ping, id: pingId });
  const first = await connection.expectOrClosed(isNoDelivery, { what: `an Error because ${what}` });
  if (typeof first === 'string') return { error: undefined, open: false };
  if (first.id === pingId) return readLateRefusal(ctx, connection, what);
  requireError(ctx, first, refused);
  const after = await connection.expectOrClosed({ command: 'Pong', id: pingId });
  return { error: first, open: typeof after !== 'string' };
}

/** The Pong arrived first. The order of answers is only recommended, so the Error may still arrive. */
async function readLateRefusal(ctx: CheckContext, connection: Connection, what: string): Promise<Refusal> {
  const late = await connection.expectOrClosed('Error', { what: `an Error because ${what}` });
  ctx.warn('CONN-035', 'the Error arrived after the answer to a later command');
  return typeof late === 'string' ? { error: undefined, open: false } : { error: late, open: true };
}

function requireError(ctx: CheckContext, frame: ReceivedFrame, { what, possibleCauses = [] }: Refused): void {
  const detail = { expected: 'Error, or closing the connection', actual: frameText(frame), possibleCauses };
  ctx.assert.ok(frame.command === Command.Error, `the broker refuses the command because ${what}`, detail);
}

function isNoDelivery(frame: ReceivedFrame): boolean {
  return frame.command !== Command.Deliver;
}

/**
 * As `expectRefused`, and asserts the error code. For checks whose level is that of the rule for the error code. Closing without an Error
 * is allowed only for INVALID_MESSAGE, the violation of a field rule.
 */
export async function expectRefusedWith(
  ctx: CheckContext,
  connection: Connection,
  fields: FrameFields,
  expected: Refused & { readonly code: string },
): Promise<Refusal> {
  const refusal = await sendRefused(ctx, connection, fields, expected);
  const mayClose = expected.code === 'INVALID_MESSAGE';
  if (refusal.error === undefined && mayClose) return refusal;
  ctx.assert.equal(refusal.error?.errorCode, expected.code, `the error code, when ${expected.what}`);
  return refusal;
}

/** Returns a function that supplies a connection, and a new one after the broker closed the last. For a series of faulty commands. */
export function connectAgainWhenClosed(ctx: CheckContext): (last?: Refusal) => Promise<Connection> {
  let current: Connection | undefined;
  return async (last) => {
    if (current === undefined || current.isClosed || last?.open === false) {
      current = await ctx.connect();
    }
    return current;
  };
}

/** How the broker answered a framing fault. `ignored`: it sent no Error and answered the next command. */
export type FaultOutcome = 'Error, then closed' | 'Error, still open' | 'closed' | 'ignored';

/** Sends bytes with a framing fault, followed by a Ping, and returns how the broker answered. */
export async function sendFramingFault(
  ctx: CheckContext,
  connection: Connection,
  bytes: Buffer,
): Promise<{ readonly outcome: FaultOutcome; readonly error: ReceivedFrame | undefined }> {
  const ping = encodeFrame({ command: Command.Ping, id: ctx.id('ping') });
  await connection.sendRaw(Buffer.concat([bytes, ping]));
  return readFaultOutcome(ctx, connection);
}

/** Reads the answer when the bytes were sent already and the broker cannot read a Ping after them. */
export async function readFaultOutcome(
  ctx: CheckContext,
  connection: Connection,
): Promise<{ readonly outcome: FaultOutcome; readonly error: ReceivedFrame | undefined }> {
  const first = await connection.expectOrClosed(() => true, {
    what: 'an Error, or the closing of the connection',
  });
  if (typeof first === 'string') return { outcome: 'closed', error: undefined };
  if (first.command === Command.Pong) return { outcome: 'ignored', error: undefined };
  ctx.assert.ok(first.command === Command.Error, 'a faulty frame is not carried out', {
    expected: 'Error, or closing the connection',
    actual: frameText(first),
  });
  const after: ReceivedFrame | CloseKind = await connection.expectOrClosed('Pong');
  return { outcome: typeof after === 'string' ? 'Error, then closed' : 'Error, still open', error: first };
}

/**
 * Accepts every outcome that the specification allows. All except the first deviate from a recommendation and cause a warning. `errorClause`
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
        title: 'ignored',
        when: (actual) => actual === 'ignored',
        difference: { clause: errorClause, text: 'the faulty frame is ignored without an Error' },
      },
    ],
    'the answer to a framing fault',
  );
}
