// Records what was sent and received during one check, in order, so that a failure can be examined without another run. The memory is
// limited: bytes and events over the limits are dropped, and the trace marks where.
import type { DecodedBody } from './wire/frame.ts';

export type TraceEvent = {
  readonly atMs: number;
  /** The name of the connection, `A`, `B`, .., `http`, or `*` for all connections. */
  readonly connection: string;
  readonly kind: 'opened' | 'sent' | 'received' | 'closed' | 'undecodable' | 'http';
  /** The event in words: the frame, if it is one. */
  readonly text: string;
  /** The bytes on the wire; if `cut` is set, possibly only the first ones. */
  readonly hex: string;
  readonly byteCount: number;
  /** Bytes of this event, or events before it, are missing. */
  readonly cut?: true;
  /** Bytes of this event are not those of the wire: `redactions` of the target file matched them. */
  readonly redacted?: true;
  /** With `closed`: the runner ended the connection, in an orderly way or by a reset. Absent if the broker did. */
  readonly byRunner?: 'end' | 'reset';
};

/** Replaces the name of a connection for events of all connections, such as the end of the check. */
export const allConnections = '*';

const maxEventCount = 20_000;
const maxBytes = 4 * 1024 * 1024;
/** So many bytes of an event are kept if it exceeds the remaining space. */
const truncatedBytes = 256;

export class Trace {
  #events: TraceEvent[] = [];
  #droppedCount = 0;
  /** Dropped events that are still at the start of `#events`, since removing each one separately would move all others. */
  #staleCount = 0;
  #remainingBytes = maxBytes;

  get events(): readonly TraceEvent[] {
    const kept = this.#events.slice(this.#staleCount);
    const [oldest, ...others] = kept;
    return this.#droppedCount === 0 || oldest === undefined ? kept : [{ ...oldest, cut: true }, ...others];
  }

  /** How many events were dropped because there were too many. */
  get droppedCount(): number {
    return this.#droppedCount;
  }

  add(event: Omit<TraceEvent, 'hex' | 'byteCount' | 'cut'>, bytes: Buffer = Buffer.alloc(0)): void {
    this.#events.push({ ...event, ...this.#truncated(bytes), byteCount: bytes.length });
    if (this.#events.length - this.#staleCount > maxEventCount) this.#dropOldest();
  }

  /** Removes and returns all events: for a check that runs several scenarios. */
  takeAll(): readonly TraceEvent[] {
    const taken = this.events;
    this.replaceAll([]);
    return taken;
  }

  /** Replaces all events by these, which `takeAll` returned. */
  replaceAll(events: readonly TraceEvent[]): void {
    this.#events = [...events];
    this.#droppedCount = 0;
    this.#staleCount = 0;
    this.#remainingBytes = maxBytes - events.reduce((sum, { hex }) => sum + hex.length / 2, 0);
  }

  #truncated(bytes: Buffer): Pick<TraceEvent, 'hex' | 'cut'> {
    if (bytes.length <= truncatedBytes || bytes.length <= this.#remainingBytes) {
      this.#remainingBytes -= bytes.length;
      return { hex: bytes.toString('hex') };
    }
    return { hex: bytes.subarray(0, truncatedBytes).toString('hex'), cut: true };
  }

  #dropOldest(): void {
    this.#staleCount += 1;
    this.#droppedCount += 1;
    if (this.#staleCount < maxEventCount) return;
    this.#events = this.#events.slice(this.#staleCount);
    this.#staleCount = 0;
  }
}

/** For example `Publish id=m-1 queue=orders headers={priority: High} payload={"n":1}` */
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

const maxTextBytes = 1024;

/** Decodes only the start of a long payload. */
function payloadText(payload: Buffer): string {
  if (payload.length <= maxTextBytes) return cut(payload.toString('utf8'));
  return `${payload.toString('utf8', 0, maxTextBytes).slice(0, 80)}..(${payload.length} bytes)`;
}

function headerText([key, value]: readonly [string, string]): string {
  return `${cut(key)}: ${cut(value)}`;
}

function cut(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 80)}..(${text.length})`;
}
