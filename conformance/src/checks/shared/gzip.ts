// Very large bodies in few bytes on the wire, made piece by piece and off the runner's event loop: a runner that blocks itself could
// not be believed. Areas: FRAME, COMPRESS.
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';

/** The pieces, put one after the other, in gzip. */
export function gzipOf(pieces: Iterable<Buffer>): Promise<Buffer> {
  return buffer(Readable.from(pieces).pipe(createGzip({ level: 1 })));
}
