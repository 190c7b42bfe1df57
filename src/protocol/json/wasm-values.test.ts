// Each instruction that can be assembled, run by the platform: what it computes is what its name says.

import { describe, expect, it } from 'vitest';
import type { WebAssemblyRuntime } from './vector-scanner.ts';
import { call, WasmFunction } from './wasm-function.ts';
import { encodeModule } from './wasm-module.ts';
import { I32, I64, leb, V128 } from './wasm-values.ts';

const { WebAssembly: runtime } = globalThis as unknown as { readonly WebAssembly: WebAssemblyRuntime };
type Exports = { readonly run: (...parameters: readonly number[]) => number };

/** The memory holds the bytes 0 to 255, each at its own address. */
function run(functions: readonly WasmFunction[], ...parameters: readonly number[]): number {
  const data = Array.from({ length: 256 }, (_, byte) => byte);
  const { exports } = new runtime.Instance(
    new runtime.Module(encodeModule({ functions, memoryPages: 1, data })),
    { host: { memory: new runtime.Memory({ initial: 1, maximum: 1 }) } },
  );
  return (exports as Exports).run(...parameters);
}

function resultOf(expression: I32): number {
  const f = new WasmFunction(0);
  f.return(f.keep(expression));
  return run([f]);
}

const i32 = (value: number): I32 => I32.of(value);
const i64 = (value: number): I64 => I64.of(value);
const upTo15 = Array.from({ length: 16 }, (_, index) => index);
const counting = V128.ofBytes(upTo15);
const signs = V128.ofBytes([0x80, 0xff, 0, 1, 0x7f, ...upTo15.slice(5)]);

