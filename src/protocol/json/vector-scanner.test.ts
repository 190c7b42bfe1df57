// The vector scanner against the byte scanner: the same verdict on every text, wherever in a block of 64 bytes it stands.

import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { codePoint } from '../../testing/code-point.ts';
import { runsOf } from '../../testing/property-runs.ts';
import { scanJson } from '../json-scanner.ts';
import { maxJsonDepth, scanBytes } from './byte-scanner.ts';
import { maxTextBytes } from './scanner-memory.ts';
import { VectorScanner, type WebAssemblyRuntime } from './vector-scanner.ts';

type Case = { readonly name: string; readonly text?: string; readonly hex?: string };

const file = new URL('../../../fixtures/json/texts.json', import.meta.url);
const cases = JSON.parse(readFileSync(file, 'utf8')) as readonly Case[];
const texts = cases.map(({ text, hex }) =>
  hex === undefined ? Buffer.from(text ?? '') : Buffer.from(hex, 'hex'),
);
/** A new one for each test, so that each runs what assembles it. */
let scanner = new VectorScanner(maxJsonDepth);

beforeEach(() => {
  scanner = new VectorScanner(maxJsonDepth);
});

/** Those that the two scanners judge differently, as text. */
function disputed(candidates: Iterable<Buffer>): readonly string[] {
  return [...candidates]
    .filter((bytes) => scanner.accepts(bytes) !== (scanBytes(bytes) === true))
    .map((bytes) => bytes.toString('latin1'));
}

/** The text after `count` bytes that change nothing: white space, or a string in an array around both. */
function shifted(text: Buffer, count: number): readonly Buffer[] {
  const around = [`["${'x'.repeat(count)}",`, ']'].map((part) => Buffer.from(part)) as [Buffer, Buffer];
  return [Buffer.concat([Buffer.alloc(count, ' '), text]), Buffer.concat([around[0], text, around[1]])];
}

function* shiftedByUpTo(limit: number, text: Buffer): Generator<Buffer> {
  for (let count = 0; count <= limit; count += 1) yield* shifted(text, count);
}

function* withOneByteChanged(text: Buffer): Generator<Buffer> {
  for (let at = 0; at < text.length; at += 1) {
    for (let byte = 0; byte < 256; byte += 1) {
      const changed = Buffer.from(text);
      changed[at] = byte;
      yield changed;
    }
  }
}

const everything = Buffer.from(
  '{"é":[-1.5e+3,"\\u00e9\\n€𝄞\\\\",true,null , {}],"b\\"":{"c":false},\t"d":\n[ ]}',
);

