// Compares JSON texts by value, exactly. Two texts have the same value if their canonical forms are equal. A canonical form has no white
// space, numbers as digits and exponent (1.0, 1 and 10e-1 are `1`; -0 is `0`; nothing is rounded), strings with as few escapes as
// possible, and object members sorted by name. If members have the same name, the last one is used. The nesting depth is unlimited.
// Area: DELIVERY.
import { isUtf8 } from 'node:buffer';

/** A text that should be JSON. Bytes that are not valid UTF-8 are not JSON. */
export type JsonText = string | Buffer;

/** True if the texts are identical, or JSON texts with the same value. An empty text equals only an empty text. */
export function isSameJson(one: JsonText, other: JsonText): boolean {
  if (Buffer.from(one).equals(Buffer.from(other))) return true;
  const form = jsonForm(one);
  return form !== undefined && form === jsonForm(other);
}

/** The canonical form of a JSON text, equal for equal values; undefined if the text is not exactly one valid JSON text. */
export function jsonForm(text: JsonText): string | undefined {
  if (typeof text !== 'string' && !isUtf8(text)) return undefined;
  try {
    return new FormReader(text.toString()).read();
  } catch (error) {
    if (error instanceof NotJson) return undefined;
    throw error;
  }
}

class NotJson extends Error {}

/** An array or object whose end is not read yet. Its form grows by concatenation, which costs the same at any depth. */
type OpenValue = { readonly end: ']' | '}'; add(form: string): void; form(): string };

class OpenArray implements OpenValue {
  readonly end = ']';
  #elements = '';

  add(form: string): void {
    this.#elements += this.#elements === '' ? form : `,${form}`;
  }

  form(): string {
    return `[${this.#elements}]`;
  }
}

class OpenObject implements OpenValue {
  readonly end = '}';
  /** The canonical form of the name of the next member. */
  name = '';
  readonly #members = new Map<string, string>();

  add(form: string): void {
    this.#members.set(this.name, form);
  }

  form(): string {
    let members = '';
    for (const name of [...this.#members.keys()].sort())
      members += `${members === '' ? '' : ','}${name}:${this.#members.get(name)}`;
    return `{${members}}`;
  }
}

/** Reads one text. Uses an explicit stack instead of recursion, so that deep nesting does not overflow the call stack. */
class FormReader {
  readonly #text: string;
  readonly #open: OpenValue[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Throws NotJson. */
  read(): string {
    for (;;) {
      const value = this.#readValueOrOpen();
      const text = value === undefined ? undefined : this.#addValue(value);
      if (text !== undefined) return text;
    }
  }

  /** Reads the next value and returns its form; undefined if it only opened an array or object that is not empty. */
  #readValueOrOpen(): string | undefined {
    const first = this.#next();
    if (first === '{') return this.#openValue(new OpenObject());
    if (first === '[') return this.#openValue(new OpenArray());
    if (first === '"') return this.#stringForm();
    return this.#match(literal)?.[0] ?? numberForm(this.#match(number));
  }

  /** The form of an empty array or object; undefined after it opened one that is not empty. */
  #openValue(value: OpenValue): string | undefined {
    this.#at += 1;
    if (this.#next() === value.end) {
      this.#at += 1;
      return value.form();
    }
    this.#open.push(value);
    this.#readName(value);
    return undefined;
  }

  /** Adds a complete value to the array or object that contains it, and closes all that end here; the form of the text at its end. */
  #addValue(value: string): string | undefined {
    let form = value;
    for (;;) {
      const inner = this.#open.at(-1);
      const next = this.#next();
      if (inner === undefined && next === '') return form;
      if (inner === undefined) throw new NotJson();
      this.#at += 1;
      inner.add(form);
      if (next === ',') {
        this.#readName(inner);
        return undefined;
      }
      if (next !== inner.end) throw new NotJson();
      this.#open.pop();
      form = inner.form();
    }
  }

  #readName(value: OpenValue): void {
    if (!(value instanceof OpenObject)) return;
    if (this.#next() !== '"') throw new NotJson();
    value.name = this.#stringForm();
    if (this.#next() !== ':') throw new NotJson();
    this.#at += 1;
  }

  #stringForm(): string {
    const start = this.#at;
    this.#at += 1;
    this.#match(plainCharacters);
    while (this.#text[this.#at] === '\\') {
      if (this.#match(escapeSequence) === undefined) throw new NotJson();
      this.#match(plainCharacters);
    }
    if (this.#text[this.#at] !== '"') throw new NotJson();
    this.#at += 1;
    return JSON.stringify(JSON.parse(this.#text.slice(start, this.#at)));
  }

  /** The next character after white space; empty at the end of the text. */
  #next(): string {
    this.#match(space);
    return this.#text.charAt(this.#at);
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found === null) return undefined;
    this.#at = pattern.lastIndex;
    return found;
  }
}

const space = /[ \t\r\n]*/y;
const literal = /true|false|null/y;
const number = /(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?/y;
// All characters except control characters, quotation mark and backslash.
const plainCharacters = /[ !#-[\]-\uffff]*/y;
const escapeSequence = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** The digits without leading and trailing zeros, and the power of ten: `-15e-1` for -1.50. */
function numberForm(found: RegExpExecArray | undefined): string {
  if (found === undefined) throw new NotJson();
  const [, sign = '', whole = '', fraction = '', power = '0'] = found;
  const digits = whole + fraction;
  let first = 0;
  let end = digits.length;
  while (digits[first] === '0') first += 1;
  if (first === end) return '0';
  while (digits[end - 1] === '0') end -= 1;
  const exponent = BigInt(power.replace('+', '')) + BigInt(digits.length - end - fraction.length);
  return `${sign}${digits.slice(first, end)}${exponent === 0n ? '' : `e${exponent}`}`;
}
