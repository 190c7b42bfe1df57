// The byte scanner: whether bytes are one JSON text, one byte after the other, and if not, where and why. Decides about short texts, about
// those that the vector scanner does not take, and about all where there is none. Must build no strings and no objects. Implements
// PUBLISH-013 to PUBLISH-018.

export type JsonFault = {
  /** Where the text stops being JSON, in bytes. */
  readonly offset: number;
  readonly reason: string;
};

/** Existing decoders of this protocol break on texts that are nested deeper. */
export const maxJsonDepth = 64;

/** As `scanJson`, which says what is valid. */
export function scanBytes(bytes: Buffer): true | JsonFault {
  const end = scanText(bytes);
  return end >= 0 || faultOf(end);
}

// One loop over the tokens, with what is expected next as its state and the depth as a counter; the usual string and the usual
// number are passed over on the spot. That is half the time of a recursive descent, and it is the one loop of the broker that
// looks at every byte. Bytes and states stand as literals because the compiler folds those and nothing else. The functions
// called take the offset where something begins and return the offset after it, or a negative `failure`.

/** What may come next: 0 a value, 1 a value or the end of an array, 2 a key, 3 a key or the end of an object, 4 a comma or the end. */
type Expected = 0 | 1 | 2 | 3 | 4;

function scanText(bytes: Buffer): number {
  const end = bytes.length;
  let expect = 0 as Expected;
  let depth = 0;
  // One bit for each level, the innermost lowest: whether it is an object. Two halves hold the 64 levels.
  let isObject = 0;
  let isObjectAbove = 0;
  for (let at = 0; at < end; ) {
    const byte = bytes[at] ?? 0;
    if (byte <= 0x20 && isSpace[byte] === 1) at += 1;
    else if (expect === 4 && byte === 0x2c /* , */ && depth > 0) {
      expect = (isObject & 1) === 1 ? 2 : 0;
      at += 1;
    } else if (expect === 4 || byte === 0x5d /* ] */ || byte === 0x7d /* } */) {
      if (!ends(expect, byte, depth, isObject)) return failure(at, reasonFor(expect, depth, isObject));
      isObject = (isObject >>> 1) | (isObjectAbove << 31);
      isObjectAbove >>>= 1;
      depth -= 1;
      expect = 4;
      at += 1;
    } else if (byte === 0x22 /* " */) {
      at += 1;
      // Most keys end within a few bytes; for longer texts the other way is quicker.
      const near = at + 16 < end ? at + 16 : end;
      while (at < near && isPlain[bytes[at] ?? 0] === 1) at += 1;
      if (bytes[at] === 0x22 /* " */) at += 1;
      else {
        at = scanRestOfString(bytes, at);
        if (at < 0) return at;
      }
      if (expect === 2 || expect === 3) {
        if (bytes[at] === 0x3a /* : */) at += 1;
        else {
          at = scanColon(bytes, at);
          if (at < 0) return at;
        }
        expect = 0;
      } else expect = 4;
    } else if (expect === 2 || expect === 3) return failure(at, Reason.Key);
    else if (byte === 0x7b /* { */ || byte === 0x5b /* [ */) {
      depth += 1;
      if (depth > maxJsonDepth) return failure(at, Reason.Depth);
      isObjectAbove = (isObjectAbove << 1) | (isObject >>> 31);
      isObject = (isObject << 1) | (byte === 0x7b ? 1 : 0);
      expect = byte === 0x7b ? 3 : 1;
      at += 1;
    } else if (byte >= 0x31 /* 1 */ && byte <= 0x39 /* 9 */) {
      at += 1;
      let digit = bytes[at] ?? 0;
      while (digit >= 0x30 && digit <= 0x39) {
        at += 1;
        digit = bytes[at] ?? 0;
      }
      if (digit === 0x2e /* . */ || (digit | 0x20) === 0x65 /* e */) {
        at = scanFraction(bytes, at);
        if (at < 0) return at;
      }
      expect = 4;
    } else {
      at = scanWord(bytes, at, byte);
      if (at < 0) return at;
      expect = 4;
    }
  }
  return depth === 0 && expect === 4 ? end : failure(end, reasonFor(expect, depth, isObject));
}

