// Questions and answers over streams: typed ahead or not, and an input that ends.
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { conversationOn } from './questions.ts';

function conversation() {
  const [input, output] = [new PassThrough(), new PassThrough()];
  return { input, output, ...conversationOn(input, output, new AbortController().signal) };
}

it('asks one after the other, and takes what was typed ahead', async () => {
  const { input, output, ask, end } = conversation();
  input.write('one\ntwo\n');
  expect([await ask('a? '), await ask('b? ')]).toEqual(['one', 'two']);
  const third = ask('c? ');
  input.write('three\r\n');
  expect(await third).toBe('three');
  end();
  expect((await output.end().toArray()).join('')).toContain('a? b? c? ');
});

it('rejects when the input ends', async () => {
  const { input, ask } = conversation();
  const answer = ask('a? ');
  input.end();
  await expect(answer).rejects.toThrow('the input ended before the question was answered');
});

it('can be ended before anything was asked', () => {
  const { end } = conversation();
  expect(end).not.toThrow();
});
