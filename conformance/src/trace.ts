// What went over the wire during one check, in order: kept so that a failure can be read without running it again. Bytes are
// cut and old events dropped, so that a check that sends a gigabyte does not take one. Nothing is judged here.
import type { DecodedBody } from './wire/frame.ts';

export type TraceEvent = {
  readonly atMs: number;
  /** The connection's name, `A`, `B`, .. or `http`. */
  readonly connection: string;
  readonly kind: 'opened' | 'sent' | 'received' | 'closed' | 'undecodable' | 'http';
  /** The frame in words, where it is one. */
  readonly text: string;
  /** The first bytes as they stood on the wire. */
  readonly hex: string;
  readonly byteCount: number;
};

const keptEventCount = 400;
const keptByteCount = 256;

export class Trace {
  readonly #events: TraceEvent[] = [];
  #droppedCount = 0;

  get events(): readonly TraceEvent[] {
    return this.#events;
  }

  /** Events that were left out because there were too many. */
  get droppedCount(): number {
    return this.#droppedCount;
  }

  add(event: Omit<TraceEvent, 'hex' | 'byteCount'>, bytes: Buffer = Buffer.alloc(0)): void {
    const hex = bytes.subarray(0, keptByteCount).toString('hex');
    this.#events.push({ ...event, hex, byteCount: bytes.length });
    if (this.#events.length <= keptEventCount) return;
    this.#events.shift();
    this.#droppedCount += 1;
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
  if (frame.payload.length > 0) parts.push(`payload=${cut(frame.payload.toString('utf8'))}`);
  if (frame.errorCode !== '') parts.push(`error=${frame.errorCode} "${cut(frame.errorMessage)}"`);
  return parts.join(' ');
}

function headerText([key, value]: readonly [string, string]): string {
  return `${cut(key)}: ${cut(value)}`;
}

function cut(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 80)}..(${text.length})`;
}
