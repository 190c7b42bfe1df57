// Lines read the same however the stream is cut, and break at LF and CRLF only.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readLines } from './lines.ts';

async function linesOf(chunks: readonly Buffer[], maxBytes?: number): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of readLines(toStream(chunks), maxBytes)) lines.push(line.toString());
  return lines;
}

async function* toStream(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks;
}

it('joins what was cut', async () => {
  const text = fc
    .array(fc.constantFrom('a', 'ü', '\u2028', '\n', '\r\n', ' ', '{"x":1}'), { maxLength: 30 })
    .map((parts) => parts.join(''));
  await fc.assert(
    fc.asyncProperty(text, fc.array(fc.nat({ max: 40 })), async (whole, cuts) => {
      const bytes = Buffer.from(whole);
      const places = [
        0,
        ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b),
        bytes.length,
      ];
      const chunks = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
      const expected = whole.split(/\r?\n/);
      if (expected.at(-1) === '') expected.pop();
      expect(await linesOf(chunks)).toEqual(expected);
    }),
  );
});

it('gives the start of a line that is too long, and the next one whole, wherever they are cut', async () => {
  for (const size of [1, 2, 3, 5, 100]) {
    const bytes = Buffer.from('abc\r\nabcdefghi\nabcd\r\nabcd');
    const chunks: Buffer[] = [];
    for (let start = 0; start < bytes.length; start += size) chunks.push(bytes.subarray(start, start + size));
    expect(await linesOf(chunks, 3)).toEqual(['abc', 'abcd', 'abcd', 'abcd']);
  }
});

it('takes a last line without an end, and text chunks', async () => {
  expect(await linesOf([Buffer.from('a\n\nb')])).toEqual(['a', '', 'b']);
  expect(await linesOf([])).toEqual([]);
});
