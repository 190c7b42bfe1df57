// Splits a stream of bytes into lines at LF or CRLF, and nowhere else: JSON texts may hold the other line ends of Unicode, at which
// the runtime's own line reader would cut them.

const LF = 0x0a;
const CR = 0x0d;

/** The lines without their line ends, including a last line without one, but not an empty rest. */
export async function* readLines(input: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  for await (const chunk of input) {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    let start = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
      yield withoutCarriageReturn(Buffer.concat([...rest, bytes.subarray(start, end)]));
      rest = [];
      start = end + 1;
    }
    if (start < bytes.length) rest.push(bytes.subarray(start));
  }
  if (rest.length > 0) yield withoutCarriageReturn(Buffer.concat(rest));
}

function withoutCarriageReturn(line: Buffer): Buffer {
  return line.at(-1) === CR ? line.subarray(0, -1) : line;
}
