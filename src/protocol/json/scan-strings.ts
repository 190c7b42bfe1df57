// The parts of the vector scanner for strings: which places are in one, and what stands there that may not. Each function takes what it
// needs before the loop over the blocks and returns what is done for each block.

import { type Block, noPlaces } from './block.ts';
import { functionIndex } from './scan-atom.ts';
import { call, type Local, type WasmFunction } from './wasm-function.ts';
import { I64, V128 } from './wasm-values.ts';

export type Strings = {
  /** Quotes that begin or end a string. */
  readonly quotes: I64;
  /** Strings from their opening quotes on, without their closing quotes. */
  readonly inString: I64;
};

/** `isOpen` has all bits while a string has not ended, and none otherwise. */
export function stringFinder(f: WasmFunction, isOpen: Local<I64>): (block: Block) => Strings {
  const quote = f.keep(V128.of(0x22));
  const escapedPlaces = escapeChecker(f);
  return (block) => {
    const escaped = escapedPlaces(block);
    const quotes = f.keep(block.placesOf(quote).and(escaped.not()));
    const inString = f.keep(parity(f, quotes).xor(isOpen.get()));
    isOpen.set(inString.spreadRight(63));
    return { quotes, inString };
  };
}

/** A bit is set where the number of set bits up to it is odd. */
function parity(f: WasmFunction, bits: I64): I64 {
  const result = f.variable(bits);
  for (const width of [1, 2, 4, 8, 16, 32]) result.set(result.get().xor(result.get().shiftLeft(width)));
  return result.get();
}

/** Fails at escapes that are unknown or incomplete. Gives the places after backslashes that are not escaped themselves. */
function escapeChecker(f: WasmFunction): (block: Block) => I64 {
  const backslash = f.keep(V128.of(0x5c));
  const carry = noPlaces(f);
  const escaped = noPlaces(f);
  return (block) => {
    escaped.set(carry.get());
    const isBackslash = (vector: V128) => vector.equals(backslash);
    f.when(block.hasAny(isBackslash).or(carry.get().toI32()), () => {
      const left = f.variable(block.placesWhere(isBackslash).and(carry.get().not()));
      carry.set(I64.of(0));
      f.loopWhile(left.get().hasAny(), () => {
        const next = f.keep(block.at.plus(left.get().trailingZeros().toI32()).plus(1));
        f.failWhen(call(functionIndex.isEscape, next).isZero());
        const lowest = f.keep(left.get().and(left.get().negated()));
        escaped.set(escaped.get().or(lowest.shiftLeft(1)));
        carry.set(lowest.shiftRight(63));
        left.set(left.get().and(lowest.or(lowest.shiftLeft(1)).not()));
      });
    });
    return escaped.get();
  };
}

/**
 * Gives the white space of a block, in strings too. Fails at control characters in strings and at bytes that are not UTF-8; outside
 * strings neither is part of a token.
 */
export function unusualBytesChecker(f: WasmFunction): (block: Block, inString: I64) => I64 {
  const space = f.keep(V128.of(0x20));
  const spaces = noPlaces(f);
  const { isExpected, check } = utf8Checker(f);
  return (block, inString) => {
    spaces.set(block.placesOf(space));
    // Bytes of longer characters are below all others.
    const isUnusual = (vector: V128) => vector.isBelow(space);
    f.when(block.hasAny(isUnusual).or(isExpected.get().toI32()), () => {
      spaces.set(block.placesWhere(isWhiteSpace));
      const notAscii = f.keep(block.placesWhere((vector) => vector));
      const controls = block.placesWhere(isUnusual).and(notAscii.not());
      f.failWhen(controls.and(inString).hasAny());
      f.when(notAscii.or(isExpected.get()).hasAny(), () => check(block, notAscii));
    });
    return spaces.get();
  };
}

/** The four characters differ in the lower halves of their bytes: there they stand in a table, and every other byte differs from what it meets. */
function isWhiteSpace(vector: V128): V128 {
  const byLowerHalf = V128.ofBytes([0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0x09, 0x0a, 0, 0, 0x0d, 0, 0]);
  return byLowerHalf.lookUp(vector.and(V128.of(0x0f))).equals(vector);
}

type Utf8Checker = {
  /** Where the next block must have continuation bytes. */
  readonly isExpected: Local<I64>;
  readonly check: (block: Block, notAscii: I64) => void;
};

/** The well-formed sequences of table 3-7 of the Unicode Standard: as many continuation bytes as the first byte says, in its range. */
function utf8Checker(f: WasmFunction): Utf8Checker {
  const isExpected = noPlaces(f);
  const check = (block: Block, notAscii: I64): void => {
    const from = (byte: number) =>
      f.keep(block.placesWhere((vector) => vector.isAbove(V128.of(byte - 1))).and(notAscii));
    const leads = from(0xc0);
    const longerThan2 = from(0xe0);
    const longerThan3 = from(0xf0);
    const invalid = leads.and(from(0xc2).not()).or(from(0xf5));
    const expected = leads.shiftLeft(1).or(longerThan2.shiftLeft(2)).or(longerThan3.shiftLeft(3));
    const continuations = notAscii.and(leads.not());
    f.failWhen(invalid.or(expected.or(isExpected.get()).xor(continuations)).hasAny());
    isExpected.set(leads.shiftRight(63).or(longerThan2.shiftRight(62)).or(longerThan3.shiftRight(61)));
    checkSecondBytes(f, block);
  };
  return { isExpected, check };
}

/** Overlong forms, surrogates and what is over U+10FFFF show in the second byte. */
function checkSecondBytes(f: WasmFunction, block: Block): void {
  for (const [index, first] of block.vectors.entries()) {
    const second = f.keep(block.at.vector(index * 16 + 1));
    const after = (lead: number, isWrong: V128) => first.equals(V128.of(lead)).and(isWrong);
    const tooLow = after(0xe0, second.isBelow(V128.of(0xa0))).or(after(0xf0, second.isBelow(V128.of(0x90))));
    const tooHigh = after(0xed, second.isAbove(V128.of(0x9f))).or(after(0xf4, second.isAbove(V128.of(0x8f))));
    f.failWhen(tooLow.or(tooHigh).hasAny());
  }
}
