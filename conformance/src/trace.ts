// What went over the wire during one check, in order: kept so that a failure can be read without running it again. Within bounds: a
// check that sends a gigabyte does not take one, and what is missing is marked. Nothing is judged here.
import type { DecodedBody } from './wire/frame.ts';

export type TraceEvent = {
  readonly atMs: number;
  /** The connection's name, `A`, `B`, .., `http`, or `*` for all of them. */
  readonly connection: string;
  readonly kind: 'opened' | 'sent' | 'received' | 'closed' | 'undecodable' | 'http';
  /** The frame in words, where it is one. */
  readonly text: string;
  /** The bytes as they stood on the wire; only the first of them where `cut` says so. */
  readonly hex: string;
  readonly byteCount: number;
  /** Something is missing: bytes of this event, or events before it. */
  readonly cut?: true;
  /** Of `closed`: the runner ended the connection, in an orderly way or by a reset. Absent when the broker did. */
  readonly byRunner?: 'end' | 'reset';
};

/** In the place of a name: what happened to all connections, the end of the check. */
export const everyConnection = '*';

const keptEventCount = 20_000;
const keptBytes = 4 * 1024 * 1024;
/** What is kept of an event for which there is no room any more. */
const cutBytes = 256;

export class Trace {
  #events: TraceEvent[] = [];
  #droppedCount = 0;
  /** Dropped events that still stand at the beginning of `#events`: taking out one at a time would move all others. */
  #staleCount = 0;
  #roomBytes = keptBytes;

  get events(): readonly TraceEvent[] {
    const kept = this.#events.slice(this.#staleCount);
    const [oldest, ...others] = kept;
    return this.#droppedCount === 0 || oldest === undefined ? kept : [{ ...oldest, cut: true }, ...others];
  }

  /** Events that were left out because there were too many. */
  get droppedCount(): number {
    return this.#droppedCount;
  }

  add(event: Omit<TraceEvent, 'hex' | 'byteCount' | 'cut'>, bytes: Buffer = Buffer.alloc(0)): void {
    this.#events.push({ ...event, ...this.#kept(bytes), byteCount: bytes.length });
    if (this.#events.length - this.#staleCount > keptEventCount) this.#dropOldest();
  }

  /** Takes everything out and begins anew: for a check that runs a scenario several times. */
  take(): readonly TraceEvent[] {
    const taken = this.events;
    this.putBack([]);
    return taken;
  }

  /** Shows these events, taken before, in the place of what has come since. */
  putBack(events: readonly TraceEvent[]): void {
    this.#events = [...events];
    this.#droppedCount = 0;
    this.#staleCount = 0;
    this.#roomBytes = keptBytes - events.reduce((sum, { hex }) => sum + hex.length / 2, 0);
  }

  #kept(bytes: Buffer): Pick<TraceEvent, 'hex' | 'cut'> {
    if (bytes.length <= cutBytes || bytes.length <= this.#roomBytes) {
      this.#roomBytes -= bytes.length;
      return { hex: bytes.toString('hex') };
    }
    return { hex: bytes.subarray(0, cutBytes).toString('hex'), cut: true };
  }

  #dropOldest(): void {
    this.#staleCount += 1;
    this.#droppedCount += 1;
    if (this.#staleCount < keptEventCount) return;
    this.#events = this.#events.slice(this.#staleCount);
    this.#staleCount = 0;
  }
}

/** `Publish id=m-1 queue=orders headers={priority: High} payload={"n":1}` */
export function frameText(
  frame: Pick<
    DecodedBody,
    'commandName' | 'id' | 'queue' | 'headers' | 'payload' | 'errorCode' | 'errorMessage'
  >,
): string {
  const parts = [frame.commandName, `id=${cut(frame.id)}`];
  if (frame.queue !== '') parts.push(`queue=${cut(frame.queue)}`);
  if (frame.headers.length > 0) parts.push(`headers={${frame.headers.map(headerText).join(', ')}}`);
  if (frame.payload.length > 0) parts.push(`payload=${payloadText(frame.payload)}`);
  if (frame.errorCode !== '') parts.push(`error=${frame.errorCode} "${cut(frame.errorMessage)}"`);
  return parts.join(' ');
}

const readBytes = 1024;

/** Of a long payload only its beginning is turned into text. */
function payloadText(payload: Buffer): string {
  if (payload.length <= readBytes) return cut(payload.toString('utf8'));
  return `${payload.toString('utf8', 0, readBytes).slice(0, 80)}..(${payload.length} bytes)`;
}

function headerText([key, value]: readonly [string, string]): string {
  return `${cut(key)}: ${cut(value)}`;
}

function cut(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 80)}..(${text.length})`;
}
