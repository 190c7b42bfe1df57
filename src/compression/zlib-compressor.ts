// Compresses and decompresses with node:zlib. Small bodies are processed synchronously, because a round trip through another thread costs
// more than the work; large bodies go to another thread, so that they do not block the event loop. Takes no memory much beyond the limit it
// is given. Implements FRAME-007, FRAME-008 and FRAME-027.

import { promisify } from 'node:util';
import {
  type BrotliOptions,
  brotliCompress,
  brotliCompressSync,
  brotliDecompress,
  brotliDecompressSync,
  constants,
  createBrotliDecompress,
  createGunzip,
  gunzip,
  gunzipSync,
  gzip,
  gzipSync,
  type ZlibOptions,
} from 'node:zlib';
import { ErrorCode } from '../model/error-code.ts';
import type { Algorithm, Compressor } from '../protocol/compression.ts';
import { framingFault, type ProtocolFault } from '../protocol/fault.ts';
import { firstPartBytes } from './brotli-size.ts';
import type { Inflated } from './inflated.ts';
import type { InflationThread } from './inflation-thread.ts';

export type ZlibCompressorOptions = {
  /** Longer input is processed in another thread. Default 64 KiB. */
  readonly inPlaceInputBytes?: number;
  /** Input with longer output, if the limit allows it, is processed in another thread. Default 64 KiB. */
  readonly inPlaceOutputBytes?: number;
  /** When more than this is inflated in one turn of the event loop, the rest waits for the next turn. Default 128 KiB. */
  readonly inPlacePerTurnBytes?: number;
  /** Where large bodies are inflated. Default: in the thread pool of Node.js. */
  readonly thread?: Pick<InflationThread, 'inflate'>;
};

/** Nothing goes to another thread, for tests in virtual time. */
export const allInPlace: ZlibCompressorOptions = {
  inPlaceInputBytes: Number.POSITIVE_INFINITY,
  inPlaceOutputBytes: Number.POSITIVE_INFINITY,
  inPlacePerTurnBytes: Number.POSITIVE_INFINITY,
};

/** What inflating an empty body costs, in bytes of output that cost as much. */
const CALL_BYTES = 8192;

/** What may have been inflated before the output was found to be over a limit: the window of Brotli. */
const WINDOW_BYTES = 4_194_304;

type Inflation = Buffer | ProtocolFault | Promise<Buffer | ProtocolFault>;

export class ZlibCompressor implements Compressor {
  readonly #inPlaceInputBytes: number;
  readonly #inPlaceOutputBytes: number;
  readonly #inPlacePerTurnBytes: number;
  readonly #thread: ZlibCompressorOptions['thread'];
  /** Inflated in place in this turn of the event loop. */
  #inflatedBytes = 0;
  /** Bodies that wait for the next turn. */
  #postponed: (() => void)[] = [];

  constructor(options: ZlibCompressorOptions = {}) {
    this.#inPlaceInputBytes = options.inPlaceInputBytes ?? 65_536;
    this.#inPlaceOutputBytes = options.inPlaceOutputBytes ?? 65_536;
    this.#inPlacePerTurnBytes = options.inPlacePerTurnBytes ?? 131_072;
    this.#thread = options.thread;
  }

  compress(algorithm: Algorithm, body: Buffer): Buffer | Promise<Buffer> {
    const codec = codecs[algorithm];
    return body.length <= this.#inPlaceInputBytes ? codec.compressInPlace(body) : codec.compressInPool(body);
  }

  decompress(algorithm: Algorithm, body: Buffer, limitBytes: number): Inflation {
    if (body.length > this.#inPlaceInputBytes || this.#announcesMuch(algorithm, body))
      return this.#inflateElsewhere(algorithm, body, limitBytes);
    if (this.#inflatedBytes < this.#inPlacePerTurnBytes)
      return this.#inflateInPlace(algorithm, body, limitBytes);
    return new Promise((resolve) => {
      this.#postponed.push(() => resolve(this.decompress(algorithm, body, limitBytes)));
    });
  }

  /** Brotli takes 10 ms to fill its window before it finds that the output is over a limit. Gzip, which says nothing, has a small one. */
  #announcesMuch(algorithm: Algorithm, body: Buffer): boolean {
    return algorithm === 'brotli' && firstPartBytes(body) > this.#inPlaceOutputBytes;
  }

  #inflateInPlace(algorithm: Algorithm, body: Buffer, limitBytes: number): Inflation {
    const inPlaceLimit = Math.min(limitBytes, this.#inPlaceOutputBytes);
    try {
      const output = codecs[algorithm].inflateInPlace(body, inPlaceLimit);
      this.#countInflated(output.buffer.length);
      return wholeOutput(output, body);
    } catch (error) {
      this.#countInflated(isOverLimit(error) ? WINDOW_BYTES : body.length);
      if (!isOverLimit(error) || inPlaceLimit === limitBytes) return faultOf(error, limitBytes);
      return this.#inflateElsewhere(algorithm, body, limitBytes);
    }
  }

  async #inflateElsewhere(
    algorithm: Algorithm,
    body: Buffer,
    limitBytes: number,
  ): Promise<Buffer | ProtocolFault> {
    try {
      const inflated = this.#thread?.inflate(algorithm, body, limitBytes);
      return wholeOutput(await (inflated ?? codecs[algorithm].inflateInPool(body, limitBytes)), body);
    } catch (error) {
      if (codeOf(error) === undefined) throw error;
      return faultOf(error, limitBytes);
    }
  }

