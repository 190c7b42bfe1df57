// A broker for tests of clients that does only what the test says. It uses the naive decoder and the tests' own writer, so it shares no
// code with the client.

import type { Duplex } from 'node:stream';
import { decodeNaively, type NaiveMessage } from './naive-decoder.ts';
import { type BodyParts, bodyBytes, frameBytes } from './wire-bytes.ts';
import type { Inflate } from './wire-client.ts';

export type ClientFrame = NaiveMessage & { readonly flags: number };

export class ScriptedBroker {
  readonly #stream: Duplex;
  readonly #inflate: Inflate;
  readonly #received: ClientFrame[] = [];
  readonly #waiting: ((frame: ClientFrame) => void)[] = [];
  #bytes: Buffer = Buffer.alloc(0);

  constructor(stream: Duplex, inflate: Inflate = (_flags, body) => body) {
    this.#stream = stream;
    this.#inflate = inflate;
    stream.on('data', (chunk: Buffer) => this.#handleBytes(chunk));
    stream.on('end', () => stream.end());
    stream.on('error', () => stream.destroy());
  }

  /** The next frame that the client sent, in order; waits for it. */
  take(): Promise<ClientFrame> {
    const frame = this.#received.shift();
    if (frame !== undefined) return Promise.resolve(frame);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** The ids of the next frames that the client sent, in order; waits for them. */
  async takeIds(count: number): Promise<readonly string[]> {
    const ids: string[] = [];
    for (let taken = 0; taken < count; taken += 1) ids.push((await this.take()).id);
    return ids;
  }

  /** Confirms the messages with these ids. */
  confirm(...ids: readonly string[]): void {
    this.send(...ids.map((id) => ({ command: 21, id })));
  }

  /** Frames that the client has sent and the test has not taken. */
  get untaken(): readonly ClientFrame[] {
    return this.#received;
  }

  send(...frames: readonly BodyParts[]): void {
    this.#stream.write(Buffer.concat(frames.map((parts) => frameBytes(bodyBytes(parts)))));
  }

  sendRaw(bytes: Buffer): void {
    this.#stream.write(bytes);
  }

  /** Takes the Connect and answers it with ConnectAck. */
  async welcome(headers: BodyParts['headers'] = []): Promise<ClientFrame> {
    const frame = await this.take();
    this.send({ command: 1, id: 'an id of its own', headers });
    return frame;
  }

  end(): void {
    this.#stream.end();
  }

  destroy(): void {
    this.#stream.destroy();
  }

  #handleBytes(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    while (this.#bytes.length >= 5 && this.#bytes.length >= 5 + this.#bytes.readUInt32BE(0)) {
      const end = 5 + this.#bytes.readUInt32BE(0);
      this.#handleFrame(this.#bytes[4] ?? 0, this.#bytes.subarray(5, end));
      this.#bytes = this.#bytes.subarray(end);
    }
  }

  #handleFrame(flags: number, body: Buffer): void {
    const message = decodeNaively(this.#inflate(flags, body));
    if (message === 'broken') throw new Error('the client sent a body that the naive decoder cannot read');
    const frame = { ...message, flags };
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#received.push(frame);
    else waiting(frame);
  }
}
