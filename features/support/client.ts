// A client of the broker as the scenarios need one: it sends any frame, right or wrong, keeps what it receives until a step
// looks at it, and acknowledges nothing by itself. It judges nothing but that what it receives are frames.

import type { Duplex } from 'node:stream';
import { allInPlace, ZlibCompressor } from '../../src/compression/zlib-compressor.ts';
import { Command } from '../../src/protocol/command.ts';
import { type Algorithm, algorithmOf } from '../../src/protocol/compression.ts';
import { decodeMessage } from '../../src/protocol/decode.ts';
import { encodeBody, frameOf } from '../../src/protocol/encode.ts';
import { isFault } from '../../src/protocol/fault.ts';
import { type Frame, FrameSplitter } from '../../src/protocol/frame-splitter.ts';
import { defaultLimits } from '../../src/protocol/limits.ts';
import type { MessageFields } from '../../src/protocol/message.ts';
import { describeMessage, type FrameMatch, type ReceivedFrame } from './received-frame.ts';

/** In place always: what has arrived is to be seen at once. */
const zlib = new ZlibCompressor(allInPlace);

const ROUND_TRIP_ID = 'round-trip-';

export type ClientOptions = {
  readonly now: () => number;
  /** Takes down what is sent and received, one line each. */
  readonly note: (line: string) => void;
  /** Called whenever something has come. */
  readonly onChange: () => void;
};

export class Client {
  readonly label: string;
  readonly #stream: Duplex;
  readonly #options: ClientOptions;
  readonly #splitter = new FrameSplitter(defaultLimits);
  /** Received, and not looked at yet. */
  #inbox: ReceivedFrame[] = [];
  #roundTrips = 0;
  #pongs = 0;
  #isClosed = false;
  /** In the middle of a frame, or not reading: a Ping would be no Ping, or its Pong not seen. */
  #isUnableToAsk = false;
  #fault: string | undefined;

  constructor(label: string, stream: Duplex, options: ClientOptions) {
    this.label = label;
    this.#stream = stream;
    this.#options = options;
    stream.on('data', (chunk: Buffer) => this.#receive(chunk));
    stream.on('end', () => this.#close('the broker closes the connection'));
    stream.on('close', () => this.#close('the connection is closed'));
    stream.on('error', (error) => this.#close(`the connection fails: ${error.message}`));
  }

  /** Whether the connection has ended, on whichever side. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** What came that was no frame. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /** Frames that no step has looked at. */
  get inbox(): readonly ReceivedFrame[] {
    return this.#inbox;
  }

  send(fields: MessageFields, algorithm?: Algorithm): void {
    this.#note(`--> ${describeMessage(fields)}`);
    this.#stream.write(frameBytes(fields, algorithm));
  }

  /** Several commands in one write. */
  sendTogether(all: readonly MessageFields[]): void {
    for (const fields of all) this.#note(`--> ${describeMessage(fields)}`);
    this.#stream.write(Buffer.concat(all.map((fields) => frameBytes(fields))));
  }

  /** Any bytes. After `isPartial` ones the broker waits for the rest of a frame. */
  sendBytes(bytes: Buffer, { isPartial = false }: { readonly isPartial?: boolean } = {}): void {
    const hex = bytes.subarray(0, 24).toString('hex');
    this.#note(`--> ${bytes.length} bytes ${hex}${bytes.length > 24 ? '..' : ''}`);
    this.#isUnableToAsk = isPartial;
    this.#stream.write(bytes);
  }

  /** The earliest frame that fits and that no step has looked at; it counts as looked at then. */
  take(match: FrameMatch): ReceivedFrame | undefined {
    const found = this.#inbox.find(match);
    if (found !== undefined) this.#inbox = this.#inbox.filter((frame) => frame !== found);
    return found;
  }

  /** Sends a Ping where that makes sense; it is over when the Pong is there or the connection is gone. */
  roundTrip(): { readonly isOver: () => boolean } {
    if (this.#isClosed || this.#isUnableToAsk) return { isOver: () => true };
    const number = ++this.#roundTrips;
    this.#stream.write(frameBytes({ command: Command.Ping, id: `${ROUND_TRIP_ID}${number}` }));
    return { isOver: () => this.#isClosed || this.#pongs >= number };
  }

  stopReading(): void {
    this.#isUnableToAsk = true;
    this.#stream.pause();
  }

  readOn(): void {
    this.#isUnableToAsk = false;
    this.#stream.resume();
  }

  /** Sends nothing more, and reads on. */
  endSide(): void {
    this.#note('--> the client ends its side');
    this.#isUnableToAsk = true;
    this.#stream.end();
  }

  /** Ends the connection, and is closed when the broker has ended it too. */
  hangUp(): void {
    this.#stream.resume();
    this.#stream.end();
  }

  /** Ends the connection without a word of the protocol. */
  breakOff(): void {
    this.#note('--> the connection is cut');
    this.#isClosed = true;
    this.#stream.destroy();
  }

  #receive(chunk: Buffer): void {
    this.#splitter.push(chunk);
    for (let frame = this.#splitter.next(); frame !== undefined; frame = this.#splitter.next()) {
      if (!isFault(frame)) this.#receiveFrame(frame);
      else {
        this.#fault = frame.text;
        break;
      }
    }
    this.#options.onChange();
  }

  #receiveFrame(frame: Frame): void {
    const algorithm = algorithmOf(frame.flags);
    const body = algorithm === undefined ? frame.body : inflate(algorithm, frame.body);
    const message = decodeMessage(body);
    if (isFault(message)) {
      this.#fault = message.text;
    } else if (message.command === Command.Pong && message.id.startsWith(ROUND_TRIP_ID)) {
      this.#pongs = Number(message.id.slice(ROUND_TRIP_ID.length));
    } else {
      this.#note(`<-- ${describeMessage(message)}${algorithm === undefined ? '' : ` (${algorithm})`}`);
      const bytes = frameOf(frame.body, algorithm);
      this.#inbox.push({ message, algorithm, bytes, bodyBytes: body.length, at: this.#options.now() });
    }
  }

  #close(how: string): void {
    if (!this.#isClosed) this.#note(`<-- ${how}`);
    this.#isClosed = true;
    if (!this.#stream.writableEnded) this.#stream.end();
    this.#options.onChange();
  }

  #note(line: string): void {
    this.#options.note(`${this.#options.now().toFixed(0).padStart(8)} ms ${this.label} ${line}`);
  }
}

function frameBytes(fields: MessageFields, algorithm?: Algorithm): Buffer {
  const body = encodeBody(fields);
  return algorithm === undefined ? frameOf(body) : frameOf(compress(algorithm, body), algorithm);
}

/** A body as it stands in a frame with that algorithm's flag. */
export function compress(algorithm: Algorithm, body: Buffer): Buffer {
  const compressed = zlib.compress(algorithm, body);
  if (compressed instanceof Promise) throw new Error('It was to be compressed in place.');
  return compressed;
}

/** An empty body, which decodes to a fault, when it does not inflate. */
function inflate(algorithm: Algorithm, body: Buffer): Buffer {
  const inflated = zlib.decompress(algorithm, body, defaultLimits.maxDecompressedSizeBytes);
  return Buffer.isBuffer(inflated) ? inflated : Buffer.alloc(0);
}
