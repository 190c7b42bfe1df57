// What the protocol knows about compression: the algorithms' names and flags, how the two sides agree on one, and the port
// behind which the compressing itself is done. Must not compress anything itself. Implements area COMPRESS.

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

/** The algorithm that a valid flags byte names, undefined for none. */
export function algorithmOf(flags: number): Algorithm | undefined {
  if (flags === FrameFlags.Gzip) return 'gzip';
  return flags === FrameFlags.Brotli ? 'brotli' : undefined;
}

/**
 * The first algorithm of the client's list (header `supported-compression`: names in falling preference, separated by
 * commas) that the broker supports. Names compare in any case; unknown ones are skipped. Undefined when nothing agrees.
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
 * The port to a compression library. A result that is not a promise is there at once; the caller keeps the frames of a
 * connection in order while it waits for one that is. Neither method changes its input or keeps it after the result.
 */
export interface Compressor {
  /** Rejects or throws only when the library itself fails. */
  compress(algorithm: Algorithm, body: Buffer): Buffer | Promise<Buffer>;
  /**
   * A fault, never a throw, when the bytes are not one whole compressed body (INVALID_MESSAGE) or when it holds more than
   * `limitBytes` (MESSAGE_TOO_LARGE); no more memory than about the limit is taken to find out.
   */
  decompress(
    algorithm: Algorithm,
    body: Buffer,
    limitBytes: number,
  ): Buffer | ProtocolFault | Promise<Buffer | ProtocolFault>;
}
