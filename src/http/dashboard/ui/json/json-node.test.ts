// JSON text as a tree that keeps the text of its values.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arrayElements, type JsonNode, jsonNode, objectMembers, textOf } from './json-node.ts';

/** The value that a tree stands for, by a reading of its own. */
function parsed(node: JsonNode): unknown {
  if (node.kind === 'object') {
    return Object.fromEntries(objectMembers(node).map(({ key, value }) => [key, parsed(value)]));
  }
  if (node.kind === 'array') return arrayElements(node).map(parsed);
  return node.kind === 'string' ? textOf(node) : JSON.parse(node.text);
}

describe('a tree of JSON', () => {
  it('is what JSON.parse reads, with and without white space', () => {
    const property = fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, space) => {
      const text = JSON.stringify(value, undefined, space);
      expect(JSON.stringify(parsed(jsonNode(text)))).toBe(JSON.stringify(JSON.parse(text)));
    });
    fc.assert(property);
  });

  it('keeps the text of numbers', () => {
    const node = jsonNode(' {"id": 9007199254740993, "price": 1.10, "large": 1e400}');
    expect(objectMembers(node).map(({ value }) => value.text)).toEqual(['9007199254740993', '1.10', '1e400']);
  });

  it('keeps both members of the same name', () => {
    expect(objectMembers(jsonNode('{"a":1,"a":2}')).map(({ value }) => value.text)).toEqual(['1', '2']);
  });

  it('resolves escapes of strings and keys', () => {
    const [member] = objectMembers(jsonNode('{"a\\"b":"x\\u00e9\\n]"}'));
    expect(member?.key).toBe('a"b');
    expect(member && textOf(member.value)).toBe('xé\n]');
  });

  it('reads 100,000 arrays within each other', () => {
    const node = jsonNode('['.repeat(100_000) + ']'.repeat(100_000));
    expect(arrayElements(node)[0]?.text).toHaveLength(199_998);
  });

  it.each(['', '[1,', '{"a":', '{"a"', '"abc', '[}', '{]', '[,]', 'x y'])(
    'ends on %j, which is no JSON',
    (text) => {
      const node = jsonNode(text);
      expect(objectMembers(node).length + arrayElements(node).length).toBeLessThan(3);
    },
  );

  it('has no members or elements in other values', () => {
    expect(objectMembers(jsonNode('[1]'))).toEqual([]);
    expect(arrayElements(jsonNode('{"a":1}'))).toEqual([]);
    expect(textOf(jsonNode('null'))).toBe('null');
  });
});
