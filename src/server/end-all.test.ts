// The end of several parts: in order, all of them, whatever fails.

import { expect, it } from 'vitest';
import { endAll } from './end-all.ts';

const ended: string[] = [];
const step = (name: string, error?: Error) => async () => {
  ended.push(name);
  if (error !== undefined) throw error;
};

it('ends all parts in order, and rejects with the error of the one that failed', async () => {
  ended.length = 0;
  const error = new Error('no');
  const throwing = () => {
    ended.push('throws');
    throw error;
  };
  await expect(endAll([step('first'), throwing, step('last')])).rejects.toBe(error);
  expect(ended).toEqual(['first', 'throws', 'last']);
});

it('says all errors when several parts failed', async () => {
  const failed = endAll([step('one', new Error('a')), step('other', new Error('b')), step('last')]);
  await expect(failed).rejects.toThrow('several parts could not be closed: Error: a; Error: b');
});
