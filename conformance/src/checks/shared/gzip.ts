// Compresses very large bodies piece by piece and outside the runner's event loop, so that the runner's time measurements stay correct.
// Areas: FRAME, COMPRESS.
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';

/** The concatenated pieces, compressed with gzip. */
export function gzipOf(pieces: Iterable<Buffer>): Promise<Buffer> {
  return buffer(Readable.from(pieces).pipe(createGzip({ level: 1 })));
}
