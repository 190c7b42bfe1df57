// Expressions of WebAssembly as typed values: each method gives the instructions that compute its result, and the compiler refuses what
// does not fit. Has the instructions that the JSON scanner uses. An expression that occurs twice is computed twice, unless it was kept.

/** Nested, so that an expression shares the instructions of its parts. */
export type Instructions = readonly (number | Instructions)[];

/** How the three types of values are encoded. */
export const ValueType = { I32: 0x7f, I64: 0x7e, V128: 0x7b } as const;
export type ValueType = (typeof ValueType)[keyof typeof ValueType];

/** A number of 32 bits: an address, a count, or a condition, which holds unless it is 0. */
export class I32 {
  readonly type = ValueType.I32;
  readonly code: Instructions;

  constructor(code: Instructions) {
    this.code = code;
  }

  static of(value: number): I32 {
    return new I32([0x41, signedLeb(value)]);
  }

  #with(other: I32 | number, opcode: number): I32 {
    return new I32([this.code, typeof other === 'number' ? I32.of(other).code : other.code, opcode]);
  }

  plus(other: I32 | number): I32 {
    return this.#with(other, 0x6a);
  }

  minus(other: I32 | number): I32 {
    return this.#with(other, 0x6b);
  }

  and(other: I32 | number): I32 {
    return this.#with(other, 0x71);
  }

  or(other: I32 | number): I32 {
    return this.#with(other, 0x72);
  }

  xor(other: I32 | number): I32 {
    return this.#with(other, 0x73);
  }

  shiftLeft(bits: number): I32 {
    return this.#with(bits, 0x74);
  }

  /** Fills with zeros. */
  shiftRight(bits: number): I32 {
    return this.#with(bits, 0x76);
  }

  isZero(): I32 {
    return new I32([this.code, 0x45]);
  }

  equals(other: I32 | number): I32 {
    return this.#with(other, 0x46);
  }

  differs(other: I32 | number): I32 {
    return this.#with(other, 0x47);
  }

  /** Compares numbers without a sign. */
  isBelow(other: I32 | number): I32 {
    return this.#with(other, 0x49);
  }

  /** Compares numbers without a sign. */
  isAbove(other: I32 | number): I32 {
    return this.#with(other, 0x4b);
  }

  trailingZeros(): I32 {
    return new I32([this.code, 0x68]);
  }

  /** Fills with zeros. */
  toI64(): I64 {
    return new I64([this.code, 0xad]);
  }

  /** The byte at this address plus `offset`. */
  byte(offset = 0): I32 {
    return new I32([this.code, 0x2d, 0, leb(offset)]);
  }

  /** The four bytes from this address on, the first one lowest. */
  word(): I32 {
    return new I32([this.code, 0x28, 0, 0]);
  }

  /** The sixteen bytes from this address plus `offset` on. */
  vector(offset = 0): V128 {
    return new V128([this.code, 0xfd, 0x00, 0, leb(offset)]);
  }
}

/** A number of 64 bits. */
export class I64 {
  readonly type = ValueType.I64;
  readonly code: Instructions;

  constructor(code: Instructions) {
    this.code = code;
  }

  static of(value: number): I64 {
    return new I64([0x42, signedLeb(value)]);
  }

  #with(other: I64 | number, opcode: number): I64 {
    return new I64([this.code, typeof other === 'number' ? I64.of(other).code : other.code, opcode]);
  }

  plus(other: I64): I64 {
    return this.#with(other, 0x7c);
  }

  minus(other: I64 | number): I64 {
    return this.#with(other, 0x7d);
  }

  negated(): I64 {
    return I64.of(0).minus(this);
  }

  and(other: I64 | number): I64 {
    return this.#with(other, 0x83);
  }

  or(other: I64): I64 {
    return this.#with(other, 0x84);
  }

  xor(other: I64): I64 {
    return this.#with(other, 0x85);
  }

  not(): I64 {
    return this.xor(I64.of(-1));
  }

  shiftLeft(bits: I64 | number): I64 {
    return this.#with(bits, 0x86);
  }

  /** Fills with copies of the highest bit. */
  spreadRight(bits: number): I64 {
    return this.#with(bits, 0x87);
  }

  /** Fills with zeros. */
  shiftRight(bits: I64 | number): I64 {
    return this.#with(bits, 0x88);
  }

  isZero(): I32 {
    return new I32([this.code, 0x50]);
  }

  hasAny(): I32 {
    return new I32([this.code, 0x42, 0, 0x52]);
  }

  /** Compares numbers without a sign. */
  isBelow(other: I64): I32 {
    return new I32([this.code, other.code, 0x54]);
  }

  leadingZeros(): I64 {
    return new I64([this.code, 0x79]);
  }

  trailingZeros(): I64 {
    return new I64([this.code, 0x7a]);
  }

  /** The lower half. */
  toI32(): I32 {
    return new I32([this.code, 0xa7]);
  }
}

/** Sixteen bytes. A comparison gives 255 for each byte for which it holds, and 0 for the others. */
export class V128 {
  readonly type = ValueType.V128;
  readonly code: Instructions;

  constructor(code: Instructions) {
    this.code = code;
  }

  /** The same byte sixteen times. */
  static of(byte: number): V128 {
    return V128.ofBytes(Array.from({ length: 16 }, () => byte));
  }

  static ofBytes(bytes: readonly number[]): V128 {
    return new V128([0xfd, 0x0c, bytes]);
  }

  #with(other: V128, opcode: number): V128 {
    return new V128([this.code, other.code, 0xfd, leb(opcode)]);
  }

  /** For each byte of `places` the byte of this vector at that place; 0 where a place is over 15. */
  lookUp(places: V128): V128 {
    return this.#with(places, 0x0e);
  }

  equals(other: V128): V128 {
    return this.#with(other, 0x23);
  }

  /** Compares bytes with a sign: those over 0x7f are below all others, and in order among themselves. */
  isBelow(other: V128): V128 {
    return this.#with(other, 0x25);
  }

  /** Compares bytes with a sign, as `isBelow`. */
  isAbove(other: V128): V128 {
    return this.#with(other, 0x27);
  }

  and(other: V128): V128 {
    return this.#with(other, 0x4e);
  }

  or(other: V128): V128 {
    return this.#with(other, 0x50);
  }

  /** Adds byte by byte, without carry. */
  plus(other: V128): V128 {
    return this.#with(other, 0x6e);
  }

  hasAny(): I32 {
    return new I32([this.code, 0xfd, 0x53]);
  }

  /** The highest bit of each byte, sixteen bits with that of the first byte lowest. */
  highBits(): I32 {
    return new I32([this.code, 0xfd, 0x64]);
  }
}

/** LEB128 of a whole number from 0 to 2^32. */
export function leb(value: number): Instructions {
  return value < 0x80 ? [value] : [(value % 0x80) + 0x80, leb(Math.floor(value / 0x80))];
}

/** LEB128 of a whole number that fits into 32 bits with a sign. */
function signedLeb(value: number): Instructions {
  const isLast = value >= -0x40 && value < 0x40;
  return isLast ? [value & 0x7f] : [(value & 0x7f) | 0x80, signedLeb(value >> 7)];
}
