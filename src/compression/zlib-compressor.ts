// Compresses and decompresses with node:zlib; no other file imports it. Small bodies are processed synchronously, because a round trip
// through the thread pool costs more than the work; large bodies go to the pool, so that they do not block the event loop. Takes no memory
// much beyond the limit it is given. Implements FRAME-007, FRAME-008 and FRAME-027.

import { promisify } from 'node:util';
import {
  type BrotliOptions,
  brotliCompress,
  brotliCompressSync,
  brotliDecompress,
  brotliDecompressSync,
  constants,
  gunzip,
  gunzipSync,
  gzip,
  gzipSync,
  type ZlibOptions,
} from 'node:zlib';
import { ErrorCode } from '../model/error-code.ts';
import type { Algorithm, Compressor } from '../protocol/compression.ts';
import { framingFault, type ProtocolFault } from '../protocol/fault.ts';

export type ZlibCompressorOptions = {
  /** Longer input is processed in the thread pool. Default 64 KiB. */
  readonly inPlaceInputBytes?: number;
  /** Input with longer output, if the limit allows it, is processed in the thread pool. Default 1 MiB. */
  readonly inPlaceOutputBytes?: number;
  /** When more than this is inflated in one turn of the event loop, the rest is processed in the thread pool. Default 1 MiB. */
  readonly inPlacePerTurnBytes?: number;
};

/** Nothing goes to the thread pool, for tests in virtual time. */
export const allInPlace: ZlibCompressorOptions = {
  inPlaceInputBytes: Number.POSITIVE_INFINITY,
  inPlaceOutputBytes: Number.POSITIVE_INFINITY,
  inPlacePerTurnBytes: Number.POSITIVE_INFINITY,
};

/** What inflating an empty body costs, in bytes of output that cost as much. */
const CALL_BYTES = 16_384;

export class ZlibCompressor implements Compressor {
  readonly #inPlaceInputBytes: number;
  readonly #inPlaceOutputBytes: number;
  readonly #inPlacePerTurnBytes: number;
  /** Inflated in place in this turn of the event loop. */
  #inflatedBytes = 0;

  constructor(options: ZlibCompressorOptions = {}) {
    this.#inPlaceInputBytes = options.inPlaceInputBytes ?? 65_536;
    this.#inPlaceOutputBytes = options.inPlaceOutputBytes ?? 1_048_576;
    this.#inPlacePerTurnBytes = options.inPlacePerTurnBytes ?? 1_048_576;
  }

  compress(algorithm: Algorithm, body: Buffer): Buffer | Promise<Buffer> {
    const codec = codecs[algorithm];
    return body.length <= this.#inPlaceInputBytes ? codec.compressInPlace(body) : codec.compressInPool(body);
  }

  decompress(
    algorithm: Algorithm,
    body: Buffer,
    limitBytes: number,
  ): Buffer | ProtocolFault | Promise<Buffer | ProtocolFault> {
    const isTurnOver = this.#inflatedBytes >= this.#inPlacePerTurnBytes;
    if (isTurnOver || body.length > this.#inPlaceInputBytes)
      return inflateInPool(algorithm, body, limitBytes);
    const inPlaceLimit = Math.min(limitBytes, this.#inPlaceOutputBytes);
    try {
      const output = codecs[algorithm].inflateInPlace(body, inPlaceLimit);
      this.#countInflated(output.buffer.length);
      return wholeOutput(output, body);
    } catch (error) {
      this.#countInflated(isOverLimit(error) ? inPlaceLimit : body.length);
      if (isOverLimit(error) && inPlaceLimit < limitBytes) return inflateInPool(algorithm, body, limitBytes);
      return faultOf(error, limitBytes);
    }
  }

  /** A chunk of 64 KiB may hold thousands of frames that inflate to 1 MiB each: one client must not hold the event loop for seconds. */
  #countInflated(bytes: number): void {
    if (this.#inflatedBytes === 0) {
      setImmediate(() => {
        this.#inflatedBytes = 0;
      });
    }
    this.#inflatedBytes += bytes + CALL_BYTES;
  }
}

async function inflateInPool(
  algorithm: Algorithm,
  body: Buffer,
  limitBytes: number,
): Promise<Buffer | ProtocolFault> {
  try {
    return wholeOutput(await codecs[algorithm].inflateInPool(body, limitBytes), body);
  } catch (error) {
    return faultOf(error, limitBytes);
  }
}

/** What zlib returns with option `info`: the output, and its stream, which counts the bytes of input that were used. */
type Inflated = { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } };

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
  return error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
}
