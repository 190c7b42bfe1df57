// A function of WebAssembly, assembled statement by statement: each method appends one. Must not know what the function is for.

import { I32, type I64, type Instructions, leb, type V128, type ValueType } from './wasm-values.ts';

/** A variable of the function; `get` reads it where the expression stands, not where `get` was called. */
export type Local<T> = { readonly get: () => T; readonly set: (value: T) => void };

type Value = I32 | I64 | V128;

const Opcode = { If: 0x04, Loop: 0x03, End: 0x0b, RepeatIf: 0x0d, Return: 0x0f, Call: 0x10 } as const;
const LocalOpcode = { Get: 0x20, Set: 0x21 } as const;

/** Takes and returns numbers of 32 bits. */
export class WasmFunction {
  readonly parameterCount: number;
  readonly #types: ValueType[] = [];
  readonly #code: Instructions[] = [];

  constructor(parameterCount: number) {
    this.parameterCount = parameterCount;
  }

  /** The first has index 0. */
  parameter(index: number): I32 {
    return new I32([LocalOpcode.Get, leb(index)]);
  }

  variable<T extends Value>(initial: T): Local<T> {
    const index = leb(this.parameterCount + this.#types.length);
    this.#types.push(initial.type);
    const Type = initial.constructor as new (code: Instructions) => T;
    const read = new Type([LocalOpcode.Get, index]);
    const set = (value: T): void => this.#append(value.code, LocalOpcode.Set, index);
    set(initial);
    return { get: () => read, set };
  }

  /** Computes a value here, once. */
  keep<T extends Value>(value: T): T {
    return this.variable(value).get();
  }

  when(condition: I32, body: () => void): void {
    this.#append(condition.code, Opcode.If, noResult);
    body();
    this.#append(Opcode.End);
  }

  loopWhile(condition: I32, body: () => void): void {
    this.when(condition, () => {
      this.#append(Opcode.Loop, noResult);
      body();
      this.#append(condition.code, Opcode.RepeatIf, 0, Opcode.End);
    });
  }

  storeByte(address: I32, value: I32): void {
    this.#append(address.code, value.code, 0x3a, 0, 0);
  }

  /** Stores at the address plus `offset`. */
  storeVector(address: I32, offset: number, value: V128): void {
    this.#append(address.code, value.code, 0xfd, 0x0b, 0, leb(offset));
  }

  return(value: I32): void {
    this.#append(value.code, Opcode.Return);
  }

  /** Returns 0 from the function if the condition holds. */
  failWhen(condition: I32): void {
    this.when(condition, () => this.return(I32.of(0)));
  }

  #append(...code: Instructions): void {
    this.#code.push(code);
  }

  /** The types of the variables and the statements; whatever returns nothing before its end is a fault. */
  encode(): Instructions {
    const locals = this.#types.map((type) => [1, type]);
    return [leb(locals.length), locals, this.#code, unreachable, Opcode.End];
  }
}

/** Calls the function at this place in the list of the module. */
export function call(index: number, ...parameters: readonly I32[]): I32 {
  return new I32([parameters.map(({ code }) => code), Opcode.Call, leb(index)]);
}

const noResult = 0x40;
const unreachable = 0x00;
