// Tries the handshake and, if it fails, finds the reason: each wrong form of framing and each missing flush is tried on its own
// connection. Areas: FRAME, CONN, AUTH.
import type { Endpoints } from '../target/target-file.ts';
import type { Timing } from '../timing.ts';
import { frameText } from '../trace.ts';
import { Command } from '../wire/command.ts';
import type { Credentials } from '../wire/credentials.ts';
import { encodeBody } from '../wire/encode.ts';
import type { DecodedBody } from '../wire/frame.ts';
import type { DoctorFinding } from './finding.ts';
import type { Framing } from './framings.ts';
import { answerIn, rightFraming, wrongFramings } from './framings.ts';
import type { RawAnswer, RawQuestion } from './raw-exchange.ts';
import { exchange } from './raw-exchange.ts';
import { seconds, slowFactor } from './slow-answers.ts';

export type HandshakeResult =
  | { readonly kind: 'welcome'; readonly elapsedMs: number; readonly answer: DecodedBody }
  | { readonly kind: 'fault'; readonly finding: DoctorFinding };

/** Where the broker is, and who connects. */
type Access = { readonly tcp: Endpoints['tcp']; readonly credentials: Credentials };

function connectOf(credentials: Credentials): Buffer {
  const headers = { clientVersion: 'doctor', ...credentials };
  return encodeBody({ command: Command.Connect, id: 'doctor-1', headers });
}

const ping = encodeBody({ command: Command.Ping, id: 'doctor-2' });

export async function tryHandshake(access: Access, timing: Timing): Promise<HandshakeResult> {
  const withinMs = timing.answerMs * slowFactor;
  const first = await exchange(access.tcp, question(access, rightFraming, withinMs));
  const answer = answerIn(first.bytes, rightFraming);
  if (answer !== undefined) return judged(answer, first.elapsedMs, access);
  const finding =
    wrongForm([first]) ??
    (await notFlushed(access, timing)) ??
    (await otherForm(access, withinMs)) ??
    silence(first);
  return { kind: 'fault', finding };
}

function judged(answer: DecodedBody, elapsedMs: number, { credentials }: Access): HandshakeResult {
  if (answer.command === Command.ConnectAck) return { kind: 'welcome', elapsedMs, answer };
  const shown = frameText(answer);
  const mistake = /AUTH/i.test(answer.errorCode) ? 'credentials' : 'refused';
  const who = Object.keys(credentials).length === 0 ? 'without credentials' : 'with the given credentials';
  return { kind: 'fault', finding: { mistake, seen: `Connect ${who} was answered by ${shown}` } };
}

function question(
  { credentials }: Access,
  framing: Framing,
  withinMs: number,
  more: Partial<RawQuestion> = {},
): RawQuestion {
  const isEnough = (bytes: Buffer): boolean => answerIn(bytes, framing) !== undefined;
  return { bytes: framing.encode(connectOf(credentials)), withinMs, isEnough, ...more };
}

/** A finding if the answer comes only after more was sent, or after the client has closed its side. */
async function notFlushed(access: Access, timing: Timing): Promise<DoctorFinding | undefined> {
  const withinMs = timing.answerMs * 2;
  const then = { afterMs: timing.answerMs / 2, bytes: rightFraming.encode(ping) };
  const [later, atClose] = await Promise.all([
    exchange(access.tcp, question(access, rightFraming, withinMs, { then })),
    exchange(access.tcp, question(access, rightFraming, withinMs, { close: true })),
  ]);
  const came = (answer: RawAnswer): boolean => answerIn(answer.bytes, rightFraming) !== undefined;
  const when = came(later)
    ? 'after a Ping was sent too'
    : 'after the client had closed its side of the connection';
  if (!came(later) && !came(atClose)) return undefined;
  return { mistake: 'not-flushed', seen: `the answer to Connect came only ${when}` };
}

async function otherForm(access: Access, withinMs: number): Promise<DoctorFinding | undefined> {
  const answers = await Promise.all(
    wrongFramings.map((framing) => exchange(access.tcp, question(access, framing, withinMs / 2))),
  );
  const index = wrongFramings.findIndex(
    (framing, at) => answerIn(answers[at]?.bytes ?? Buffer.alloc(0), framing) !== undefined,
  );
  const found = wrongFramings[index];
  if (found === undefined) return wrongForm(answers);
  return { mistake: 'length-prefix', seen: `a Connect was answered whose length prefix ${found.title}` };
}

/** A finding if the received bytes make a frame with a wrong length prefix. */
function wrongForm(answers: readonly RawAnswer[]): DoctorFinding | undefined {
  for (const { bytes } of answers) {
    const found = wrongFramings.find((framing) => answerIn(bytes, framing) !== undefined);
    if (found !== undefined)
      return {
        mistake: 'length-prefix',
        seen: `an answer came whose length prefix ${found.title}: ${bytes.subarray(0, 12).toString('hex')}..`,
      };
  }
  return undefined;
}

function silence({ bytes, end, elapsedMs, reason = '' }: RawAnswer): DoctorFinding {
  if (bytes.length > 0) {
    const shown = JSON.stringify(bytes.subarray(0, 40).toString('latin1'));
    return { mistake: 'no-answer', seen: `the answer to Connect is not a frame: ${shown}` };
  }
  const ends = {
    closed: 'Connect was answered by closing the connection',
    'no connection': `no connection: ${reason}`,
    'time over': `Connect was not answered within ${seconds(elapsedMs)}`,
    enough: 'Connect was answered by something else',
  } as const;
  return { mistake: 'no-answer', seen: ends[end] };
}
