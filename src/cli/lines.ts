// Splits a stream of bytes into lines at LF or CRLF, and nowhere else: JSON texts may hold the other line ends of Unicode, at which
// the runtime's own line reader would cut them.

const LF = 0x0a;
const CR = 0x0d;

/**
 * The lines without their line ends, including a last line without one, but not an empty rest. Of a line of more than `maxBytes` only the
 * start comes, of `maxBytes` + 1, so that no line takes more memory than that.
 */
export async function* readLines(
  input: AsyncIterable<unknown>,
  maxBytes = Number.POSITIVE_INFINITY,
): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  let restLength = 0;
  const shorten = (line: Buffer): Buffer => (line.length > maxBytes ? line.subarray(0, maxBytes + 1) : line);
  for await (const chunk of input) {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    let start = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
      yield shorten(withoutCarriageReturn(Buffer.concat([...rest, bytes.subarray(start, end)])));
      rest = [];
      restLength = 0;
      start = end + 1;
    }
    // Two bytes more than a line may have, as the last of them may be the CR of its end.
    if (start === bytes.length || restLength > maxBytes + 1) continue;
    rest.push(bytes.subarray(start));
    restLength += bytes.length - start;
  }
  if (rest.length > 0) yield shorten(withoutCarriageReturn(Buffer.concat(rest)));
}

function withoutCarriageReturn(line: Buffer): Buffer {
  return line.at(-1) === CR ? line.subarray(0, -1) : line;
}
