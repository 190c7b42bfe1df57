// A frame that is longer than this client accepts: whose message it is, as far as its first bytes say, and what to do. The client has to leave
// the connection, because it keeps no frame so long; a broker would send the message again on the next one. Implements what client.md says of it.

import { inflateStart } from '../compression/zlib-compressor.ts';
import { algorithmOf } from '../protocol/compression.ts';
import type { OversizedFrame } from '../protocol/fault.ts';
import { ConnectionError } from './errors.ts';
import { MAX_INT32 } from './reconnect-schedule.ts';

/** What the first bytes of a body say; see protocol/message.ts. */
export type FrameStart = { readonly command: number; readonly queue: string };

/** Undefined when too little of the frame has arrived. Never rejects. */
export async function readFrameStart({ flags, start }: OversizedFrame): Promise<FrameStart | undefined> {
  const algorithm = algorithmOf(flags);
  const body = algorithm === undefined ? start : await inflateStart(algorithm, start);
  if (body.length < 4) return undefined;
  const queueAt = 4 + body.readUInt16BE(2);
  if (body.length < queueAt + 2) return undefined;
  const queueEnd = queueAt + 2 + body.readUInt16BE(queueAt);
  if (body.length < queueEnd) return undefined;
  return { command: body[1] ?? 0, queue: body.toString('utf8', queueAt + 2, queueEnd) };
}

/** Whether it can be a message of this protocol at all: no limit of a client is larger. */
export function isPlausible({ bodyBytes }: OversizedFrame): boolean {
  return bodyBytes <= MAX_INT32;
}

/** The four bytes of a length, as they come from what is no broker: the text HTTP, and an alert of TLS. */
const HTTP_START = 0x48_54_54_50;
const TLS_ALERT_START = 0x1503;

/** What answers where a broker was expected; undefined: nobody can tell. */
export function strangerAt({ bodyBytes }: OversizedFrame): string | undefined {
  if (bodyBytes === HTTP_START) return 'an HTTP server answers there, and no broker';
  // Of each version of TLS.
  return bodyBytes >>> 16 === TLS_ALERT_START
    ? 'what answers there expects TLS; useTls: true uses it'
    : undefined;
}

/** `queue`: that of the message; undefined for an answer, and when it is not known. */
export function oversizedError(
  { bodyBytes, flags }: OversizedFrame,
  limitBytes: number,
  queue: string | undefined,
): ConnectionError {
  const what = queue === undefined ? 'a message' : `a message of queue ${JSON.stringify(queue)}`;
  const [size, least] = sizeAndLeast(bodyBytes, limitBytes, algorithmOf(flags) !== undefined);
  return new ConnectionError(
    'MESSAGE_TOO_LARGE',
    `${what} has ${size}, and this client accepts at most ${limitBytes}: raise its maxMessageSizeBytes ${least}`,
  );
}

/** How long a compressed body is when decompressed, nobody has counted: it was left when it exceeded the limit, or before. */
function sizeAndLeast(
  bodyBytes: number,
  limitBytes: number,
  isCompressed: boolean,
): readonly [string, string] {
  if (!isCompressed) return [`${bodyBytes} bytes`, `to at least ${bodyBytes}`];
  if (bodyBytes <= limitBytes) return [`more than ${limitBytes} bytes`, 'beyond that'];
  return [`${bodyBytes} bytes when compressed`, `to more than ${bodyBytes}`];
}
