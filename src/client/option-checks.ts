// Checks of options and arguments: callers in JavaScript are not type-checked, and a wrong value that is let through shows itself far from its
// place. Each error says what came and what is allowed. Pure.

/** The bytes of an id that every broker accepts. */
const MAX_ID_BYTES = 256;

/** What a header value can hold at most. */
const MAX_HEADER_BYTES = 65_535;

/** The characters of a text that an error shows. */
const MAX_SHOWN = 50;

const HALF_OF_A_PAIR = /\p{Surrogate}/u;

/** Which keys options may have; a type that has others, or lacks one, does not compile. */
export type KeysOf<Options> = Readonly<Record<keyof Options, true>>;

/** @throws TypeError for what is no object, and for a key that has no meaning. An undefined value counts as absent. */
export function checkKeys<Options>(what: string, options: unknown, known: KeysOf<Options>): void {
  if (!isPlain(options))
    throw new TypeError(`${what}: came ${shown(options)}; allowed is an object of options`);
  for (const key in options) {
    if (Object.hasOwn(known, key) || options[key as keyof typeof options] === undefined) continue;
    throw new TypeError(`${what}: unknown option ${key}; options are ${Object.keys(known).join(', ')}`);
  }
}

/** Whether it is an object whose keys say something: those of a list or a Map do not. */
export function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(Symbol.iterator in value);
}

/** @throws RangeError for another number, or no number; `maximum` may be Infinity */
export function checkNumber(name: string, value: unknown, minimum: number, maximum: number): void {
  if (typeof value === 'number' && value >= minimum && value <= maximum) return;
  const allowed = maximum === Number.POSITIVE_INFINITY ? `${minimum} and more` : `${minimum} to ${maximum}`;
  throw new RangeError(`${name}: came ${shown(value)}; allowed is ${allowed}`);
}

/** As `checkNumber`, for whole numbers. */
export function checkInteger(name: string, value: unknown, minimum: number, maximum: number): void {
  checkNumber(name, value, minimum, maximum);
  if (!Number.isInteger(value))
    throw new RangeError(
      `${name}: came ${shown(value)}; allowed is a whole number, ${minimum} to ${maximum}`,
    );
}

/** @throws TypeError for anything but one of the values; undefined is a missing option */
export function checkOneOf(name: string, value: unknown, allowed: readonly unknown[]): void {
  if (value !== undefined) checkEntry(name, value, allowed);
}

/** As `checkOneOf`, for what may not be missing. */
export function checkEntry(name: string, value: unknown, allowed: readonly unknown[]): void {
  if (allowed.includes(value)) return;
  throw new TypeError(`${name}: came ${shown(value)}; allowed is ${allowed.map(shown).join(' or ')}`);
}

/** @throws TypeError for a value of another type, as `typeof` names it; undefined is a missing option */
export function checkType(name: string, value: unknown, type: TypeName): void {
  if (value !== undefined) checkArgument(name, value, type);
}

/** As `checkType`, for what may not be missing. */
export function checkArgument(name: string, value: unknown, type: TypeName): void {
  if (typeof value === type) return;
  throw new TypeError(`${name}: came ${shown(value)}; allowed is a ${type}`);
}

type TypeName = 'boolean' | 'function' | 'string';

/**
 * By what the client uses of it, because a program may have more than one class of this name.
 * @throws TypeError for what is no AbortSignal
 */
export function checkSignal(signal: unknown): void {
  if (signal === undefined) return;
  const { aborted, throwIfAborted, addEventListener } = Object(signal) as Partial<AbortSignal>;
  const isSignal =
    typeof aborted === 'boolean' &&
    typeof throwIfAborted === 'function' &&
    typeof addEventListener === 'function';
  if (!isSignal) throw new TypeError(`signal: came ${shown(signal)}; allowed is an AbortSignal`);
}

/** @throws TypeError for what is no text. What came may be a secret: it is not shown. */
export function checkText(name: string, value: unknown): asserts value is string {
  if (typeof value !== 'string') throw new TypeError(`${name}: came ${kindOf(value)}; allowed is a text`);
}

/** @throws TypeError for what is no text; RangeError for one that a header cannot carry. The text may be a secret: it is not shown. */
export function checkHeaderText(name: string, value: unknown): void {
  checkText(name, value);
  const bytes = Buffer.byteLength(value);
  if (bytes > MAX_HEADER_BYTES)
    throw new RangeError(`${name}: came ${bytes} bytes; allowed are at most ${MAX_HEADER_BYTES}`);
  if (HALF_OF_A_PAIR.test(value))
    throw new RangeError(`${name}: has half of a surrogate pair, which UTF-8 cannot carry`);
}

/** @throws TypeError or RangeError for an id that brokers refuse, or answer with another one, so that the answer would not be recognized */
export function checkId(name: string, id: unknown): void {
  if (typeof id !== 'string') throw new TypeError(`${name}: came ${shown(id)}; allowed is a text`);
  if (id === '') throw new RangeError(`${name}: came an empty text; allowed are 1 to ${MAX_ID_BYTES} bytes`);
  if (HALF_OF_A_PAIR.test(id))
    throw new RangeError(
      `${name}: ${JSON.stringify(id)} has half of a surrogate pair, which UTF-8 cannot carry`,
    );
  // A UTF-16 unit takes at most 3 bytes: short ids need no counting.
  if (id.length * 3 <= MAX_ID_BYTES || Buffer.byteLength(id) <= MAX_ID_BYTES) return;
  throw new RangeError(`${name}: came ${Buffer.byteLength(id)} bytes; allowed are 1 to ${MAX_ID_BYTES}`);
}

/** What it is, without its value: `a number`, `an object`. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** A short text for an error. */
export function shown(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}...` : value);
    case 'bigint':
      return `${value}n`;
    case 'object':
    case 'function':
      return kindOf(value);
    default:
      return String(value);
  }
}
