// Compresses bodies as clients do, so that checks can send compressed frames. Areas: COMPRESS.
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { frameAround } from './encode.ts';

export const algorithmFlags = { none: 0, gzip: 1, brotli: 2 } as const;
/** The default compression threshold of both sides. */
export const defaultThresholdBytes = 1024;
export type Algorithm = 'gzip' | 'brotli';

export function compress(body: Buffer, algorithm: Algorithm): Buffer {
  if (algorithm === 'gzip') return gzipSync(body);
  return brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } });
}

/** A complete frame with a compressed body and the flags byte of the algorithm. */
export function compressedFrame(body: Buffer, algorithm: Algorithm): Buffer {
  return frameAround(compress(body, algorithm), { flags: algorithmFlags[algorithm] });
}
