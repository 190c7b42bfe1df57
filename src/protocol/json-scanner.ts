// Whether bytes are one strict JSON text (RFC 8259) in valid UTF-8, without building any value: a payload stays opaque bytes to
// the broker, and parsing each would cost more than all else that is done with it. Must build no strings and no objects.
// Implements Q7 (area PUBLISH).

export type JsonFault = {
  /** Where the text stops being JSON, in bytes. */
  readonly offset: number;
  readonly reason: string;
};

/** Existing decoders of this protocol break on texts that are nested deeper. */
export const maxJsonDepth = 64;

/**
 * True for one JSON text: no byte order mark, nothing but white space around it, at most 64 arrays and objects inside each
 * other. Duplicate keys and numbers of any size are allowed, as are escaped halves of surrogate pairs.
 */
export function scanJson(bytes: Buffer): true | JsonFault {
  const valueEnd = scanValue(bytes, 0, 0);
  if (valueEnd < 0) return faultOf(valueEnd);
  const end = skipSpace(bytes, valueEnd);
  return end === bytes.length || faultOf(failure(end, Reason.Trailing));
}

// A recursive descent of plain functions over an offset, because that is what the compiler makes the quickest code of. Each
// takes the offset where something begins and returns the offset after it; a negative number is a failure (see `failure`).
// The byte behind the end reads as 0, which is part of no JSON text, so that no function has to ask for the end.

function scanValue(bytes: Buffer, start: number, depth: number): number {
  const at = skipSpace(bytes, start);
  switch (byteAt(bytes, at)) {
    case Byte.Quote:
      return scanString(bytes, at);
    case Byte.OpenBrace:
      return scanObject(bytes, at, depth + 1);
    case Byte.OpenBracket:
      return scanArray(bytes, at, depth + 1);
    case Byte.SmallT:
      return scanLiteral(bytes, at, 'true');
    case Byte.SmallF:
      return scanLiteral(bytes, at, 'false');
    case Byte.SmallN:
      return scanLiteral(bytes, at, 'null');
    default:
      return scanNumber(bytes, at);
  }
}

function scanObject(bytes: Buffer, start: number, depth: number): number {
  if (depth > maxJsonDepth) return failure(start, Reason.Depth);
  let at = skipSpace(bytes, start + 1);
  if (byteAt(bytes, at) === Byte.CloseBrace) return at + 1;
  for (;;) {
    if (byteAt(bytes, at) !== Byte.Quote) return failure(at, Reason.Key);
    const keyEnd = scanString(bytes, at);
    if (keyEnd < 0) return keyEnd;
    at = skipSpace(bytes, keyEnd);
    if (byteAt(bytes, at) !== Byte.Colon) return failure(at, Reason.Colon);
    const valueEnd = scanValue(bytes, at + 1, depth);
    if (valueEnd < 0) return valueEnd;
    at = skipSpace(bytes, valueEnd);
    if (byteAt(bytes, at) === Byte.CloseBrace) return at + 1;
    if (byteAt(bytes, at) !== Byte.Comma) return failure(at, Reason.ObjectEnd);
    at = skipSpace(bytes, at + 1);
  }
}

function scanArray(bytes: Buffer, start: number, depth: number): number {
  if (depth > maxJsonDepth) return failure(start, Reason.Depth);
  let at = skipSpace(bytes, start + 1);
  if (byteAt(bytes, at) === Byte.CloseBracket) return at + 1;
  for (;;) {
    const valueEnd = scanValue(bytes, at, depth);
    if (valueEnd < 0) return valueEnd;
    at = skipSpace(bytes, valueEnd);
    if (byteAt(bytes, at) === Byte.CloseBracket) return at + 1;
    if (byteAt(bytes, at) !== Byte.Comma) return failure(at, Reason.ArrayEnd);
    at += 1;
  }
}

function scanString(bytes: Buffer, start: number): number {
  let at = start + 1;
  for (;;) {
    at = skipPlain(bytes, at);
    const byte = byteAt(bytes, at);
    if (byte === Byte.Quote) return at + 1;
    at = byte === Byte.Backslash ? scanEscape(bytes, at) : scanSequence(bytes, at);
    if (at < 0) return at;
  }
}

function scanEscape(bytes: Buffer, start: number): number {
  const escaped = byteAt(bytes, start + 1);
  if (escaped !== Byte.SmallU) return isEscapable[escaped] === 1 ? start + 2 : failure(start, Reason.Escape);
  for (let at = start + 2; at < start + 6; at += 1) {
    if (isHexDigit[byteAt(bytes, at)] !== 1) return failure(start, Reason.Escape);
  }
  return start + 6;
}

/** A character of several bytes: the well-formed sequences of table 3-7 of the Unicode Standard. */
function scanSequence(bytes: Buffer, start: number): number {
  if (start >= bytes.length) return failure(start, Reason.StringEnd);
  const lead = byteAt(bytes, start);
  if (lead < 0x80) return failure(start, Reason.Control);
  const length = sequenceLength(lead);
  const second = byteAt(bytes, start + 1);
  if (length === 0 || second < lowestSecond(lead) || second > highestSecond(lead))
    return failure(start, Reason.Utf8);
  for (let at = start + 2; at < start + length; at += 1) {
    if ((byteAt(bytes, at) & 0xc0) !== 0x80) return failure(start, Reason.Utf8);
  }
  return start + length;
}

function scanLiteral(bytes: Buffer, start: number, word: string): number {
  for (let index = 1; index < word.length; index += 1) {
    if (byteAt(bytes, start + index) !== word.charCodeAt(index)) return failure(start, Reason.Value);
  }
  return start + word.length;
}

