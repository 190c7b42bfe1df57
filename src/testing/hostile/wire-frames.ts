// The bytes that hostile clients send: frames of commands, and bodies that decompress to a thousand times their size. Made once for each
// process; a large body of zeros is compressed in pieces, because it is never in memory as a whole.

import { once } from 'node:events';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';
import { type BodyParts, bodyBytes, frameBytes } from '../wire-bytes.ts';

export function frame(parts: BodyParts): Buffer {
  return frameBytes(bodyBytes(parts));
}

export const connectFrame = frame({ command: 0, id: 'connect' });

const PIECE_BYTES = 1024 * 1024;

/** A frame whose body is the compressed form of so many zeros. */
export async function bombFrame(algorithm: 'gzip' | 'brotli', byteCount: number): Promise<Buffer> {
  const packer =
    algorithm === 'gzip'
      ? createGzip({ level: 9 })
      : createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
  const packed: Buffer[] = [];
  packer.on('data', (chunk: Buffer) => void packed.push(chunk));
  const piece = Buffer.alloc(PIECE_BYTES);
  for (let left = byteCount; left > 0; left -= PIECE_BYTES) {
    if (!packer.write(piece.subarray(0, Math.min(left, PIECE_BYTES)))) await once(packer, 'drain');
  }
  packer.end();
  await once(packer, 'end');
  return frameBytes(Buffer.concat(packed), algorithm === 'gzip' ? 1 : 2);
}