/** Whether the byte closes the innermost level at a place where it may. */
function ends(expect: Expected, byte: number, depth: number, isObject: number): boolean {
  if (depth === 0 || byte !== ((isObject & 1) === 1 ? 0x7d : 0x5d)) return false;
  return expect === 4 || expect === 3 || expect === 1;
}

function reasonFor(expect: Expected, depth: number, isObject: number): number {
  if (expect === 2 || expect === 3) return Reason.Key;
  if (expect !== 4) return Reason.Value;
  if (depth === 0) return Reason.Trailing;
  return (isObject & 1) === 1 ? Reason.ObjectEnd : Reason.ArrayEnd;
}

/** The colon after a key, white space before it included. */
function scanColon(bytes: Buffer, start: number): number {
  let at = start;
  while (isSpace[byteAt(bytes, at)] === 1) at += 1;
  return byteAt(bytes, at) === 0x3a /* : */ ? at + 1 : failure(at, Reason.Colon);
}

/** A value that is neither string nor object nor array. */
function scanWord(bytes: Buffer, start: number, first: number): number {
  switch (first) {
    case 0x74 /* t */:
      return scanLiteral(bytes, start, 'true');
    case 0x66 /* f */:
      return scanLiteral(bytes, start, 'false');
    case 0x6e /* n */:
      return scanLiteral(bytes, start, 'null');
    default:
      return scanNumber(bytes, start);
  }
}

function scanRestOfString(bytes: Buffer, start: number): number {
  let at = start;
  for (;;) {
    at = skipPlain(bytes, at);
    const byte = byteAt(bytes, at);
    if (byte === 0x22 /* " */) return at + 1;
    at = byte === 0x5c /* \ */ ? scanEscape(bytes, at) : scanSequence(bytes, at);
    if (at < 0) return at;
  }
}

function scanEscape(bytes: Buffer, start: number): number {
  const escaped = byteAt(bytes, start + 1);
  if (escaped !== 0x75 /* u */) return isEscapable[escaped] === 1 ? start + 2 : failure(start, Reason.Escape);
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
  const at = byteAt(bytes, start) === 0x2d /* - */ ? start + 1 : start;
  const integerEnd = byteAt(bytes, at) === 0x30 /* 0 */ ? at + 1 : skipDigits(bytes, at);
  return integerEnd === at ? failure(start, Reason.Value) : scanFraction(bytes, integerEnd);
}

/** What may follow the whole part of a number: digits after a point, an exponent, both or nothing. */
function scanFraction(bytes: Buffer, start: number): number {
  let at = start;
  if (byteAt(bytes, at) === 0x2e /* . */) {
    at = skipDigits(bytes, start + 1);
    if (at === start + 1) return failure(at, Reason.Digits);
  }
  // The two cases of a letter differ in this bit.
  return (byteAt(bytes, at) | 0x20) === 0x65 /* e */ ? scanExponent(bytes, at) : at;
}

function scanExponent(bytes: Buffer, start: number): number {
  const sign = byteAt(bytes, start + 1);
  const digits = sign === 0x2b /* + */ || sign === 0x2d /* - */ ? start + 2 : start + 1;
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
  for (let byte = byteAt(bytes, at); byte >= 0x30 /* 0 */ && byte <= 0x39 /* 9 */; byte = byteAt(bytes, at))
    at += 1;
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

/** 1 for the bytes that stand for themselves inside a string: ASCII but for controls, quote and backslash. */
const isPlain = table(
  (byte) => byte >= 0x20 && byte < 0x80 && byte !== 0x22 /* " */ && byte !== 0x5c /* \ */,
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
