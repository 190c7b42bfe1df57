// What a planted fault of the proxy is given: frames on their way between a client and the broker, and the passage that they take. A
// fault handles a frame itself or lets it pass unchanged; it never sees bytes that are no frame.
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { decodeBody, WireFault } from '../../src/wire/decode.ts';
import { encodeFrame } from '../../src/wire/encode.ts';
import type { DecodedBody, FrameFields } from '../../src/wire/frame.ts';

/** One frame on its way, decoded when it is first asked for. */
export class PassingFrame {
  /** The frame as it stood on the wire. */
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

/** What is larger than 1 MiB when it is decompressed is a test of limits, and not for a fault. */
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
   * Sends Ping in the place of a command that the broker shall not see, and `answer` in the place of its Pong: the answer comes when
   * and where the broker's own would have come.
   */
  answerInPlace(answer: Buffer): void;
  /** Ends both sides. */
  cut(): void;
};

/** A fault as it lives in one proxy. A handler returns true when it has taken care of the frame. */
export type LifeFault = {
  opened?(passage: Passage): void;
  fromClient?(frame: PassingFrame, passage: Passage): boolean;
  fromBroker?(frame: PassingFrame, passage: Passage): boolean;
  /** The client has gone; what is written to the broker now still arrives before its end. */
  leaving?(passage: Passage): void;
};

export type FaultSetting = {
  /** The fault strikes once in so many times, at least 1. */
  readonly every: number;
  /** Or from the one after the first so many, at least 0. */
  readonly first: number;
  /** Moves the first strike: any whole number from 0. */
  readonly seed: number;
  /** A fault of the answers changes only answers with this command; all answers if absent. */
  readonly answer?: number | undefined;
};

/** Says of each of a series whether it is the one in `every`. */
export function strikes({ every, seed }: FaultSetting): () => boolean {
  let count = seed % every;
  return () => {
    count += 1;
    return count % every === 0;
  };
}
