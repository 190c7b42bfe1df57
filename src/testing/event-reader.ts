// Reads a stream of server-sent events as a browser does, at the pace of the test.

export type ReadEvent = { readonly event: string; readonly data: string };

export class EventReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #text = '';
  #isEnded = false;
  #retryMs: number | undefined;

  constructor(body: ReadableStream<Uint8Array> | null) {
    if (body === null) throw new Error('The answer has no body.');
    this.#reader = body.getReader();
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** What the stream has told of the time after which a client connects again. */
  get retryMs(): number | undefined {
    return this.#retryMs;
  }

  /** Takes one piece of what was sent; waits for it. */
  async readPiece(): Promise<void> {
    const { done, value } = await this.#reader.read();
    this.#isEnded = done;
    this.#text += this.#decoder.decode(value, { stream: !done });
  }

  /** The next event; waits for it. Undefined: the stream has ended. */
  async next(): Promise<ReadEvent | undefined> {
    while (!this.#text.includes('\n\n') && !this.#isEnded) await this.readPiece();
    const end = this.#text.indexOf('\n\n');
    if (end === -1) return undefined;
    const lines = this.#text.slice(0, end).split('\n');
    this.#text = this.#text.slice(end + 2);
    const fields = new Map(
      lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
    );
    const retry = fields.get('retry');
    if (retry !== undefined) this.#retryMs = Number(retry);
    return { event: fields.get('event') ?? '', data: fields.get('data') ?? '' };
  }

  cancel(): Promise<void> {
    return this.#reader.cancel();
  }
}
