// Values in messages: none is shown as another one, and none makes the message fail.

import { expect, it } from 'vitest';
import { writtenValue } from './written-value.ts';

const circular: Record<string, unknown> = {};
circular['self'] = circular;

it.each([
  ['soon', '"soon"'],
  [1.5, '1.5'],
  [null, 'null'],
  [{ a: ['b'] }, '{"a":["b"]}'],
  [Number.POSITIVE_INFINITY, 'Infinity'],
  [Number.NaN, 'NaN'],
  [[Number.NaN], '[ NaN ]'],
  [1n, '1n'],
  [undefined, 'undefined'],
  [new Map([['a', 1]]), "Map(1) { 'a' => 1 }"],
  [Symbol('s'), 'Symbol(s)'],
  [function stop() {}, '[Function: stop]'],
  [circular, '<ref *1> { self: [Circular *1] }'],
  ['x'.repeat(100), `"${'x'.repeat(76)}...`],
])('is written so that it is recognized (%#)', (value, text) => {
  expect(writtenValue(value)).toBe(text);
});
