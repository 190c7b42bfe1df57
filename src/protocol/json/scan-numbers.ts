// The part of the vector scanner for numbers and literals. Numbers of digits and at most one point, as most are, are judged together for
// a whole block, which takes half of the time for arrays of numbers; literals and all other numbers are visited one by one.

import { type Block, forEachPlace } from './block.ts';
import { functionIndex, isDigit, isLiteral } from './scan-atom.ts';
import type { Tokens } from './scan-tokens.ts';
import { call, type WasmFunction } from './wasm-function.ts';
import { I64, V128 } from './wasm-values.ts';

/** Fails where what begins in the block is neither a number nor a literal. */
export function atomChecker(f: WasmFunction): (block: Block, tokens: Tokens) => void {
  return (block, tokens) => {
    const { atoms, inAtom } = tokens;
    f.when(atoms.hasAny(), () => {
      const digits = f.keep(block.placesWhere(isDigit).and(inAtom));
      // The last one of the block may go on in the next.
      const last = I64.of(1).shiftLeft(63).shiftRight(atoms.leadingZeros());
      const cutOff = inAtom.spreadRight(63).and(last);
      const visited = f.variable(atoms.and(digits.not()).or(cutOff));
      f.when(unusualPlaces(f, block, tokens, digits).hasAny(), () => visited.set(atoms));
      forEachPlace(f, visited.get(), (place) => {
        const at = f.keep(block.at.plus(place.toI32()));
        f.when(isLiteral(f, at).isZero(), () => f.failWhen(call(functionIndex.isNumber, at).isZero()));
      });
    });
  };
}

/** Where that which begins with a digit is not just digits with at most one point between them, or has a zero too much. */
function unusualPlaces(f: WasmFunction, block: Block, { atoms, inAtom }: Tokens, digits: I64): I64 {
  const point = V128.of(0x2e);
  const zero = V128.of(0x30);
  // Asked for together; where either may stand, the other may not.
  const pointsAndZeros = f.keep(block.placesWhere((vector) => vector.equals(point).or(vector.equals(zero))));
  const starts = f.keep(atoms.and(digits));
  const wholeEnds = f.keep(endsOfRuns(starts, digits));
  const points = f.keep(wholeEnds.and(pointsAndZeros));
  const fractions = f.keep(points.shiftLeft(1));
  const goesOn = wholeEnds.xor(points).or(endsOfRuns(fractions, digits)).and(inAtom);
  const leadingZeros = starts.and(pointsAndZeros).shiftLeft(1).and(digits);
  return goesOn.or(fractions.and(digits.not())).or(leadingZeros);
}

/** The first place after each run of digits that begins at one of these places: adding a bit to a run of bits carries to its end. */
function endsOfRuns(starts: I64, digits: I64): I64 {
  return starts.plus(digits).and(digits.not());
}