function scanNumber(bytes: Buffer, start: number): number {
  let at = byteAt(bytes, start) === Byte.Minus ? start + 1 : start;
  const integerEnd = byteAt(bytes, at) === Byte.Zero ? at + 1 : skipDigits(bytes, at);
  if (integerEnd === at) return failure(start, Reason.Value);
  at = integerEnd;
  if (byteAt(bytes, at) === Byte.Dot) {
    const fractionEnd = skipDigits(bytes, at + 1);
    if (fractionEnd === at + 1) return failure(fractionEnd, Reason.Digits);
    at = fractionEnd;
  }
  // The two cases of a letter differ in this bit.
  return (byteAt(bytes, at) | 0x20) === Byte.SmallE ? scanExponent(bytes, at) : at;
}

function scanExponent(bytes: Buffer, start: number): number {
  const sign = byteAt(bytes, start + 1);
  const digits = sign === Byte.Plus || sign === Byte.Minus ? start + 2 : start + 1;
  const end = skipDigits(bytes, digits);
  return end === digits ? failure(end, Reason.Digits) : end;
}

/** Where most of the time goes: four bytes a step halve it. */
function skipPlain(bytes: Buffer, start: number): number {
  let at = start;
  for (const last = bytes.length - 4; at <= last; at += 4) {
    const first = isPlain[bytes[at] ?? 0] ?? 0;
    const second = isPlain[bytes[at + 1] ?? 0] ?? 0;
    const third = isPlain[bytes[at + 2] ?? 0] ?? 0;
    const fourth = isPlain[bytes[at + 3] ?? 0] ?? 0;
    if ((first & second & third & fourth) === 0) break;
  }
  while (isPlain[byteAt(bytes, at)] === 1) at += 1;
  return at;
}

function skipDigits(bytes: Buffer, start: number): number {
  let at = start;
  for (let byte = byteAt(bytes, at); byte >= Byte.Zero && byte <= Byte.Nine; byte = byteAt(bytes, at))
    at += 1;
  return at;
}

function skipSpace(bytes: Buffer, start: number): number {
  let at = start;
  // Every byte over a space is none: the usual case is decided by one comparison.
  while (byteAt(bytes, at) <= Byte.Space && isSpace[byteAt(bytes, at)] === 1) at += 1;
  return at;
}

function byteAt(bytes: Buffer, at: number): number {
  return at < bytes.length ? (bytes[at] ?? 0) : 0;
}

/** Of a sequence by its first byte; 0 where no sequence begins with it. */
function sequenceLength(lead: number): number {
  if (lead < 0xc2) return 0;
  if (lead < 0xe0) return 2;
  if (lead < 0xf0) return 3;
  return lead < 0xf5 ? 4 : 0;
}

/** Excludes overlong forms. */
function lowestSecond(lead: number): number {
  if (lead === 0xe0) return 0xa0;
  return lead === 0xf0 ? 0x90 : 0x80;
}

/** Excludes surrogates and what is over U+10FFFF. */
function highestSecond(lead: number): number {
  if (lead === 0xed) return 0x9f;
  return lead === 0xf4 ? 0x8f : 0xbf;
}

const reasons = [
  'a value is missing',
  'a key is missing',
  'a colon is missing',
  'a comma or a closing brace is missing',
  'a comma or a closing bracket is missing',
  'digits are missing',
  'a string does not end',
  'a control character stands in a string',
  'an escape is unknown or incomplete',
  'a character is not valid UTF-8',
  `the text is nested deeper than ${maxJsonDepth} levels`,
  'something follows the text',
] as const;

const Reason = {
  Value: 0,
  Key: 1,
  Colon: 2,
  ObjectEnd: 3,
  ArrayEnd: 4,
  Digits: 5,
  StringEnd: 6,
  Control: 7,
  Escape: 8,
  Utf8: 9,
  Depth: 10,
  Trailing: 11,
} as const;

/** Offset and reason in one negative number, so that success stays a plain small integer. */
function failure(offset: number, reason: number): number {
  return -1 - (offset * reasons.length + reason);
}

function faultOf(failed: number): JsonFault {
  const packed = -1 - failed;
  const offset = Math.floor(packed / reasons.length);
  return { offset, reason: reasons[packed % reasons.length] ?? reasons[Reason.Value] };
}

const Byte = {
  Space: 0x20,
  Quote: 0x22,
  Plus: 0x2b,
  Comma: 0x2c,
  Minus: 0x2d,
  Dot: 0x2e,
  Zero: 0x30,
  Nine: 0x39,
  Colon: 0x3a,
  OpenBracket: 0x5b,
  Backslash: 0x5c,
  CloseBracket: 0x5d,
  SmallE: 0x65,
  SmallF: 0x66,
  SmallN: 0x6e,
  SmallT: 0x74,
  SmallU: 0x75,
  OpenBrace: 0x7b,
  CloseBrace: 0x7d,
} as const;

/** 1 for the bytes that stand for themselves inside a string: ASCII but for controls, quote and backslash. */
const isPlain = table(
  (byte) => byte >= 0x20 && byte < 0x80 && byte !== Byte.Quote && byte !== Byte.Backslash,
);
const isSpace = bytesOf(' \t\n\r');
const isEscapable = bytesOf('"\\/bfnrt');
const isHexDigit = bytesOf('0123456789abcdefABCDEF');

function bytesOf(characters: string): Uint8Array {
  return table((byte) => characters.includes(String.fromCharCode(byte)));
}

function table(holds: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (holds(byte) ? 1 : 0));
}