  /** A chunk of 64 KiB may hold thousands of frames that inflate to 64 KiB each: one client must not hold the event loop for seconds. */
  #countInflated(bytes: number): void {
    if (this.#inflatedBytes === 0) setImmediate(() => this.#nextTurn());
    this.#inflatedBytes += bytes + CALL_BYTES;
  }

  /** Bodies that waited come first, in order: each connection waits with one. */
  #nextTurn(): void {
    this.#inflatedBytes = 0;
    const postponed = this.#postponed;
    this.#postponed = [];
    for (const inflate of postponed) inflate();
  }
}

type Codec = {
  compressInPlace(body: Buffer): Buffer;
  compressInPool(body: Buffer): Promise<Buffer>;
  inflateInPlace(body: Buffer, limitBytes: number): Inflated;
  inflateInPool(body: Buffer, limitBytes: number): Promise<Inflated>;
};

// Brotli's default quality (11) takes a hundred times as long as quality 1 for a body of 2 KiB, and a second for each MiB.
const brotliOptions: BrotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const gzipOptions: ZlibOptions = { level: constants.Z_BEST_SPEED };

const brotliInPool = promisify<Buffer, BrotliOptions, Buffer>(brotliCompress);
const unbrotliInPool = promisify<Buffer, BrotliOptions, Buffer>(brotliDecompress);
const gzipInPool = promisify<Buffer, ZlibOptions, Buffer>(gzip);
const gunzipInPool = promisify<Buffer, ZlibOptions, Buffer>(gunzip);

const codecs: Readonly<Record<Algorithm, Codec>> = {
  brotli: {
    compressInPlace: (body) => brotliCompressSync(body, brotliOptions),
    compressInPool: (body) => brotliInPool(body, brotliOptions),
    inflateInPlace: (body, limitBytes) => inflated(brotliDecompressSync(body, inflateOptions(limitBytes))),
    inflateInPool: async (body, limitBytes) =>
      inflated(await unbrotliInPool(body, inflateOptions(limitBytes))),
  },
  gzip: {
    compressInPlace: (body) => gzipSync(body, gzipOptions),
    compressInPool: (body) => gzipInPool(body, gzipOptions),
    inflateInPlace: (body, limitBytes) => inflated(gunzipSync(body, inflateOptions(limitBytes))),
    inflateInPool: async (body, limitBytes) => inflated(await gunzipInPool(body, inflateOptions(limitBytes))),
  },
};

function inflateOptions(limitBytes: number): { readonly maxOutputLength: number; readonly info: true } {
  return { maxOutputLength: limitBytes, info: true };
}

/** The types of node:zlib do not declare that `info` changes the result. */
function inflated(result: unknown): Inflated {
  return result as Inflated;
}

/** Refuses bytes after the end of the compressed data: no correct client sends them. */
function wholeOutput(result: Inflated, body: Buffer): Buffer | ProtocolFault {
  if (result.engine.bytesWritten === body.length) return result.buffer;
  return framingFault(ErrorCode.InvalidMessage, 'Something follows the compressed body in its frame.');
}

function faultOf(error: unknown, limitBytes: number): ProtocolFault {
  if (isOverLimit(error)) {
    return framingFault(
      ErrorCode.MessageTooLarge,
      `The body holds more than ${limitBytes} bytes when decompressed.`,
    );
  }
  return framingFault(ErrorCode.InvalidMessage, 'The body does not decompress.');
}

function isOverLimit(error: unknown): boolean {
  return codeOf(error) === 'ERR_BUFFER_TOO_LARGE';
}

/** Undefined when it is no error of node:zlib. */
function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** The first bytes that a body holds, 1,024 if there are so many; also of a body that is cut off. Empty when it holds none. Never rejects. */
export function inflateStart(algorithm: Algorithm, body: Buffer): Promise<Buffer> {
  const options = { chunkSize: 1_024 };
  const stream = algorithm === 'brotli' ? createBrotliDecompress(options) : createGunzip(options);
  return new Promise((resolve) => {
    const finish = (start: Buffer) => {
      resolve(start);
      stream.destroy();
    };
    stream.once('data', finish);
    stream.once('end', () => finish(Buffer.alloc(0)));
    stream.on('error', () => finish(Buffer.alloc(0)));
    stream.end(body);
  });
}
