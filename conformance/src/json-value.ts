// JSON texts compared as values, exactly. Two texts are the same value when their forms are equal: a form has no white space, numbers
// as digits and exponent (1.0, 1 and 10e-1 are `1`; -0 is `0`; nothing is rounded), strings with the fewest escapes, and the members of
// an object sorted by name. Of members with the same name the last one counts. Nesting is not limited. Area: DELIVERY.
import { isUtf8 } from 'node:buffer';

/** A JSON text, or what should be one. Bytes that are not UTF-8 are no JSON text. */
export type JsonText = string | Buffer;

/** Whether both are the same text, or JSON texts with the same value. An empty text is the same as an empty text only. */
export function isSameJson(one: JsonText, other: JsonText): boolean {
  if (Buffer.from(one).equals(Buffer.from(other))) return true;
  const form = jsonForm(one);
  return form !== undefined && form === jsonForm(other);
}

/** A JSON text that is equal for equal values; undefined when the text is not exactly one valid JSON text. */
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

/** An array or object that has begun. Its form grows by concatenation, which costs the same at any depth. */
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
  /** The form of the name of the member that comes next. */
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

/** Reads one text with a stack of its own instead of recursion. */
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
      const begun = this.#begunValue();
      const whole = begun === undefined ? undefined : this.#closed(begun);
      if (whole !== undefined) return whole;
    }
  }

  /** The form of the value that begins here; undefined when it is an array or object whose first member comes next. */
  #begunValue(): string | undefined {
    const begin = this.#next();
    if (begin === '{') return this.#opened(new OpenObject());
    if (begin === '[') return this.#opened(new OpenArray());
    if (begin === '"') return this.#stringForm();
    return this.#match(literal)?.[0] ?? numberForm(this.#match(number));
  }

  #opened(value: OpenValue): string | undefined {
    this.#at += 1;
    if (this.#next() === value.end) {
      this.#at += 1;
      return value.form();
    }
    this.#open.push(value);
    this.#readName(value);
    return undefined;
  }

  /** Adds a whole value to what it is in, and closes all that ends after it; the form of the text when its end is reached. */
  #closed(value: string): string | undefined {
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

  /** The next character that is no white space; empty at the end of the text. */
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
// All but control characters, quotation mark and backslash.
const plainCharacters = /[ !#-[\]-\uffff]*/y;
const escapeSequence = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** The digits without zeros at either end, and what power of ten they are multiplied with: `-15e-1` for -1.50. */
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
