// The event stream, cut anywhere.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codePoint } from '../../testing/code-point.ts';
import { EventStreamParser, type StreamEvent } from './event-stream.ts';

function parse(chunks: readonly Uint8Array[]): readonly StreamEvent[] {
  const parser = new EventStreamParser();
  return chunks.flatMap((chunk) => parser.push(chunk));
}

const parseText = (text: string) => parse([Buffer.from(text)]);

describe('an event stream', () => {
  it('gives events with name and data', () => {
    expect(parseText('event: change\ndata: {"a":1}\n\ndata:x\n\n')).toEqual([
      { name: 'change', data: '{"a":1}' },
      { name: 'message', data: 'x' },
    ]);
  });

  it('joins the data lines of an event, and takes all three line ends', () => {
    expect(parseText('data: a\r\ndata\rdata:  b\n\r\n')).toEqual([{ name: 'message', data: 'a\n\n b' }]);
  });

  it('ignores a byte order mark, comments, unknown fields, events without data and an event without its end', () => {
    expect(parseText('\uFEFF: hi\nid: 7\nretry: 1\n\nevent: x\n\ndata: y\n\ndata: z\n')).toEqual([
      { name: 'message', data: 'y' },
    ]);
  });

  it('gives the same events wherever its bytes are cut', () => {
    const line = fc.oneof(
      fc.string({ unit: codePoint, maxLength: 12 }).map((text) => `data: ${text.replace(/[\r\n]/g, '')}`),
      fc.constantFrom('', '', 'event: change', ': comment', 'data', 'data: ü€😀'),
    );
    const end = fc.constantFrom('\n', '\r', '\r\n');
    const text = fc.array(fc.tuple(line, end).map((parts) => parts.join(''))).map((lines) => lines.join(''));
    fc.assert(
      fc.property(text, fc.array(fc.nat({ max: 9 })), (whole, lengths) => {
        const bytes = Buffer.from(whole);
        const chunks: Buffer[] = [];
        let at = 0;
        for (const length of lengths) {
          chunks.push(bytes.subarray(at, at + length));
          at += length;
        }
        chunks.push(bytes.subarray(at));
        expect(parse(chunks)).toEqual(parse([bytes]));
      }),
    );
  });

  it('is refused when an event is too long, with and without a line end', () => {
    for (const text of ['data: 123456\n', 'data: 123456', 'data: 1234\ndata: 5678\n']) {
      const parser = new EventStreamParser(5);
      expect(() => parser.push(Buffer.from(text)), text).toThrow('too long');
    }
  });
});
