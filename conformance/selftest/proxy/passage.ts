// The types for the faults of the proxy: frames on their way between a client and the broker, and the connection that they use. A fault
// handles a frame or passes it on unchanged; it never gets bytes that are not a frame.
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { decodeBody, WireFault } from '../../src/wire/decode.ts';
import { encodeFrame } from '../../src/wire/encode.ts';
import type { DecodedBody, FrameFields } from '../../src/wire/frame.ts';

/** One frame on its way, decoded at the first access. */
export class PassingFrame {
  /** The bytes of the frame on the wire. */
  readonly bytes: Buffer;
  #body: Buffer | undefined;
  #fields: DecodedBody | undefined;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** The number of the command. Throws a WireFault when the body does not decompress. */
  get command(): number | undefined {
    return this.#readBody()[1];
  }

  /** Throws a WireFault when the body does not decode. */
  get fields(): DecodedBody {
    this.#fields ??= decodeBody(this.#readBody());
    return this.#fields;
  }

  /** The same frame with some fields changed, uncompressed. */
  with(changes: Partial<FrameFields>): Buffer {
    const { version, command, id, queue, payload, headers, errorCode, errorMessage } = this.fields;
    return encodeFrame({
      version,
      command,
      id,
      queue,
      payload,
      headers,
      errorCode,
      errorMessage,
      ...changes,
    });
  }

  #readBody(): Buffer {
    this.#body ??= bodyOf(this.bytes);
    return this.#body;
  }
}

const headBytes = 5;
const maxInflatedBytes = 2 ** 20;

/** A body that decompresses to more than 1 MiB is a test of limits; faults do not get it. */
function bodyOf(bytes: Buffer): Buffer {
  const [body, flags] = [bytes.subarray(headBytes), bytes.readUInt8(headBytes - 1)];
  if (flags === 0) return body;
  try {
    const options = { maxOutputLength: maxInflatedBytes };
    return flags === 1 ? gunzipSync(body, options) : brotliDecompressSync(body, options);
  } catch (error) {
    throw new WireFault(String(error));
  }
}

/** The two ends of one proxied connection. Writing to an end that has closed does nothing. */
export type Passage = {
  /** From 1, in the order of opening. */
  readonly number: number;
  toBroker(bytes: Buffer): void;
  toClient(bytes: Buffer): void;
  /**
   * Sends a Ping to the broker instead of the command, and `answer` to the client instead of the Pong. So the answer comes at the same
   * time and place as the answer of the broker.
   */
  answerInstead(answer: Buffer): void;
  /** Ends both sides. */
  cut(): void;
};

/** A fault in one proxy. A handler returns true if it has handled the frame. */
export type ProxyFault = {
  opened?(passage: Passage): void;
  fromClient?(frame: PassingFrame, passage: Passage): boolean;
  fromBroker?(frame: PassingFrame, passage: Passage): boolean;
  /** The client has closed its connection. Bytes that are written to the broker now still arrive before the end. */
  clientClosed?(passage: Passage): void;
};

export type FaultSetting = {
  /** The fault affects every nth event; at least 1. */
  readonly every: number;
  /** The fault affects all events after the first n; at least 0. */
  readonly first: number;
  /** Moves the first affected event: any whole number from 0. */
  readonly seed: number;
  /** A fault of the answers changes only answers with this command; all answers if absent. */
  readonly answer?: number | undefined;
};

/** Returns a function that returns true at every nth call. */
export function everyNth({ every, seed }: FaultSetting): () => boolean {
  let count = seed % every;
  return () => {
    count += 1;
    return count % every === 0;
  };
}
