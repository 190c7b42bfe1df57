// The scanner against named texts, against JSON.parse as an oracle, and at its own limit of depth.

import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codePoint } from '../testing/code-point.ts';
import { runsOf } from '../testing/property-runs.ts';
import { maxJsonDepth, scanJson } from './json-scanner.ts';

type Case = {
  readonly name: string;
  readonly accept: boolean;
  readonly text?: string;
  readonly hex?: string;
};

const file = new URL('../../fixtures/json/texts.json', import.meta.url);
const cases = JSON.parse(readFileSync(file, 'utf8')) as readonly Case[];
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function bytesOf(one: Case): Buffer {
  return one.hex === undefined ? Buffer.from(one.text ?? '') : Buffer.from(one.hex, 'hex');
}

function parses(bytes: Buffer): boolean {
  try {
    JSON.parse(strictUtf8.decode(bytes));
    return true;
  } catch {
    return false;
  }
}

/** Longest run of open brackets outside strings: enough for texts that parse. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const character of text.replaceAll(/"(?:[^"\\]|\\.)*"/gs, '')) {
    if (character === '[' || character === '{') depth += 1;
    if (character === ']' || character === '}') depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

function isTaken(bytes: Buffer): boolean {
  return scanJson(bytes) === true;
}

function mustBeTaken(bytes: Buffer): boolean {
  return parses(bytes) && depthOf(bytes.toString()) <= maxJsonDepth;
}

function agrees(bytes: Buffer): void {
  expect(isTaken(bytes), bytes.toString('latin1')).toBe(mustBeTaken(bytes));
}

const titles = {
  true: cases.filter((one) => one.accept).map((one) => [one.name, one] as const),
  false: cases.filter((one) => !one.accept).map((one) => [one.name, one] as const),
};

describe('scanJson', () => {
  it.each(titles.true)('takes %s [PUBLISH-013]', (_name, one) => {
    expect(scanJson(bytesOf(one))).toBe(true);
    expect(parses(bytesOf(one))).toBe(true);
  });

  it.each(titles.false)('refuses %s [PUBLISH-014]', (_name, one) => {
    expect(scanJson(bytesOf(one))).not.toBe(true);
  });

  it.each([
    ['[1,]', 3, 'a value is missing'],
    ['{"a" 1}', 5, 'a colon is missing'],
    ['{"a":1 "b"}', 7, 'a comma or a closing brace is missing'],
    ['{1:1}', 1, 'a key is missing'],
    ['[1 2]', 3, 'a comma or a closing bracket is missing'],
    ['1.', 2, 'digits are missing'],
    ['"abc', 4, 'a string does not end'],
    ['"a\tb"', 2, 'a control character stands in a string'],
    ['"ab\\x"', 3, 'an escape is unknown or incomplete'],
    ['1 x', 2, 'something follows the text'],
    ['', 0, 'a value is missing'],
    ['['.repeat(65), 64, 'the text is nested deeper than 64 levels'],
  ])('says where and why %s is no text', (text, offset, reason) => {
    expect(scanJson(Buffer.from(text))).toEqual({ offset, reason });
  });

  it('takes 64 levels and refuses 65, of arrays and objects alike [PUBLISH-017, PUBLISH-018]', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const nested = (levels: number) =>
        Buffer.from(`${open.repeat(levels - 1)}[]${close.repeat(levels - 1)}`);
      expect(scanJson(nested(64))).toBe(true);
      expect(scanJson(nested(65))).toMatchObject({ reason: 'the text is nested deeper than 64 levels' });
    }
  });

  it('refuses a byte order mark before a text [PUBLISH-016]', () => {
    expect(scanJson(Buffer.from('\ufeff{}'))).toMatchObject({ offset: 0 });
  });

  it('says that bytes are not UTF-8 [PUBLISH-015]', () => {
    expect(scanJson(Buffer.from('22c0af22', 'hex'))).toEqual({
      offset: 1,
      reason: 'a character is not valid UTF-8',
    });
  });

  it('refuses a million brackets without running out of stack [PUBLISH-017]', () => {
    expect(scanJson(Buffer.alloc(1_000_000, '['))).toMatchObject({ offset: 64 });
  });

  it('reads only its own part of a larger buffer', () => {
    expect(scanJson(Buffer.from('x"open"]').subarray(1, 7))).toBe(true);
    expect(scanJson(Buffer.from('"open"').subarray(0, 5))).toMatchObject({ reason: 'a string does not end' });
  });

  it('agrees with JSON.parse on every text of two bytes', () => {
    const pairs = Array.from({ length: 65_536 }, (_, pair) => Buffer.from([pair >> 8, pair & 0xff]));
    expect(pairs.filter((bytes) => isTaken(bytes) !== parses(bytes))).toEqual([]);
    expect(pairs.filter(parses).length).toBeGreaterThan(100);
  });

  it('agrees with JSON.parse on every beginning and every change of one byte of a text', () => {
    const text = Buffer.from('{"é":[-1.5e+3,"\\u00e9\\n€𝄞",true,null ],"b":{}}');
    const changed = (at: number, byte: number): Buffer => {
      const copy = Buffer.from(text);
      copy[at] = byte;
      return copy;
    };
    const near = [...text.keys()].flatMap((at) => [
      text.subarray(0, at),
      ...Array.from({ length: 256 }, (_, byte) => changed(at, byte)),
    ]);
    expect(near.length).toBe(text.length * 257);
    expect(near.filter((bytes) => isTaken(bytes) !== mustBeTaken(bytes))).toEqual([]);
  });

  it('takes whatever JSON.stringify writes [PUBLISH-013]', () => {
    const indent = fc.constantFrom(undefined, 2, '\t');
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6, stringUnit: codePoint }), indent, (value, space) => {
        expect(scanJson(Buffer.from(JSON.stringify(value, undefined, space)))).toBe(true);
      }),
    );
  });

  it('agrees with JSON.parse on tokens in any order [PUBLISH-013, PUBLISH-014]', () => {
    const pieces = [
      '[',
      ']',
      '{',
      '}',
      ',',
      ':',
      '"a"',
      '"',
      '\\',
      '0',
      '-',
      '1',
      '.5',
      'e',
      'E+',
      'true',
      'null',
      'false',
      ' ',
    ];
    const text = fc.array(fc.constantFrom(...pieces), { maxLength: 8 });
    fc.assert(
      fc.property(text, (parts) => agrees(Buffer.from(parts.join('')))),
      { numRuns: runsOf(3000) },
    );
  });

  it('agrees with JSON.parse on texts with bytes changed [PUBLISH-014, PUBLISH-015]', () => {
    const change = fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 }));
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 4, stringUnit: codePoint }),
        fc.array(change, { maxLength: 3 }),
        (text, changes) => {
          const bytes = Buffer.from(text);
          for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
          agrees(bytes);
        },
      ),
      { numRuns: runsOf(1000) },
    );
  });

  it('agrees with JSON.parse on strings of arbitrary bytes [PUBLISH-015]', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), (inside) => {
        agrees(Buffer.concat([Buffer.from('"'), inside, Buffer.from('"')]));
      }),
      { numRuns: runsOf(3000) },
    );
  });
});
