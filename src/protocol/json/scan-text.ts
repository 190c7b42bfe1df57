// The vector scanner: whether the bytes in its memory are one JSON text, 64 bytes at a time. Sets of places answer for a whole block
// what the byte scanner asks of each byte; only brackets, literals, escapes and some numbers are visited one by one. Assembles
// WebAssembly and runs nothing. Implements PUBLISH-013 to PUBLISH-018 together with the byte scanner.

import { Block, noPlaces } from './block.ts';
import { isEscape, isNumber, skipDigits } from './scan-atom.ts';
import { atomChecker } from './scan-numbers.ts';
import { stringFinder, unusualBytesChecker } from './scan-strings.ts';
import { bracketChecker, orderChecker, tokenFinder } from './scan-tokens.ts';
import { blockBytes, byteKinds, memoryPages, spacesBytes, textAt } from './scanner-memory.ts';
import { WasmFunction } from './wasm-function.ts';
import { encodeModule } from './wasm-module.ts';
import { I32, I64, V128 } from './wasm-values.ts';

/** The module. Its function `run` takes the length of the text in bytes and returns 1 for one JSON text, otherwise 0. */
export function assembleScanner(maxDepth: number): Uint8Array {
  const functions = [skipDigits(), isNumber(), isEscape(), scanText(maxDepth)];
  return encodeModule({ functions, memoryPages, data: byteKinds() });
}

function scanText(maxDepth: number): WasmFunction {
  const f = new WasmFunction(1);
  const end = f.keep(f.parameter(0).plus(textAt));
  appendSpaces(f, end);
  const depth = f.variable(I32.of(0));
  const isStringOpen = noPlaces(f);
  const isValueExpected = f.variable(I64.of(1));

  const findStrings = stringFinder(f, isStringOpen);
  const checkUnusualBytes = unusualBytesChecker(f);
  const findTokens = tokenFinder(f);
  const checkBrackets = bracketChecker(f, { maxDepth, depth, last: lastToken(f, end) });
  const checkOrder = orderChecker(f, isValueExpected);
  const checkAtoms = atomChecker(f);

  const at = f.variable(I32.of(textAt));
  f.loopWhile(at.get().isBelow(end), () => {
    const block = new Block(f, at.get());
    const strings = findStrings(block);
    const spaces = checkUnusualBytes(block, strings.inString);
    const tokens = findTokens(block, strings, spaces);
    const inObject = checkBrackets(block, tokens);
    checkOrder(tokens, strings, inObject);
    checkAtoms(block, tokens);
    at.set(at.get().plus(blockBytes));
  });
  // Whatever else may be unfinished is inside brackets or in a string.
  f.return(depth.get().isZero().and(isStringOpen.get().or(isValueExpected.get()).isZero()));
  return f;
}

function appendSpaces(f: WasmFunction, end: I32): void {
  const spaces = f.keep(V128.of(0x20));
  for (let offset = 0; offset < spacesBytes; offset += 16) f.storeVector(end, offset, spaces);
}

/** The address of the last byte that is no white space. */
function lastToken(f: WasmFunction, end: I32): I32 {
  const last = f.variable(end.minus(1));
  const isSpace = last.get().byte().isBelow(0x21);
  f.loopWhile(last.get().isAbove(textAt).and(isSpace), () => last.set(last.get().minus(1)));
  return last.get();
}
