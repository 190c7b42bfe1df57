// The length of a text in UTF-8 against an encoder.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { utf8Length } from './utf8-length.ts';

const examples = {
  nothing: '',
  'one byte': 'a\u007f',
  'two bytes': '\u0080é\u07ff',
  'three bytes': '\u0800€\uffff',
  'four bytes': '😀',
  'halves of a pair': 'a\ud800\udbffb\udc00',
};

describe('utf8Length', () => {
  it.each(Object.entries(examples))('counts characters of %s', (_, text) => {
    expect(utf8Length(text)).toBe(Buffer.byteLength(text));
  });

  it('counts the bytes of any text, lone surrogates included', () => {
    const texts = fc.array(fc.nat(0xffff)).map((codes) => String.fromCharCode(...codes));
    fc.assert(fc.property(texts, (text) => utf8Length(text) === Buffer.byteLength(text)));
  });
});
