// A chunk as the sockets of the broker give it: valid only until its listeners have returned, because others are then read into the same
// buffer. In tests it is overwritten at once, so whoever keeps a view of it reads something else.

/** Passes on a copy of the chunk, which is overwritten afterwards; returns what `pass` returns. */
export function passLent(chunk: Buffer, pass: (lent: Buffer) => boolean): boolean {
  const lent = ownCopy(chunk);
  const result = pass(lent);
  lent.fill(0xee);
  return result;
}

/** Not from Node's buffer pool, as with sockets: what a broker keeps from the pool must not share it with what is on its way. */
export function ownCopy(bytes: Buffer): Buffer {
  const { buffer } = new Uint8Array(bytes);
  return Buffer.from(buffer);
}
