// 64 bytes of a text as four vectors, and questions about them, answered with one bit for each byte: a set of places, the first byte
// lowest. Places in strings, of tokens and so on are sets of this kind throughout the vector scanner.

import type { Local, WasmFunction } from './wasm-function.ts';
import { type I32, I64, type V128 } from './wasm-values.ts';

type Vectors = readonly [V128, V128, V128, V128];
type Test = (vector: V128) => V128;

export class Block {
  /** The address of the first byte. */
  readonly at: I32;
  readonly vectors: Vectors;

  constructor(f: WasmFunction, at: I32) {
    this.at = at;
    const load = (offset: number) => f.keep(at.vector(offset));
    this.vectors = [load(0), load(16), load(32), load(48)];
  }

  /** The places of the bytes whose highest bit the test sets. */
  placesWhere(test: Test): I64 {
    const [first, second, third, fourth] = this.vectors;
    const bits = (vector: V128) => test(vector).highBits();
    const low = bits(first).or(bits(second).shiftLeft(16)).toI64();
    const high = bits(third).or(bits(fourth).shiftLeft(16)).toI64();
    return low.or(high.shiftLeft(32));
  }

  placesOf(byte: V128): I64 {
    return this.placesWhere((vector) => vector.equals(byte));
  }

  hasAny(test: Test): I32 {
    const [first, second, third, fourth] = this.vectors;
    return test(first)
      .or(test(second))
      .or(test(third).or(test(fourth)))
      .hasAny();
  }
}

/** The places right after those given. The variable carries the last place of a block to the first of the next. */
export function placesAfter(f: WasmFunction, places: I64, carry: Local<I64>): I64 {
  const after = f.keep(places.shiftLeft(1).or(carry.get()));
  carry.set(places.shiftRight(63));
  return after;
}

/** Runs the body for each place, the first one first. */
export function forEachPlace(f: WasmFunction, places: I64, body: (place: I64) => void): void {
  const left = f.variable(places);
  f.loopWhile(left.get().hasAny(), () => {
    body(f.keep(left.get().trailingZeros()));
    left.set(left.get().and(left.get().minus(1)));
  });
}

export function noPlaces(f: WasmFunction): Local<I64> {
  return f.variable(I64.of(0));
}
