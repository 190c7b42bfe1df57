// Where the module of the JSON scanner keeps what in its memory: a table with the kinds of all bytes, then the buffer that texts may arrive
// in, then the copy of a text that is elsewhere.

import { wasmPageBytes } from './wasm-module.ts';

/** The bytes of a text that are looked at together. */
export const blockBytes = 64;

/** The buffer that texts may arrive in, after the table. */
export const bufferAt = 256;
export const bufferBytes = 524_288;

/** Payloads are rarely larger. Pages that no text has reached take no memory. */
export const memoryPages = 24;

/** Behind the text stand spaces: the rest of its last block, and the vector that may be read after it. */
export const spacesBytes = blockBytes + 16;

/** The copy of a text that is elsewhere. The buffer before it is followed by spaces too. */
export const textAt = bufferAt + bufferBytes + spacesBytes;

export const maxTextBytes = memoryPages * wasmPageBytes - textAt - spacesBytes;

/** `Atom`: part of a number or literal, or of nothing valid. `Escapable`: may follow a backslash. */
export const ByteKind = { Atom: 1, Escapable: 2, HexDigit: 4 } as const;

/** The kinds of the 256 bytes, each at its own address. */
export function byteKinds(): readonly number[] {
  return Array.from({ length: 256 }, (_, byte) => {
    const isOneOf = (characters: string) => characters.includes(String.fromCharCode(byte));
    const atom = isOneOf(' \t\n\r,:[]{}"') ? 0 : ByteKind.Atom;
    const escapable = isOneOf('"\\/bfnrt') ? ByteKind.Escapable : 0;
    return atom | escapable | (isOneOf('0123456789abcdefABCDEF') ? ByteKind.HexDigit : 0);
  });
}
