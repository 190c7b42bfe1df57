// Checks of options and arguments: callers in JavaScript are not type-checked, and a wrong value that is let through shows itself far from its
// place. Each error says what came and what is allowed. Pure.

/** The bytes of an id that every broker accepts. */
const MAX_ID_BYTES = 256;

/** What a header value can hold at most. */
const MAX_HEADER_BYTES = 65_535;

const HALF_OF_A_PAIR = /\p{Surrogate}/u;

/** Which keys options may have; a type that has others, or lacks one, does not compile. */
export type KeysOf<Options> = Readonly<Record<keyof Options, true>>;

/** @throws TypeError for what is no object, and for a key that has no meaning. An undefined value counts as absent. */
export function checkKeys<Options>(what: string, options: unknown, known: KeysOf<Options>): void {
  if (typeof options !== 'object' || options === null)
    throw new TypeError(`${what}: came ${shown(options)}; allowed is an object of options`);
  for (const key in options) {
    if (Object.hasOwn(known, key) || options[key as keyof typeof options] === undefined) continue;
    throw new TypeError(`${what}: unknown option ${key}; options are ${Object.keys(known).join(', ')}`);
  }
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

/** @throws TypeError for anything but one of the values */
export function checkOneOf(name: string, value: unknown, allowed: readonly unknown[]): void {
  if (value === undefined || allowed.includes(value)) return;
  throw new TypeError(`${name}: came ${shown(value)}; allowed is ${allowed.map(shown).join(' or ')}`);
}

/** @throws TypeError for a value of another type, as `typeof` names it */
export function checkType(name: string, value: unknown, type: 'boolean' | 'function' | 'string'): void {
  if (value === undefined || typeof value === type) return;
  throw new TypeError(`${name}: came ${shown(value)}; allowed is a ${type}`);
}

/** @throws TypeError for what is no text; RangeError for one that does not fit into a header. The text may be a secret: it is not shown. */
export function checkHeaderText(name: string, value: unknown): void {
  if (value === undefined) return;
  if (typeof value !== 'string') throw new TypeError(`${name}: came a ${kindOf(value)}; allowed is a text`);
  const bytes = Buffer.byteLength(value);
  if (bytes > MAX_HEADER_BYTES)
    throw new RangeError(`${name}: came ${bytes} bytes; allowed are at most ${MAX_HEADER_BYTES}`);
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

function kindOf(value: unknown): string {
  return value === null ? 'null' : typeof value;
}

/** A short text for an error. */
function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 50));
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'function' ? 'a function' : String(value);
}
