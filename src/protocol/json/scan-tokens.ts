// The parts of the vector scanner for what stands outside strings: which brackets match, and which token may follow which. Each function
// takes what it needs before the loop over the blocks and returns what is done for each block.

import { type Block, forEachPlace, noPlaces, placesAfter } from './block.ts';
import type { Strings } from './scan-strings.ts';
import type { Local, WasmFunction } from './wasm-function.ts';
import { I32, I64, V128 } from './wasm-values.ts';

/** Places of a block that are not inside strings. */
export type Tokens = {
  readonly commas: I64;
  readonly colons: I64;
  readonly opening: I64;
  readonly closing: I64;
  readonly spaces: I64;
  /** The opening quotes of strings. */
  readonly strings: I64;
  /** All other bytes: numbers and literals, unless something is wrong. */
  readonly inAtom: I64;
  /** The first bytes of those. */
  readonly atoms: I64;
};

type TokenFinder = (block: Block, strings: Strings, spaces: I64) => Tokens;

export function tokenFinder(f: WasmFunction): TokenFinder {
  const comma = f.keep(V128.of(0x2c));
  const colon = f.keep(V128.of(0x3a));
  const opening = f.keep(V128.of(0x7b));
  const closing = f.keep(V128.of(0x7d));
  // Square and curly brackets differ in this bit.
  const caseBit = f.keep(V128.of(0x20));
  const isInAtom = noPlaces(f);
  return (block, { quotes, inString }, spaces) => {
    const outside = f.keep(inString.not());
    const bracket = (byte: V128) => block.placesWhere((vector) => vector.or(caseBit).equals(byte));
    const tokens = {
      commas: f.keep(block.placesOf(comma).and(outside)),
      colons: f.keep(block.placesOf(colon).and(outside)),
      opening: f.keep(bracket(opening).and(outside)),
      closing: f.keep(bracket(closing).and(outside)),
      spaces: f.keep(spaces.and(outside)),
    };
    const others = inString.or(quotes).or(tokens.commas.or(tokens.colons));
    const inAtom = f.keep(others.or(tokens.opening.or(tokens.closing)).or(tokens.spaces).not());
    const atoms = f.keep(inAtom.and(placesAfter(f, inAtom, isInAtom).not()));
    return { ...tokens, strings: f.keep(quotes.and(inString)), inAtom, atoms };
  };
}

type NestingOptions = {
  readonly maxDepth: number;
  readonly depth: Local<I32>;
  /** The address of the last byte of the text that is no white space. */
  readonly last: I32;
};

type BlockCheck = (block: Block, tokens: Tokens) => I64;

/**
 * Fails at brackets that do not match, that are nested too deep or that end the text before its last token, and at commas outside
 * all brackets. Gives the places inside objects: what lies directly in them, with their closing brackets.
 */
export function bracketChecker(f: WasmFunction, options: NestingOptions): BlockCheck {
  const { depth, last } = options;
  const levels = noPlaces(f);
  return (block, { commas, opening, closing }) => {
    const brackets = f.keep(opening.or(closing));
    const beforeBrackets = brackets.minus(1).and(brackets.not());
    f.when(depth.get().isZero(), () => f.failWhen(commas.and(beforeBrackets).hasAny()));
    const inObject = f.variable(innermost(levels));
    const visit = bracketVisitor(f, options, levels);
    forEachPlace(f, brackets, (place) => {
      const at = f.keep(block.at.plus(place.toI32()));
      visit.bracket(f.keep(at.byte()));
      const later = f.keep(I64.of(-2).shiftLeft(place));
      inObject.set(inObject.get().and(later.not()).or(innermost(levels).and(later)));
      f.when(depth.get().isZero(), () => f.failWhen(at.differs(last)));
    });
    f.failWhen(visit.isWrong());
    return inObject.get();
  };
}

type BracketVisitor = { readonly bracket: (byte: I32) => void; readonly isWrong: () => I32 };

