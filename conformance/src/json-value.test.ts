// A JSON value is equal to itself, however it is written, and different from any other value. The property tests write a random value in
// two random ways, and change one of its leaves.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSameJson, jsonForm } from './json-value.ts';
import { codePoint } from './testing/code-point.ts';

type Leaf = { readonly kind: 'leaf'; readonly text: string };
type Tree =
  | Leaf
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'array'; readonly elements: readonly Tree[] }
  | { readonly kind: 'object'; readonly members: readonly (readonly [string, Tree])[] };

const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 30 });
const numberText = fc
  .tuple(fc.boolean(), digits, fc.option(digits), fc.option(fc.integer({ min: -500, max: 500 })))
  .map(([isNegative, whole, fraction, power]) => {
    const trimmed = whole.replace(/^0+(?=\d)/, '');
    const tail = `${fraction === null ? '' : `.${fraction}`}${power === null ? '' : `e${power}`}`;
    return `${isNegative ? '-' : ''}${trimmed}${tail}`;
  });
// Single UTF-16 units, so that half surrogate pairs occur too.
const anyText = fc.string({
  unit: fc.oneof(
    fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
    fc.constantFrom('"', '\\', '/', 'a', 'ä', '🚀', '\n'),
  ),
  maxLength: 12,
});
const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    fc
      .oneof(numberText, fc.constantFrom('true', 'false', 'null'))
      .map((text): Tree => ({ kind: 'leaf', text })),
    anyText.map((value): Tree => ({ kind: 'string', value })),
    fc.array(tie('tree'), { maxLength: 4 }).map((elements): Tree => ({ kind: 'array', elements })),
    fc
      .uniqueArray(fc.tuple(anyText, tie('tree')), { selector: ([name]) => name, maxLength: 4 })
      .map((members): Tree => ({ kind: 'object', members })),
  ),
}));

/** An endless stream of random numbers from 0 to `below` - 1. */
type Draw = (below: number) => number;
const draws = fc.infiniteStream(fc.nat()).map(
  (stream): Draw =>
    (below) => {
      const { value } = stream.next();
      return Number(value) % below;
    },
);

function written(value: Tree, draw: Draw): string {
  const gap = (): string => ['', '', ' ', '\n', '\t \r'][draw(5)] ?? '';
  const inner = (): string => {
    if (value.kind === 'leaf') return rewrittenNumber(value.text, draw);
    if (value.kind === 'string') return writtenString(value.value, draw);
    if (value.kind === 'array')
      return `[${value.elements.map((element) => written(element, draw)).join(',') || gap()}]`;
    const members = value.members.map(
      ([name, member]) => `${gap()}${writtenString(name, draw)}${gap()}:${written(member, draw)}`,
    );
    for (let at = members.length - 1; at > 0; at -= 1) {
      const other = draw(at + 1);
      [members[at], members[other]] = [members[other] ?? '', members[at] ?? ''];
    }
    return `{${members.join(',') || gap()}}`;
  };
  return gap() + inner() + gap();
}

function writtenString(value: string, draw: Draw): string {
  const units = value.split('').map((unit) => {
    const code = unit.charCodeAt(0).toString(16).padStart(4, '0');
    if (draw(2) === 0) return `\\u${draw(2) === 0 ? code : code.toUpperCase()}`;
    if (unit === '/') return '\\/';
    return JSON.stringify(unit).slice(1, -1);
  });
  return `"${units.join('')}"`;
}

/** The same number, with another position of the decimal point and more zeros. */
function rewrittenNumber(text: string, draw: Draw): string {
  const [, sign = '', whole = '', fraction, power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e(-?\d+))?$/.exec(text) ?? [];
  if (whole === '') return text;
  const letter = draw(2) === 0 ? 'e' : 'E';
  const more = '0'.repeat(draw(3));
  if (draw(2) === 0) return `${sign}${whole}.${fraction ?? ''}${more}0${letter}${power}`;
  const moved = `${whole}${fraction ?? ''}`.replace(/^0+(?=\d)/, '');
  const shifted = Number(power) - (fraction ?? '').length - more.length;
  return `${sign}${moved}${moved === '0' ? '' : more}${letter}${shifted < 0 ? '' : '+'}${shifted}`;
}

