// Very large bodies in few bytes on the wire, made off the runner's event loop: a runner that blocks itself could not
// be believed. Areas: FRAME, COMPRESS.
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const compressInPool = promisify(gzip);

export function gzipOf(body: Buffer): Promise<Buffer> {
  return compressInPool(body);
}
