// Whether a frame is the one that was recorded: everything that the broker chose for itself is left out (its name, times, texts for
// people, ids of its own), everything else must be equal. Pure. Areas: BODY, CONN, QUEUE.
import { isDeepStrictEqual } from 'node:util';
import { Command } from '../wire/command.ts';
import type { DecodedBody } from '../wire/frame.ts';

type Frame = Pick<DecodedBody, 'command' | 'id' | 'queue' | 'payload' | 'headers' | 'errorCode'>;

export type FrameDifference = { readonly field: string; readonly recorded: unknown; readonly came: unknown };

/** Header values and properties that every broker chooses for itself, or that are times. */
const ownHeaders: ReadonlySet<string> = new Set(['serverVersion', 'connectionId', 'deadLetteredAt']);
const ownProperties: ReadonlySet<string> = new Set(['createdAt']);

/** The first field in which they differ. `names`: what the names of this replay begin with. */
export function frameDifference(
  recorded: Frame,
  came: Frame,
  { names, ids }: { readonly names: string; readonly ids: ReadonlySet<string> },
): FrameDifference | undefined {
  const pairs: readonly (readonly [string, unknown, unknown])[] = [
    ['command', recorded.command, came.command],
    ['id', sentId(recorded, ids), sentId(came, ids)],
    ['queue', recorded.queue, came.queue],
    ['errorCode', recorded.errorCode, came.errorCode],
    ['headers', headersOf(recorded), headersOf(came)],
    ['payload', payloadOf(recorded, names), payloadOf(came, names)],
  ];
  const found = pairs.find(([, one, other]) => !isDeepStrictEqual(one, other));
  return found === undefined ? undefined : { field: found[0], recorded: found[1], came: found[2] };
}

/** An id that nobody sent is the broker's own: any will do. */
function sentId({ id, command }: Frame, ids: ReadonlySet<string>): string {
  return ids.has(id) && command !== Command.ConnectAck ? id : 'an id of its own';
}

function headersOf({ headers }: Frame): Readonly<Record<string, string>> {
  return Object.fromEntries(headers.map(([name, value]) => [name, ownHeaders.has(name) ? 'any' : value]));
}

function payloadOf({ command, payload }: Frame, names: string): unknown {
  const text = payload.toString('latin1');
  if (command !== Command.QueueInfo && command !== Command.ListQueues) return text;
  const value = parsed(payload.toString('utf8'));
  if (Array.isArray(value)) return value.filter((name) => String(name).startsWith(names)).sort();
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !ownProperties.has(name)));
}

function parsed(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
}