/** The tree with its first leaf or empty value replaced. */
function changed(value: Tree): Tree {
  if (value.kind === 'array' && value.elements.length > 0)
    return { ...value, elements: value.elements.map((one, at) => (at === 0 ? changed(one) : one)) };
  if (value.kind === 'object' && value.members.length > 0)
    return {
      ...value,
      members: value.members.map(([name, one], at) => [name, at === 0 ? changed(one) : one] as const),
    };
  if (value.kind === 'string') return { ...value, value: `${value.value}x` };
  if (value.kind === 'leaf' && /\d/.test(value.text)) return { kind: 'leaf', text: nextNumber(value.text) };
  return { kind: 'leaf', text: value.kind === 'leaf' && value.text === 'null' ? 'false' : 'null' };
}

/** The number with its last digit before the exponent changed. */
function nextNumber(text: string): string {
  return text.replace(/\d(?=e|$)/, (digit) => String((Number(digit) + 1) % 10));
}

describe('JSON values', () => {
  it('are equal, however they are written', () => {
    fc.assert(
      fc.property(tree, draws, draws, (value, one, other) => {
        expect(isSameJson(written(value, one), written(value, other))).toBe(true);
      }),
    );
  });

  it('differ when any part of them differs', () => {
    fc.assert(
      fc.property(tree, draws, draws, (value, one, other) => {
        expect(isSameJson(written(value, one), written(changed(value), other))).toBe(false);
      }),
    );
  });

  it('are read as JSON.parse reads them, where a double holds their numbers', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5, stringUnit: codePoint }), (text) => {
        // JSON.stringify writes -0 as 0.
        const value = JSON.parse(JSON.stringify(JSON.parse(text)));
        expect(JSON.parse(jsonForm(text) ?? '')).toEqual(value);
      }),
    );
  });

  it('are texts that JSON.parse accepts, and no others', () => {
    const unit = fc.constantFrom(...'{}[]",:\\u0019.eE+-tru nl\n\u0001a');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 12 }), (text) => {
        expect(jsonForm(text) !== undefined).toBe(isAccepted(text));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['9007199254740993', '9007199254740992'],
    ['1e400', 'null'],
    ['1e400', '1e401'],
    ['1e-400', '0'],
    ['0.1', '0.1000000000000000055511151231257827'],
    ['123456789012345678901234567890', '123456789012345678901234567891'],
    ['1e99999999999999999999', '1e99999999999999999998'],
    ['1', '"1"'],
    ['1', '-1'],
    ['[1,2]', '[2,1]'],
    ['{"a":1}', '{"b":1}'],
    ['{"a":null}', '{}'],
    ['"\\ud83d"', '"\\ude80"'],
    ['""', ''],
    ['null', ''],
    ['"a,b"', '"a","b"'],
  ])('%s is not %s', (one, other) => {
    expect(isSameJson(one, other)).toBe(false);
  });

  it.each([
    ['1.0', '1'],
    ['10e-1', '1'],
    ['-0', '0'],
    ['-0.00e5', '0'],
    ['1e400', '10E+399'],
    ['1e99999999999999999999', '0.1e100000000000000000000'],
    ['"\\ud83d\\ude80"', '"🚀"'],
    ['{"a":1,"a":2}', '{"a":2}'],
    ['{"__proto__":1,"b":2}', '{"b":2,"\\u005f_proto__":1}'],
    ['', ''],
    ['no JSON', 'no JSON'],
  ])('%s is %s', (one, other) => {
    expect(isSameJson(one, other)).toBe(true);
    expect(isSameJson(Buffer.from(one), other)).toBe(true);
  });

  it('do not start with a byte order mark, and are valid UTF-8', () => {
    expect(jsonForm(Buffer.from('efbbbf31', 'hex'))).toBeUndefined();
    expect(jsonForm(Buffer.from('22ff22', 'hex'))).toBeUndefined();
    expect(isSameJson(Buffer.from('22ff22', 'hex'), '"\ufffd"')).toBe(false);
  });

  it('may be nested to any depth', () => {
    const depth = 50_000;
    const nested = (inner: string): string => '[{"a":'.repeat(depth) + inner + '}]'.repeat(depth);
    expect(isSameJson(nested('1'), nested(' 1.0'))).toBe(true);
    expect(isSameJson(nested('1'), nested('2'))).toBe(false);
    expect(jsonForm('['.repeat(depth))).toBeUndefined();
  });

  it('may be long', () => {
    const zeros = '0'.repeat(500_000);
    expect(isSameJson(`1${zeros}1`, `1${zeros}1.0`)).toBe(true);
    expect(isSameJson(`"${'é\\n'.repeat(300_000)}"`, ` "${'\\u00e9\\n'.repeat(300_000)}"`)).toBe(true);
  });
});

function isAccepted(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