describe('an expression', () => {
  it.each([
    ['constants', i32(-123_456_789), -123_456_789],
    ['plus', i32(40).plus(i32(2)), 42],
    ['minus', i32(40).minus(42), -2],
    ['and', i32(12).and(10), 8],
    ['or', i32(12).or(10), 14],
    ['xor', i32(12).xor(10), 6],
    ['shiftLeft', i32(3).shiftLeft(30), -(2 ** 30)],
    ['shiftRight', i32(-1).shiftRight(31), 1],
    ['isZero', i32(0).isZero().plus(i32(7).isZero()), 1],
    ['equals', i32(5).equals(5).plus(i32(5).equals(6).shiftLeft(1)), 1],
    ['differs', i32(5).differs(5).plus(i32(5).differs(6).shiftLeft(1)), 2],
    ['isBelow', i32(5).isBelow(-1).plus(i32(5).isBelow(5).shiftLeft(1)), 1],
    ['isAbove', i32(-1).isAbove(5).plus(i32(5).isAbove(5).shiftLeft(1)), 1],
    ['trailingZeros', i32(40).trailingZeros(), 3],
    ['byte', i32(200).byte().plus(i32(200).byte(20)), 420],
    ['word', i32(1).word(), 0x04030201],
    ['vector', i32(100).vector(5).equals(i32(105).vector()).highBits(), 0xffff],
  ])('of 32 bits computes %s', (_, expression, expected) => {
    expect(resultOf(expression)).toBe(expected);
  });

  it.each([
    ['constants', i64(-2).toI32(), -2],
    ['toI64', i32(-1).toI64().shiftRight(31).toI32(), 1],
    ['plus', i64(-1).plus(i64(3)).toI32(), 2],
    ['minus', i64(1).minus(3).toI32(), -2],
    ['negated', i64(7).negated().toI32(), -7],
    ['and', i64(12).and(10).toI32(), 8],
    ['or', i64(12).or(i64(10)).toI32(), 14],
    ['xor', i64(12).xor(i64(10)).toI32(), 6],
    ['not', i64(12).not().toI32(), -13],
    ['shiftLeft', i64(1).shiftLeft(63).shiftRight(62).toI32(), 2],
    ['spreadRight', i64(1).shiftLeft(63).spreadRight(63).toI32(), -1],
    ['shiftRight', i64(-1).shiftRight(i64(63)).toI32(), 1],
    ['isZero', i64(0).isZero().plus(i64(1).shiftLeft(40).isZero()), 1],
    ['hasAny', i64(0).hasAny().plus(i64(1).shiftLeft(40).hasAny().shiftLeft(1)), 2],
    [
      'isBelow',
      i64(5)
        .isBelow(i64(-1))
        .plus(i64(5).isBelow(i64(5)).shiftLeft(1)),
      1,
    ],
    ['leadingZeros', i64(1).shiftLeft(45).leadingZeros().toI32(), 18],
    ['trailingZeros', i64(1).shiftLeft(45).trailingZeros().toI32(), 45],
  ])('of 64 bits computes %s', (_, expression, expected) => {
    expect(resultOf(expression)).toBe(expected);
  });

  it.each([
    ['lookUp', signs.lookUp(counting).equals(signs).highBits(), 0xffff],
    ['lookUp over 15', counting.lookUp(V128.of(16)).equals(V128.of(0)).highBits(), 0xffff],
    ['equals', counting.equals(V128.of(3)).highBits(), 8],
    ['isBelow', signs.isBelow(V128.of(1)).highBits(), 0b111],
    ['isAbove', signs.isAbove(V128.of(0xff)).highBits(), 0xfffc],
    ['and', counting.and(V128.of(1)).equals(V128.of(1)).highBits(), 0xaaaa],
    ['or', counting.or(V128.of(1)).equals(counting).highBits(), 0xaaaa],
    ['plus', counting.plus(V128.of(0xff)).equals(V128.of(0xff)).highBits(), 1],
    ['hasAny', V128.of(0).hasAny().plus(signs.hasAny().shiftLeft(1)), 2],
    ['highBits', signs.highBits(), 3],
  ])('of vectors computes %s', (_, expression, expected) => {
    expect(resultOf(expression)).toBe(expected);
  });

  it.each([0, 1, 63, 64, 127, 128, 8191, 8192, 2 ** 31 - 1])(
    'encodes the number %i and its negative',
    (value) => {
      expect(resultOf(i32(value))).toBe(value);
      expect(resultOf(i32(-value))).toBe(0 - value);
      expect(resultOf(i64(-value).toI32())).toBe(0 - value);
    },
  );

  it('encodes lengths of several bytes', () => {
    expect(leb(127)).toEqual([127]);
    expect(leb(624_485).flat(2)).toEqual([0xe5, 0x8e, 0x26]);
  });
});

describe('a function', () => {
  it('repeats, branches, calls and stores', () => {
    const double = new WasmFunction(1);
    double.return(double.parameter(0).shiftLeft(1));
    const f = new WasmFunction(2);
    const left = f.variable(f.parameter(0));
    const sum = f.variable(I32.of(0));
    f.failWhen(left.get().isAbove(100));
    f.loopWhile(left.get(), () => {
      sum.set(sum.get().plus(call(0, left.get())));
      left.set(left.get().minus(1));
    });
    f.when(f.parameter(1), () => sum.set(I32.of(0).minus(sum.get())));
    f.storeByte(I32.of(300), I32.of(7));
    f.storeVector(I32.of(300), 1, V128.of(9));
    f.return(sum.get().plus(I32.of(300).byte().plus(I32.of(316).byte())));
    expect(run([double, f], 3, 0)).toBe(12 + 16);
    expect(run([double, f], 3, 1)).toBe(-12 + 16);
    expect(run([double, f], 0, 0)).toBe(16);
    expect(run([double, f], 101, 0)).toBe(0);
  });

  it('reads a value that was kept as it was then', () => {
    const f = new WasmFunction(0);
    const local = f.variable(I32.of(5));
    const kept = f.keep(local.get());
    local.set(I32.of(6));
    f.return(kept.shiftLeft(4).plus(local.get()));
    expect(run([f])).toBe(0x56);
  });
});
