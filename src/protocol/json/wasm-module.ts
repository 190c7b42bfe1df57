// The binary format of a WebAssembly module with functions, one memory of fixed size and its first content.

import type { WasmFunction } from './wasm-function.ts';
import { type Instructions, leb, ValueType } from './wasm-values.ts';

export const wasmPageBytes = 65_536;

type ModuleOptions = {
  /** They call each other by their places in this list. The last one is exported as `run`. */
  readonly functions: readonly WasmFunction[];
  /** The memory, imported as `memory` of `host`, has this size and cannot grow. */
  readonly memoryPages: number;
  /** What the memory holds from address 0 on. */
  readonly data: readonly number[];
};

export function encodeModule({ functions, memoryPages, data }: ModuleOptions): Uint8Array {
  const types = functions.map(({ parameterCount }) => [
    Part.FunctionType,
    list(Array.from({ length: parameterCount }, () => ValueType.I32)),
    list([ValueType.I32]),
  ]);
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(Section.Types, list(types)),
    ...section(Section.Imports, list([[name('host'), name('memory'), importedMemory(memoryPages)]])),
    ...section(Section.Functions, list(types.map((_, index) => leb(index)))),
    ...section(Section.Exports, list([[name('run'), External.Function, leb(functions.length - 1)]])),
    ...section(Section.Code, list(functions.map((one) => sized(one.encode())))),
    ...section(Section.Data, list([[0, Part.ConstantI32, 0, Part.End, sized(data)]])),
  ]);
}

const Section = { Types: 1, Imports: 2, Functions: 3, Exports: 7, Code: 10, Data: 11 } as const;
const External = { Function: 0, Memory: 2 } as const;
const Part = { FunctionType: 0x60, WithMaximum: 1, ConstantI32: 0x41, End: 0x0b } as const;

function importedMemory(pages: number): Instructions {
  return [External.Memory, Part.WithMaximum, leb(pages), leb(pages)];
}

function section(id: number, content: Instructions): readonly number[] {
  return flat([id, sized(content)]);
}

function list(entries: Instructions): Instructions {
  return [leb(entries.length), entries];
}

function name(text: string): Instructions {
  return sized([...Buffer.from(text)]);
}

/** Preceded by its length in bytes. */
function sized(content: Instructions): Instructions {
  const bytes = flat(content);
  return [leb(bytes.length), bytes];
}

function flat(code: Instructions, bytes: number[] = []): readonly number[] {
  for (const part of code) {
    if (typeof part === 'number') bytes.push(part);
    else flat(part, bytes);
  }
  return bytes;
}
