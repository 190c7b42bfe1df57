// Splits a connection string of the form Host=..;Port=..;key=value into its entries. A value in single or double quotes may contain `;`
// and spaces at its ends; the quote itself is written twice. What keys and values mean is in keys.ts. Implements CLIENT-031.

import { ConnectionStringError } from './connection-string-error.ts';
import type { Entry } from './entry.ts';

/** @throws ConnectionStringError */
export function splitKeys(text: string): readonly Entry[] {
  const entries: Entry[] = [];
  let isSecret = false;
  for (let at = 0; at < text.length; ) {
    const { key, value, keyAt, next } = readPair(text, at);
    // An unquoted password with `;` ends too early, so nothing after it is shown.
    isSecret ||= key.toLowerCase() === 'password';
    if (value !== undefined) entries.push({ key, value, position: keyAt + 1, isSecret });
    at = next;
  }
  return entries;
}

type Pair = {
  readonly key: string;
  /** Undefined: there is nothing between two semicolons. */
  readonly value: string | undefined;
  readonly keyAt: number;
  /** Where the next pair begins. */
  readonly next: number;
};

function readPair(text: string, at: number): Pair {
  const end = indexOrEnd(text, ';', at);
  const equals = text.slice(at, end).indexOf('=');
  const keyAt = skipSpace(text, at);
  if (keyAt >= end) return { key: '', value: undefined, keyAt, next: end + 1 };
  if (equals <= 0 || keyAt >= at + equals) {
    throw new ConnectionStringError(keyAt + 1, 'key=value is expected, and ; between them');
  }
  const key = text.slice(keyAt, at + equals).trimEnd();
  return { key, keyAt, ...readValue(text, skipSpace(text, at + equals + 1), end) };
}

/** The value at `at`; `end` is where an unquoted one ends. */
function readValue(text: string, at: number, end: number): { readonly value: string; readonly next: number } {
  const quote = text.charAt(at);
  if (at >= end || (quote !== '"' && quote !== "'")) {
    return { value: text.slice(Math.min(at, end), end).trimEnd(), next: end + 1 };
  }
  const closing = closingQuote(text, quote, at);
  const next = skipSpace(text, closing + 1);
  if (next < text.length && text.charAt(next) !== ';') {
    throw new ConnectionStringError(
      next + 1,
      '; is expected after a value in quotes; a quote in the value is written twice',
    );
  }
  return { value: text.slice(at + 1, closing).replaceAll(quote + quote, quote), next: next + 1 };
}

function closingQuote(text: string, quote: string, at: number): number {
  let closing = text.indexOf(quote, at + 1);
  while (closing !== -1 && text.charAt(closing + 1) === quote) closing = text.indexOf(quote, closing + 2);
  if (closing === -1) throw new ConnectionStringError(at + 1, `the value has no closing ${quote}`);
  return closing;
}

function skipSpace(text: string, at: number): number {
  let next = at;
  while (next < text.length && text.charAt(next).trim() === '') next += 1;
  return next;
}

function indexOrEnd(text: string, part: string, at: number): number {
  const index = text.indexOf(part, at);
  return index === -1 ? text.length : index;
}