describe('the vector scanner', () => {
  it('takes most texts that are valid, so that the byte scanner need not', () => {
    const valid = texts.filter((bytes) => scanBytes(bytes) === true);
    expect(valid.length).toBeGreaterThan(30);
    expect(valid.filter((bytes) => !scanner.accepts(bytes))).toEqual([]);
  });

  it('agrees on the named texts at every place of a block [PUBLISH-013, PUBLISH-014]', () => {
    expect(texts.flatMap((text) => disputed(shiftedByUpTo(130, text)))).toEqual([]);
  });

  it('agrees on every beginning of a text at every place of a block [PUBLISH-014]', () => {
    const beginnings = Array.from(everything, (_, length) => everything.subarray(0, length));
    expect(beginnings.flatMap((text) => disputed(shiftedByUpTo(70, text)))).toEqual([]);
  });

  it('agrees on every change of one byte of a text, and of the string before it [PUBLISH-014, PUBLISH-015]', () => {
    for (const text of shifted(everything, 29)) expect(disputed(withOneByteChanged(text))).toEqual([]);
  });

  it('agrees on every change of one byte at many places of a block [PUBLISH-014, PUBLISH-015]', () => {
    const changed = [...withOneByteChanged(everything)];
    const isAccepted = changed.map((bytes) => scanBytes(bytes) === true);
    for (const count of [0, 5, 11, 20, 37, 46, 50, 58]) {
      const misjudged = changed.filter((bytes, index) =>
        shifted(bytes, count).some((one) => scanner.accepts(one) !== isAccepted[index]),
      );
      expect(misjudged.map(String), `after ${count} bytes`).toEqual([]);
    }
  });

  it.each(['', 'bf', '8080', 'bf41'])(
    'agrees on characters of several bytes at the end of a block, with %j behind them [PUBLISH-015]',
    (hex) => {
      const characters = Array.from({ length: 16_384 }, (_, pair) =>
        Buffer.concat([Buffer.from([0xc0 + (pair >> 8), pair & 0xff]), Buffer.from(`${hex}22`, 'hex')]),
      );
      const isAccepted = characters.map((end) => scanBytes(Buffer.concat([Buffer.from('"'), end])) === true);
      for (const count of [59, 61, 62, 63]) {
        const start = Buffer.from(`"${'x'.repeat(count - 1)}`);
        const misjudged = characters.filter(
          (end, index) => scanner.accepts(Buffer.concat([start, end])) !== isAccepted[index],
        );
        expect(
          misjudged.map((end) => end.toString('hex')),
          `at place ${count}`,
        ).toEqual([]);
      }
    },
  );

  it('agrees on numbers of any length [PUBLISH-013]', () => {
    const digits = [0, 1, 2, 15, 16, 17, 33].map((count) => '7'.repeat(count));
    const numbers = ['', '-', '0', '-0', '1', '-1'].flatMap((start) =>
      digits.flatMap((whole) =>
        ['', '.', '.0', 'e', 'E5', 'e+', 'e-5', `.5e${whole}`, `.${whole}`, 'x'].map(
          (end) => `${start}${whole}${end}`,
        ),
      ),
    );
    expect(numbers.flatMap((text) => disputed(shiftedByUpTo(66, Buffer.from(text))))).toEqual([]);
  });

  it('agrees on brackets up to the limit of depth and beyond [PUBLISH-017, PUBLISH-018]', () => {
    const brackets = fc.tuple(
      fc.nat({ max: 70 }),
      fc.nat({ max: 70 }),
      fc.constantFrom('[]', '{}', '[}', '0'),
    );
    fc.assert(
      fc.property(
        brackets,
        fc.array(fc.boolean(), { minLength: 70, maxLength: 70 }),
        ([up, down, end], kinds) => {
          const open = kinds.slice(0, up).map((isObject) => (isObject ? '{"a":' : '['));
          const close = kinds.slice(0, down).map((isObject) => (isObject ? '}' : ']'));
          expect(
            disputed(shifted(Buffer.from(`${open.join('')}${end}${close.reverse().join('')}`), 0)),
          ).toEqual([]);
          const matching = kinds.slice(0, up).map((isObject) => (isObject ? '}' : ']'));
          expect(
            disputed(shifted(Buffer.from(`${open.join('')}${end}${matching.reverse().join('')}`), up)),
          ).toEqual([]);
        },
      ),
      { numRuns: runsOf(500) },
    );
  });

  it('agrees on generated values with bytes changed, cut off and shifted [PUBLISH-013, PUBLISH-014, PUBLISH-015]', () => {
    const space = fc.constantFrom(undefined, 2, '\t');
    const change = fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 }));
    const value = fc.jsonValue({ maxDepth: 3, stringUnit: codePoint });
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 1 }),
        space,
        change,
        fc.nat({ max: 64 }),
        (json, indent, [at, byte], count) => {
          const text = Buffer.from(JSON.stringify(json, undefined, indent));
          const changed = Buffer.from(text);
          changed[at % text.length] = byte;
          const candidates = [text, changed, text.subarray(0, at % text.length)];
          expect(scanner.accepts(text)).toBe(true);
          expect(disputed(candidates.flatMap((one) => shifted(one, count)))).toEqual([]);
        },
      ),
      { numRuns: runsOf(100) },
    );
  });

  it('agrees on texts of which one token was left out, doubled or replaced [PUBLISH-014]', () => {
    const tokens = ['[', ']', '{', '}', ',', ':', '"a"', '""', '0', '-1.5', 'true', ' ', '\n'];
    const record = ['{', '"id"', ':', '10', ',', '"tags"', ':', '[', '"new"', ',', ' ', '7', ']', '}'];
    const text = ['[', ...record, ',', ...record, ',', ...record, ',', ...record, ']'];
    const edit = fc.tuple(
      fc.nat({ max: text.length - 1 }),
      fc.nat({ max: 1 }),
      fc.constantFrom('', ...tokens),
    );
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), fc.nat({ max: 64 }), (edits, count) => {
        const edited = [...text];
        for (const [at, removed, token] of edits) edited.splice(at, removed, token);
        expect(disputed(shifted(Buffer.from(edited.join('')), count))).toEqual([]);
      }),
      { numRuns: runsOf(1500) },
    );
  });

  it('agrees on texts that have arrived in its memory, wherever, and leaves what stands around them', () => {
    const buffer = scanner.buffer() ?? Buffer.alloc(0);
    expect(buffer.length).toBe(524_288);
    const wrong = texts.filter((text) => {
      for (const start of [0, 1, 63, 4_000, buffer.length - text.length]) {
        const end = start + text.length;
        buffer.fill(']').set(text, start);
        const before = Buffer.from(buffer);
        if (scanner.accepts(buffer, start, end) !== (scanBytes(text) === true)) return true;
        if (!buffer.equals(before)) return true;
      }
      return false;
    });
    expect(wrong.map(String)).toEqual([]);
  });

  it('scans a view of its memory where it is, and after that a text that is elsewhere', () => {
    const buffer = scanner.buffer() ?? Buffer.alloc(0);
    buffer.write('[1]  [2', 10);
    const view = buffer.subarray(10, 30);
    expect([scanner.accepts(view, 0, 3), scanner.accepts(view, 0, 7)]).toEqual([true, false]);
    expect(scanner.accepts(Buffer.from('x[3]x'), 1, 4)).toBe(true);
    expect(scanner.accepts(view, 5, 8)).toBe(false);
    buffer.write(']', 17);
    expect(scanner.accepts(view, 5, 8)).toBe(true);
    expect(scanner.buffer()?.buffer).toBe(buffer.buffer);
  });

  it('takes nothing from the text before', () => {
    expect(scanner.accepts(Buffer.from(`["${'x'.repeat(200)}"]`))).toBe(true);
    expect(scanner.accepts(Buffer.from(`["${'x'.repeat(100)}`))).toBe(false);
    expect(scanner.accepts(Buffer.from('[1,{'))).toBe(false);
    expect(scanner.accepts(Buffer.from('{"a":1}'))).toBe(true);
    expect(scanner.accepts(Buffer.alloc(0))).toBe(false);
  });

  it('leaves texts that do not fit into its memory to the byte scanner', () => {
    const fitting = Buffer.from(`"${'x'.repeat(maxTextBytes - 2)}"`);
    const larger = Buffer.from(`"${'x'.repeat(maxTextBytes - 1)}"`);
    expect([fitting, larger].map((bytes) => scanner.accepts(bytes))).toEqual([true, false]);
    expect(scanJson(larger)).toBe(true);
  });
});

