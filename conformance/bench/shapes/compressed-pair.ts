// One publisher and one subscriber that compress what they send and read what comes compressed, in this process. With `none` they do the same without
// compression, for comparison. Every message is confirmed and delivered once, or the pass fails. Areas: COMPRESS.
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { LoadFault } from '../../src/bench/load/load-fault.ts';
import type { Address } from '../../src/bench/load/load-link.ts';
import { LoadLink } from '../../src/bench/load/load-link.ts';
import { jsonOfLength } from '../../src/bench/load/message-template.ts';
import { makeQueue } from '../../src/bench/load/queue-commands.ts';
import { Command } from '../../src/wire/command.ts';
import { algorithmFlags, compress } from '../../src/wire/compression.ts';
import { decodeBody } from '../../src/wire/decode.ts';
import { encodeBody, frameAround } from '../../src/wire/encode.ts';
import type { DecodedBody, FrameFields } from '../../src/wire/frame.ts';
import { FrameReader } from '../../src/wire/frame-reader.ts';

export type Compression = keyof typeof algorithmFlags;

const window = 64;
const payloadBytes = 4096;
const maxBodyBytes = 64 * 1024 * 1024;
const stallMs = 30_000;
const queue = 'compressed';

export class CompressedPair {
  readonly #publisher: Peer;
  readonly #subscriber: Peer;
  readonly #payload = jsonOfLength(payloadBytes);
  #sentCount = 0;
  #confirmedCount = 0;
  #deliveredCount = 0;
  #untilCount = 0;
  #end: (fault?: LoadFault) => void = () => {};

  private constructor(publisher: Peer, subscriber: Peer) {
    this.#publisher = publisher;
    this.#subscriber = subscriber;
    for (const peer of [publisher, subscriber]) {
      peer.onFrame = (frame) => this.#handleFrame(frame);
      peer.onFault = (fault) => this.#end(fault);
    }
  }

  /** Throws a LoadFault. */
  static async open(address: Address, compression: Compression): Promise<CompressedPair> {
    const link = await LoadLink.open(address);
    await makeQueue(link, queue);
    link.close();
    const publisher = await Peer.open(address, compression);
    const subscriber = await Peer.open(address, compression);
    const headers = { maxInFlight: String(window) };
    await subscriber.request({ command: Command.Subscribe, id: 'subscribe', queue, headers });
    return new CompressedPair(publisher, subscriber);
  }

  /** `count` messages through the queue. Throws a LoadFault. */
  async pass(count: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        this.#end = (fault) => (fault === undefined ? resolve() : reject(fault));
        timer = setTimeout(() => this.#end(new LoadFault(`not all came within ${stallMs} ms`)), stallMs);
        this.#untilCount += count;
        this.#fill();
      });
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#publisher.close();
    this.#subscriber.close();
  }

  #fill(): void {
    while (this.#sentCount < this.#untilCount && this.#sentCount - this.#confirmedCount < window) {
      const id = `message-${this.#sentCount}`;
      this.#publisher.send({ command: Command.Publish, id, queue, payload: this.#payload });
      this.#sentCount += 1;
    }
  }

  #handleFrame({ command, id, errorCode, errorMessage }: DecodedBody): void {
    if (command === Command.PublishAck) this.#confirmedCount += 1;
    else if (command === Command.Deliver) this.#acknowledge(id);
    else this.#end(new LoadFault(`command ${command} came: ${errorCode} ${errorMessage}`.trim()));
    this.#fill();
    if (this.#confirmedCount >= this.#untilCount && this.#deliveredCount >= this.#untilCount) this.#end();
  }

  #acknowledge(id: string): void {
    this.#deliveredCount += 1;
    this.#subscriber.send({ command: Command.Ack, id });
  }
}

/** A connection that compresses all that it sends after its handshake. */
class Peer {
  onFrame: (frame: DecodedBody) => void = () => {};
  onFault: (fault: LoadFault) => void = () => {};
  readonly #socket: Socket;
  readonly #compression: Compression;
  readonly #reader = new FrameReader(maxBodyBytes);

  private constructor(socket: Socket, compression: Compression) {
    this.#socket = socket;
    this.#compression = compression;
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('error', (error) => this.onFault(new LoadFault(`the connection broke: ${error.message}`)));
    socket.on('close', () => this.onFault(new LoadFault('the broker closed the connection')));
  }

  static async open({ host, port }: Address, compression: Compression): Promise<Peer> {
    const socket = connect({ host, port, noDelay: true });
    await once(socket, 'connect');
    const peer = new Peer(socket, compression);
    const headers = compression === 'none' ? {} : { 'supported-compression': compression };
    const connectFrame = { command: Command.Connect, id: 'connect', headers };
    const { headers: accepted } = await peer.#answered(() =>
      socket.write(frameAround(encodeBody(connectFrame))),
    );
    const negotiated = accepted.find(([name]) => name === 'negotiated-compression')?.[1] ?? 'none';
    if (negotiated === compression) return peer;
    peer.close();
    throw new LoadFault(`the broker does not use ${compression}`);
  }

  send(fields: FrameFields): void {
    const body = encodeBody(fields);
    const frame =
      this.#compression === 'none'
        ? frameAround(body)
        : frameAround(compress(body, this.#compression), { flags: algorithmFlags[this.#compression] });
    this.#socket.write(frame);
  }

  request(fields: FrameFields): Promise<DecodedBody> {
    return this.#answered(() => this.send(fields));
  }

  close(): void {
    this.onFault = () => {};
    this.#socket.destroy();
  }

  #answered(ask: () => void): Promise<DecodedBody> {
    return new Promise((resolve, reject) => {
      this.onFrame = resolve;
      this.onFault = reject;
      ask();
    });
  }

  #read(chunk: Buffer): void {
    this.#reader.push(chunk);
    try {
      for (let raw = this.#reader.next(); raw !== undefined; raw = this.#reader.next())
        this.onFrame(decodeBody(raw.body));
    } catch (error) {
      this.onFault(new LoadFault(`cannot be read: ${String(error)}`));
    }
  }
}
