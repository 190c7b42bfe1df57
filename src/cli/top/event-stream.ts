// Parses a stream of server-sent events (text/event-stream of the HTML standard): chunks of bytes go in, whole events come out, wherever the
// chunks are cut. Pure; ignores ids and retry times, because a stream that is opened anew begins with everything.

export type StreamEvent = { readonly name: string; readonly data: string };

/** A stream whose event is longer is not one of the dashboard: a snapshot of 10,000 queues has some megabytes. */
const MAX_EVENT_CHARACTERS = 64 * 1024 * 1024;

export class EventStreamParser {
  readonly #decoder = new TextDecoder('utf-8');
  readonly #maxCharacters: number;
  /** The pieces of a line that has no end yet. */
  #line: string[] = [];
  #data: string[] = [];
  #name = '';
  #lineCharacters = 0;
  #dataCharacters = 0;
  /** The last chunk ended with CR: an LF that follows belongs to it. */
  #skipsLineFeed = false;

  constructor(maxCharacters = MAX_EVENT_CHARACTERS) {
    this.#maxCharacters = maxCharacters;
  }

  /** The events that this chunk completes. @throws Error when an event is too long */
  push(chunk: Uint8Array): readonly StreamEvent[] {
    const events: StreamEvent[] = [];
    const decoded = this.#decoder.decode(chunk, { stream: true });
    const text = this.#skipsLineFeed && decoded.startsWith('\n') ? decoded.slice(1) : decoded;
    if (decoded !== '') this.#skipsLineFeed = decoded.endsWith('\r');
    let from = 0;
    for (const { index, 0: end } of text.matchAll(/\r\n|\r|\n/g)) {
      this.#line.push(text.slice(from, index));
      from = index + end.length;
      this.#endLine(events);
    }
    if (from < text.length) this.#line.push(text.slice(from));
    this.#lineCharacters += text.length - from;
    this.#checkLength();
    return events;
  }

  #checkLength(): void {
    if (this.#lineCharacters + this.#dataCharacters > this.#maxCharacters)
      throw new Error('an event of the stream is too long');
  }

  #endLine(events: StreamEvent[]): void {
    const line = this.#line.join('');
    this.#line = [];
    this.#lineCharacters = 0;
    if (line === '') return this.#endEvent(events);
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') this.#name = value;
    if (field !== 'data') return;
    this.#data.push(value);
    this.#dataCharacters += value.length;
    this.#checkLength();
  }

  #endEvent(events: StreamEvent[]): void {
    if (this.#data.length > 0) events.push({ name: this.#name || 'message', data: this.#data.join('\n') });
    this.#data = [];
    this.#name = '';
    this.#dataCharacters = 0;
  }
}
