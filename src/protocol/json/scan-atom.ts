// The parts of the vector scanner that look at single bytes: numbers, literals and escapes, each from its first byte on. The text is
// followed by spaces, so that no part needs to know where it ends.

import { ByteKind } from './scanner-memory.ts';
import { call, type Local, WasmFunction } from './wasm-function.ts';
import { I32, V128 } from './wasm-values.ts';

/** The functions of the module, at the places at which they call each other. */
export const functionIndex = { skipDigits: 0, isNumber: 1, isEscape: 2, scanText: 3 } as const;

/** Returns the address after the digits. */
export function skipDigits(): WasmFunction {
  const f = new WasmFunction(1);
  const at = f.variable(f.parameter(0));
  f.loopWhile(at.get().byte().minus(byteOf('0')).isBelow(10), () => at.set(at.get().plus(1)));
  f.return(at.get());
  return f;
}

/** Returns whether a number begins here, and ends where the bytes end that can be part of one. */
export function isNumber(): WasmFunction {
  const f = new WasmFunction(1);
  const start = f.parameter(0);
  const at = f.variable(start);
  f.when(start.byte().equals(byteOf('-')), () => at.set(start.plus(1)));
  skipWholePart(f, at);
  f.when(endsAt(at.get()), () => f.return(I32.of(1)));
  f.when(at.get().byte().equals(byteOf('.')), () => {
    at.set(at.get().plus(1));
    skipSomeDigits(f, at);
  });
  f.when(at.get().byte().or(0x20).equals(byteOf('e')), () => skipExponent(f, at));
  f.return(endsAt(at.get()));
  return f;
}

/** Whether a literal begins here, and ends where the bytes end that can be part of one. */
export function isLiteral(f: WasmFunction, start: I32): I32 {
  const word = f.keep(start.word());
  const four = word.equals(wordOf('true')).or(word.equals(wordOf('null')));
  const five = word.equals(wordOf('fals')).and(start.byte(4).equals(byteOf('e')));
  return four.and(endsAt(start.plus(4))).or(five.and(endsAt(start.plus(5))));
}

/** Sixteen digits at a time: numbers of different lengths then take the same branches, which the processor foresees. */
function skipWholePart(f: WasmFunction, at: Local<I32>): void {
  const first = f.keep(at.get());
  const count = f.keep(isDigit(first.vector()).highBits().xor(-1).trailingZeros());
  f.failWhen(count.isZero());
  at.set(first.plus(count));
  f.when(count.equals(16), () => at.set(call(functionIndex.skipDigits, at.get())));
  f.failWhen(
    first
      .byte()
      .equals(byteOf('0'))
      .and(at.get().differs(first.plus(1))),
  );
}

/** The ten digits become the ten lowest bytes of those that are compared with a sign. */
export function isDigit(vector: V128): V128 {
  return vector.plus(V128.of(0x80 - byteOf('0'))).isBelow(V128.of(0x80 + 10));
}

function skipExponent(f: WasmFunction, at: Local<I32>): void {
  const sign = f.keep(at.get().byte(1));
  const isSign = sign.equals(byteOf('+')).or(sign.equals(byteOf('-')));
  at.set(at.get().plus(1).plus(isSign));
  skipSomeDigits(f, at);
}

function skipSomeDigits(f: WasmFunction, at: Local<I32>): void {
  const first = f.keep(at.get());
  at.set(call(functionIndex.skipDigits, first));
  f.failWhen(at.get().equals(first));
}

function endsAt(address: I32): I32 {
  return kindAt(address).and(ByteKind.Atom).isZero();
}

/** Returns whether an escape stands here, of which the parameter is the address after the backslash. */
export function isEscape(): WasmFunction {
  const f = new WasmFunction(1);
  const at = f.parameter(0);
  f.when(kindAt(at).and(ByteKind.Escapable), () => f.return(I32.of(1)));
  f.failWhen(at.byte().differs(byteOf('u')));
  const digits = kindAt(at, 1).and(kindAt(at, 2)).and(kindAt(at, 3)).and(kindAt(at, 4));
  f.return(digits.and(ByteKind.HexDigit));
  return f;
}

/** The kinds stand at the addresses that equal the bytes. */
function kindAt(address: I32, offset = 0): I32 {
  return address.byte(offset).byte();
}

function byteOf(character: string): number {
  return character.charCodeAt(0);
}

function wordOf(characters: string): number {
  return Buffer.from(characters).readInt32LE();
}
