// The algorithms' names and flags, how the two sides agree on an algorithm, and the port of the compressor. Compresses nothing itself.
// Implements COMPRESS-002, COMPRESS-003, COMPRESS-009 to COMPRESS-013.

import type { ProtocolFault } from './fault.ts';

export type Algorithm = 'gzip' | 'brotli';

/** The values of a frame's flags byte; every other value is a framing fault. */
export const FrameFlags = { None: 0, Gzip: 1, Brotli: 2 } as const;

export const highestFrameFlags = FrameFlags.Brotli;

export function flagsOf(algorithm: Algorithm | undefined): number {
  switch (algorithm) {
    case undefined:
      return FrameFlags.None;
    case 'gzip':
      return FrameFlags.Gzip;
    case 'brotli':
      return FrameFlags.Brotli;
  }
}

/** The algorithm of a valid flags byte; undefined: not compressed. */
export function algorithmOf(flags: number): Algorithm | undefined {
  if (flags === FrameFlags.Gzip) return 'gzip';
  return flags === FrameFlags.Brotli ? 'brotli' : undefined;
}

/**
 * The first algorithm of the client's list (header `supported-compression`: names in descending preference, separated by commas) that the
 * broker supports. Ignores the case of names and skips unknown ones. Undefined when there is none.
 */
export function negotiate(
  offered: string | undefined,
  supported: readonly Algorithm[],
): Algorithm | undefined {
  for (const name of (offered ?? '').split(',')) {
    const algorithm = supported.find((candidate) => candidate === name.trim().toLowerCase());
    if (algorithm !== undefined) return algorithm;
  }
  return undefined;
}

/**
 * The port to a compression library. Both methods return a result or a promise of it; the caller keeps the frames of a connection in order
 * while it waits for a promise. Neither method changes its input or keeps it after the result.
 */
export interface Compressor {
  /** Rejects or throws only when the library itself fails. */
  compress(algorithm: Algorithm, body: Buffer): Buffer | Promise<Buffer>;
  /**
   * Returns a fault, and does not throw, when the bytes are not exactly one compressed body (INVALID_MESSAGE) or it holds more than
   * `limitBytes` (MESSAGE_TOO_LARGE). Uses little more memory than the limit.
   */
  decompress(
    algorithm: Algorithm,
    body: Buffer,
    limitBytes: number,
  ): Buffer | ProtocolFault | Promise<Buffer | ProtocolFault>;
}
