// The vector scanner: whether the bytes in its memory are one JSON text, 64 bytes at a time. Sets of places answer for a whole block
// what the byte scanner asks of each byte; only brackets, literals, escapes and some numbers are visited one by one. Assembles
// WebAssembly and runs nothing. Implements PUBLISH-013 to PUBLISH-018 together with the byte scanner.

import { Block, noPlaces } from './block.ts';
import { functionIndex, isEscape, isNumber, skipDigits } from './scan-atom.ts';
import { atomChecker } from './scan-numbers.ts';
import { stringFinder, unusualBytesChecker } from './scan-strings.ts';
import { bracketChecker, orderChecker, tokenFinder } from './scan-tokens.ts';
import { blockBytes, byteKinds, memoryPages, spacesBytes } from './scanner-memory.ts';
import { call, WasmFunction } from './wasm-function.ts';
import { encodeModule } from './wasm-module.ts';
import { I32, I64, V128 } from './wasm-values.ts';

/**
 * The module. Its function `run` takes the address of the text and its length in bytes, and returns 1 for one JSON text, otherwise 0. It leaves the
 * memory as it was.
 */
export function assembleScanner(maxDepth: number): Uint8Array {
  const functions = [skipDigits(), isNumber(), isEscape(), scanText(maxDepth), run()];
  return encodeModule({ functions, memoryPages, data: byteKinds() });
}

/** Puts spaces behind the text for as long as it is scanned: something else may stand there. */
function run(): WasmFunction {
  const f = new WasmFunction(2);
  const at = f.parameter(0);
  const end = f.keep(at.plus(f.parameter(1)));
  const offsets = Array.from({ length: spacesBytes / 16 }, (_, index) => 16 * index);
  const behind = offsets.map((offset) => f.keep(end.vector(offset)));
  const spaces = f.keep(V128.of(0x20));
  for (const offset of offsets) f.storeVector(end, offset, spaces);
  const isText = f.keep(call(functionIndex.scanText, at, end));
  for (const [index, vector] of behind.entries()) f.storeVector(end, 16 * index, vector);
  f.return(isText);
  return f;
}

function scanText(maxDepth: number): WasmFunction {
  const f = new WasmFunction(2);
  const start = f.parameter(0);
  const end = f.parameter(1);
  const depth = f.variable(I32.of(0));
  const isStringOpen = noPlaces(f);
  const isValueExpected = f.variable(I64.of(1));

  const findStrings = stringFinder(f, isStringOpen);
  const checkUnusualBytes = unusualBytesChecker(f);
  const findTokens = tokenFinder(f);
  const checkBrackets = bracketChecker(f, { maxDepth, depth, last: lastToken(f, start, end) });
  const checkOrder = orderChecker(f, isValueExpected);
  const checkAtoms = atomChecker(f);

  const at = f.variable(start);
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

/** The address of the last byte that is no white space. */
function lastToken(f: WasmFunction, start: I32, end: I32): I32 {
  const last = f.variable(end.minus(1));
  const isSpace = last.get().byte().isBelow(0x21);
  f.loopWhile(last.get().isAbove(start).and(isSpace), () => last.set(last.get().minus(1)));
  return last.get();
}