describe('a platform without vectors', () => {
  const { WebAssembly: runtime } = globalThis as unknown as { readonly WebAssembly: WebAssemblyRuntime };
  const text = Buffer.from('{"a":[1,2,3]}');

  it('accepts nothing, and runs nothing that it refuses', () => {
    let moduleCount = 0;
    class Module {
      constructor() {
        moduleCount += 1;
      }
    }
    const refusing = new VectorScanner(maxJsonDepth, { ...runtime, validate: () => false, Module });
    expect([refusing.accepts(text), refusing.accepts(text), moduleCount]).toEqual([false, false, 0]);
  });

  it('accepts nothing when there is no memory for it', () => {
    class Memory {
      readonly buffer = new ArrayBuffer(0);
      constructor() {
        throw new RangeError('could not allocate memory');
      }
    }
    class Instance {
      readonly exports = {};
      constructor() {
        throw new RangeError('could not allocate memory for code');
      }
    }
    const { validate, Module, Memory: Sufficient } = runtime;
    const cramped = new VectorScanner(maxJsonDepth, { validate, Module, Instance, Memory: Sufficient });
    expect([cramped.accepts(text), cramped.buffer()?.length]).toEqual([false, 524_288]);
    const poor = new VectorScanner(maxJsonDepth, { ...runtime, validate: runtime.validate, Memory });
    expect([poor.accepts(text), poor.buffer()]).toEqual([false, undefined]);
  });
});
