// Runs the vector scanner on copies of texts, in a memory of its own of fixed size. Assembles it when the first text comes, so that a
// program that checks none starts without it; accepts nothing where the platform cannot run it.

import { assembleScanner } from './scan-text.ts';
import { maxTextBytes, textAt } from './scanner-memory.ts';

/** What is used of the runtime's interface. */
export type WebAssemblyRuntime = {
  validate(bytes: Uint8Array): boolean;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: object };
};

type Exports = {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly run: (lengthBytes: number) => number;
};
type Program = { readonly text: Uint8Array; readonly run: Exports['run'] };

export class VectorScanner {
  readonly #maxDepth: number;
  readonly #runtime: WebAssemblyRuntime | undefined;
  /** Null until the first text; undefined if the platform has none. */
  #program: Program | undefined | null = null;

  constructor(maxDepth: number, runtime = platformRuntime()) {
    this.#maxDepth = maxDepth;
    this.#runtime = runtime;
  }

  /** True only for JSON texts; false for others, for those of more than `maxTextBytes`, and on platforms without vectors. */
  accepts(bytes: Uint8Array): boolean {
    if (this.#program === null) this.#program = this.#load();
    if (this.#program === undefined || bytes.length > maxTextBytes) return false;
    this.#program.text.set(bytes);
    return this.#program.run(bytes.length) === 1;
  }

  #load(): Program | undefined {
    const bytes = assembleScanner(this.#maxDepth);
    if (this.#runtime?.validate(bytes) !== true) return undefined;
    try {
      const { exports } = new this.#runtime.Instance(new this.#runtime.Module(bytes));
      const { memory, run } = exports as Exports;
      return { text: new Uint8Array(memory.buffer, textAt), run };
    } catch {
      // The process may not have the address space that the runtime reserves for the memory.
      return undefined;
    }
  }
}

/** The runtime's own interface; undefined where Node runs without a compiler. */
function platformRuntime(): WebAssemblyRuntime | undefined {
  return Reflect.get(globalThis, 'WebAssembly') as WebAssemblyRuntime | undefined;
}
