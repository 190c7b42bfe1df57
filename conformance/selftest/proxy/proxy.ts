// A TCP proxy between the runner and a broker that reads frames and plants a fault. Without a fault it changes nothing. It passes on
// unchanged everything that is not a frame: TLS, an invalid frame head, a frame that the sender does not complete.
import { connect, createServer, type Server, type Socket } from 'node:net';
import { Command } from '../../src/wire/command.ts';
import { WireFault } from '../../src/wire/decode.ts';
import { encodeFrame } from '../../src/wire/encode.ts';
import type { Passage, ProxyFault } from './passage.ts';
import { PassingFrame } from './passage.ts';

type Endpoint = { readonly host: string; readonly port: number };

/** Longer than any broker allows. Frames with longer bodies pass as bytes. */
const maxBodyBytes = 2 ** 30;
const headBytes = 5;
/** An incomplete frame is passed on after this time. */
const partialMs = 40;

/** Listens on `at` (port 0: any free one) and passes each connection on to the broker. */
export async function startProxy(at: Endpoint, broker: Endpoint, fault: ProxyFault = {}): Promise<Server> {
  let count = 0;
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    count += 1;
    new ProxiedConnection(count, client, connect({ ...broker, allowHalfOpen: true, noDelay: true }), fault);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(at.port, at.host, resolve);
  });
  return server;
}

class ProxiedConnection implements Passage {
  readonly number: number;
  readonly #client: Socket;
  readonly #broker: Socket;
  readonly #fault: ProxyFault;
  /** The answers to send instead of Pongs, by the ids of the Pings. */
  readonly #insteadOfPongs = new Map<string, Buffer>();
  #hasLeft = false;

  constructor(number: number, client: Socket, broker: Socket, fault: ProxyFault) {
    this.number = number;
    this.#client = client;
    this.#broker = broker;
    this.#fault = fault;
    fault.opened?.(this);
    this.#pass(client, broker, (frame) => fault.fromClient?.(frame, this) ?? false);
    this.#pass(
      broker,
      client,
      (frame) => this.#isReplacedPong(frame) || (fault.fromBroker?.(frame, this) ?? false),
    );
  }

  toBroker(bytes: Buffer): void {
    if (this.#broker.writable) this.#broker.write(bytes);
  }

  toClient(bytes: Buffer): void {
    if (this.#client.writable) this.#client.write(bytes);
  }

  answerInstead(answer: Buffer): void {
    const id = `proxy-${this.number}-${this.#insteadOfPongs.size}-${process.hrtime.bigint()}`;
    this.#insteadOfPongs.set(id, answer);
    this.toBroker(encodeFrame({ command: Command.Ping, id }));
  }

  cut(): void {
    this.#client.resetAndDestroy();
    this.#broker.resetAndDestroy();
  }

  #isReplacedPong(frame: PassingFrame): boolean {
    if (frame.command !== Command.Pong || this.#insteadOfPongs.size === 0) return false;
    const answer = this.#insteadOfPongs.get(frame.fields.id);
    if (answer === undefined) return false;
    this.#insteadOfPongs.delete(frame.fields.id);
    this.toClient(answer);
    return true;
  }

  /** Passes on everything from one side to the other, except frames that the fault handles. */
  #pass(from: Socket, to: Socket, isHandled: (frame: PassingFrame) => boolean): void {
    const stream = new FrameStream((bytes) => void to.write(bytes), isHandled);
    from.on('data', (chunk: Buffer) => {
      to.cork();
      stream.take(chunk);
      to.uncork();
      if (to.writableNeedDrain) from.pause();
    });
    to.on('drain', () => from.resume());
    from.on('end', () => {
      stream.flush();
      if (from === this.#client) this.#leave();
      to.end();
    });
    from.on('error', () => {});
    from.on('close', (isBroken) => {
      stream.flush();
      if (from === this.#client) this.#leave();
      if (isBroken) to.resetAndDestroy();
      else to.end();
    });
  }

  #leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.#fault.clientClosed?.(this);
  }
}

/** Splits the bytes of one side into frames. */
class FrameStream {
  readonly #write: (bytes: Buffer) => void;
  readonly #isHandled: (frame: PassingFrame) => boolean;
  #rest: Buffer[] = [];
  #restBytes = 0;
  /** The minimum number of bytes of the next frame. */
  #neededBytes = headBytes;
  #timer: NodeJS.Timeout | undefined;
  /** True if the bytes are not a stream of frames. */
  #isOpaque = false;

  constructor(write: (bytes: Buffer) => void, isHandled: (frame: PassingFrame) => boolean) {
    this.#write = write;
    this.#isHandled = isHandled;
  }

  take(chunk: Buffer): void {
    clearTimeout(this.#timer);
    if (this.#isOpaque) {
      this.#write(chunk);
      return;
    }
    this.#rest.push(chunk);
    this.#restBytes += chunk.length;
    if (this.#restBytes >= this.#neededBytes) this.#passFrames();
    if (this.#restBytes > 0) this.#timer = setTimeout(() => this.flush(), partialMs);
  }

  /** Passes on an incomplete frame, and from now on all bytes, unchanged. */
  flush(): void {
    clearTimeout(this.#timer);
    if (this.#restBytes === 0) return;
    this.#isOpaque = true;
    for (const chunk of this.#rest) this.#write(chunk);
    this.#keep(Buffer.alloc(0), headBytes);
  }

  #passFrames(): void {
    let rest = Buffer.concat(this.#rest);
    for (;;) {
      const end = frameEnd(rest);
      if (end === undefined) {
        this.#keep(rest, 0);
        this.flush();
        return;
      }
      if (rest.length < end) {
        this.#keep(rest, end);
        return;
      }
      this.#passFrame(new PassingFrame(rest.subarray(0, end)));
      rest = rest.subarray(end);
    }
  }

  #passFrame(frame: PassingFrame): void {
    if (!this.#handles(frame)) this.#write(frame.bytes);
  }

  /** A fault does not handle a body that does not decode. */
  #handles(frame: PassingFrame): boolean {
    try {
      return this.#isHandled(frame);
    } catch (error) {
      if (error instanceof WireFault) return false;
      throw error;
    }
  }

  #keep(rest: Buffer, neededBytes: number): void {
    this.#rest = rest.length === 0 ? [] : [rest];
    this.#restBytes = rest.length;
    this.#neededBytes = neededBytes;
  }
}

/** The end of the first frame, or of its head if the head is incomplete; undefined if this is not a frame. */
function frameEnd(bytes: Buffer): number | undefined {
  if (bytes.length < headBytes) return headBytes;
  const [length, flags] = [bytes.readUInt32BE(0), bytes.readUInt8(4)];
  return length < 2 || length > maxBodyBytes || flags > 2 ? undefined : headBytes + length;
}
