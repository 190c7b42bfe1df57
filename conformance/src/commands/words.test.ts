// Command lines cut into words.
import { expect, it } from 'vitest';
import { wordsOf } from './words.ts';

it.each([
  ['node adapter.js', ['node', 'adapter.js']],
  ['  a   b ', ['a', 'b']],
  [`a "b c" 'd "e"'`, ['a', 'b c', 'd "e"']],
  [`--x="1 2"y`, ['--x=1 2y']],
  ['""', ['']],
  ['C:\\tools\\broker.exe "C:\\my broker\\x"', ['C:\\tools\\broker.exe', 'C:\\my broker\\x']],
  ['a\\ b \\"c\\" \\\\', ['a b', '"c"', '\\']],
  ['', []],
])('%s', (line, words) => {
  expect(wordsOf(line)).toEqual(words);
});

it('refuses a quote that is not closed', () => {
  expect(() => wordsOf(`a 'b`)).toThrow("the quote ' is not closed");
});
