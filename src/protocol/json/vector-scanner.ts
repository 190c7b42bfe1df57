// Runs the vector scanner in a memory of its own of fixed size: on texts that have arrived in it, and on copies of others. Assembles it when
// the first text comes, so that a program that checks none starts without it; accepts nothing where the platform cannot run it.

import { assembleScanner } from './scan-text.ts';
import { bufferAt, bufferBytes, maxTextBytes, memoryPages, textAt } from './scanner-memory.ts';

/** What is used of the runtime's interface. */
export type WebAssemblyRuntime = {
  validate(bytes: Uint8Array): boolean;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: object };
  readonly Memory: new (pages: { readonly initial: number; readonly maximum: number }) => Memory;
};

type Memory = { readonly buffer: ArrayBuffer };

type Exports = { readonly run: (address: number, lengthBytes: number) => number };
type Program = { readonly text: Uint8Array; readonly run: Exports['run'] };

export class VectorScanner {
  readonly #maxDepth: number;
  readonly #runtime: WebAssemblyRuntime | undefined;
  /** Null until it is needed; undefined if the platform has none. */
  #memory: Memory | undefined | null = null;
  /** Null until the first text; undefined if the platform has none. */
  #program: Program | undefined | null = null;
  /** The view of the memory that was scanned last: the next text is mostly in it, too. */
  #arrived: Uint8Array | undefined;

  constructor(maxDepth: number, runtime = platformRuntime()) {
    this.#maxDepth = maxDepth;
    this.#runtime = runtime;
  }

  /**
   * 512 KiB for whoever receives texts: those in it are scanned where they are, others are copied first. Always the same; undefined where the
   * platform has none.
   */
  buffer(): Buffer | undefined {
    const memory = this.#memoryOnce();
    return memory === undefined ? undefined : Buffer.from(memory.buffer, bufferAt, bufferBytes);
  }

  /**
   * True only for JSON texts, from `start` to before `end`; false for others, for those of more than `maxTextBytes`, and on platforms without
   * vectors.
   */
  accepts(bytes: Uint8Array, start = 0, end = bytes.length): boolean {
    if (this.#program === null) this.#program = this.#load();
    if (this.#program === undefined || end - start > maxTextBytes) return false;
    return this.#program.run(this.#addressOf(this.#program, bytes, start, end), end - start) === 1;
  }

  #addressOf({ text }: Program, bytes: Uint8Array, start: number, end: number): number {
    if (bytes === this.#arrived) return bytes.byteOffset + start;
    if (bytes.buffer !== text.buffer) {
      text.set(bytes.subarray(start, end));
      return textAt;
    }
    this.#arrived = bytes;
    return bytes.byteOffset + start;
  }

  #load(): Program | undefined {
    const bytes = assembleScanner(this.#maxDepth);
    const memory = this.#memoryOnce();
    if (memory === undefined || this.#runtime?.validate(bytes) !== true) return undefined;
    try {
      const module = new this.#runtime.Module(bytes);
      const { exports } = new this.#runtime.Instance(module, { host: { memory } });
      const { run } = exports as Exports;
      return { text: new Uint8Array(memory.buffer, textAt), run };
    } catch {
      // The process may not have the memory for the code.
      return undefined;
    }
  }

  #memoryOnce(): Memory | undefined {
    if (this.#memory === null) this.#memory = this.#newMemory();
    return this.#memory;
  }

  #newMemory(): Memory | undefined {
    try {
      return this.#runtime && new this.#runtime.Memory({ initial: memoryPages, maximum: memoryPages });
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