/** Counts the depth and keeps the levels, without branches: which bracket comes next cannot be foreseen. */
function bracketVisitor(
  f: WasmFunction,
  { maxDepth, depth }: NestingOptions,
  levels: Local<I64>,
): BracketVisitor {
  const mismatch = noPlaces(f);
  const outOfRange = f.variable(I32.of(0));
  const bracket = (byte: I32): void => {
    // Of the four brackets these bits tell which closes, and which is curly.
    const isClosing = f.keep(byte.shiftRight(2).and(1));
    const isOpening = f.keep(isClosing.xor(1).toI64());
    const isCurly = f.keep(byte.shiftRight(5).and(1).toI64());
    mismatch.set(mismatch.get().or(levels.get().xor(isCurly).and(isClosing.toI64())));
    const outer = levels.get().shiftRight(isClosing.toI64());
    levels.set(outer.shiftLeft(isOpening).or(isCurly.and(isOpening)));
    depth.set(depth.get().plus(1).minus(isClosing.shiftLeft(1)));
    outOfRange.set(outOfRange.get().or(depth.get()).or(I32.of(maxDepth).minus(depth.get())));
  };
  // The highest bit is the sign.
  return { bracket, isWrong: () => mismatch.get().toI32().or(outOfRange.get().shiftRight(31)) };
}

/** All places if the innermost level is an object. `levels` has one bit for each, the innermost lowest; outside all brackets none is set. */
function innermost(levels: Local<I64>): I64 {
  return levels.get().and(1).negated();
}

/**
 * Fails where a token follows another one that it may not follow. `isValueExpected` is 1 where the first token of the next block must be
 * a value: at the beginning of the text, and after a colon.
 */
export function orderChecker(
  f: WasmFunction,
  isValueExpected: Local<I64>,
): (tokens: Tokens, strings: Strings, inObject: I64) => void {
  const [isAfterOpening, isAfterComma, isAfterKey] = [noPlaces(f), noPlaces(f), noPlaces(f)];
  const isInKey = noPlaces(f);
  return (tokens, { inString }, inObject) => {
    const following = (places: I64, carry: Local<I64>) => nextTokens(f, places, tokens.spaces, carry);
    const afterOpening = following(tokens.opening, isAfterOpening);
    const afterColon = following(tokens.colons, isValueExpected);
    const members = f.keep(afterOpening.or(following(tokens.commas, isAfterComma)));
    const expected = f.keep(members.or(afterColon));
    const values = f.keep(tokens.strings.or(tokens.atoms).or(tokens.opening));
    const isEmpty = tokens.closing.and(afterOpening);
    const missing = expected.and(values.or(isEmpty).not());
    const surplus = values.and(expected.not());

    const keys = f.keep(members.and(inObject));
    const noKeys = keys.and(tokens.atoms.or(tokens.opening));
    const keyEnds = endsOfStrings(f, keys.and(tokens.strings), inString, isInKey);
    const misplacedColons = tokens.colons.xor(following(keyEnds, isAfterKey));
    f.failWhen(missing.or(surplus).or(noKeys).or(misplacedColons).hasAny());
  };
}

/** The first place after each of those given that is no white space: adding a bit to a run of bits carries to its end. */
function nextTokens(f: WasmFunction, places: I64, spaces: I64, carry: Local<I64>): I64 {
  const next = placesAfter(f, places, carry);
  const sum = f.keep(next.plus(spaces));
  carry.set(carry.get().or(sum.isBelow(next).toI64()));
  return f.keep(sum.and(spaces.not()));
}

/** The closing quotes of the strings that begin at these places, in the same way. */
function endsOfStrings(f: WasmFunction, begins: I64, inString: I64, carry: Local<I64>): I64 {
  const sum = f.keep(begins.or(carry.get()).plus(inString));
  carry.set(sum.isBelow(inString).toI64());
  return f.keep(sum.and(inString.not()));
}
