// The members of a JSON object and the elements of an array as texts: with white space anywhere, each comes exactly as it stands there.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { codePoint } from '../testing/code-point.ts';
import { jsonElements, jsonMembers } from './json-members.ts';

const space = fc.constantFrom('', ' ', '\n\t', '\r ');
const value = fc.oneof(
  fc.json({ stringUnit: codePoint }),
  fc.constantFrom(
    '1.50',
    '-0',
    '12345678901234567890',
    '1e400',
    '"}"',
    '"\\\\"',
    '"\\"{"',
    '[ "]" , {} ]',
    '{"a":[{}]}',
  ),
);
const name = fc.oneof(fc.string(), fc.constantFrom('payload', '__proto__', '"', '\\', '}'));

it('gives every member as it stands in the text', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(name, value), { selector: ([key]) => key }),
      space,
      (members, gap) => {
        const inside = members
          .map(([key, text]) => [JSON.stringify(key), ':', text.trim()].join(gap))
          .join(`${gap},${gap}`);
        const found = jsonMembers(`${gap}{${gap}${inside}${gap}}${gap}`);
        expect([...(found ?? [])]).toEqual(members.map(([key, text]) => [key, text.trim()]));
      },
    ),
  );
});

it('gives every element as it stands in the text', () => {
  fc.assert(
    fc.property(fc.array(value), space, (elements, gap) => {
      const inside = elements.map((text) => text.trim()).join(`${gap},${gap}`);
      const found = jsonElements(`${gap}[${gap}${inside}${gap}]${gap}`);
      expect(found).toEqual(elements.map((text) => text.trim()));
    }),
  );
});

it('gives the last of several members with one name', () => {
  expect(jsonMembers('{"a":1,"\\u0061":2}')).toEqual(new Map([['a', '2']]));
});

it.each(['', 'null', '[]', '1', '"{}"', '{', '{"a":}', '{"a":1}x'])('takes %j for no object', (text) => {
  expect(jsonMembers(text)).toBeUndefined();
});

it.each(['', 'null', '{}', '1', '"[]"', '[', '[1,]', '[1]x'])('takes %j for no array', (text) => {
  expect(jsonElements(text)).toBeUndefined();
});
