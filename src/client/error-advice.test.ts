// Every error code of the protocol has an advice, and the error that a user sees carries it.

import { expect, it } from 'vitest';
import { ErrorCode } from '../model/error-code.ts';
import { CommandError } from './index.ts';

it.each(Object.values(ErrorCode))('says what to do about %s', (code) => {
  expect(new CommandError(code, 'no').advice).toMatch(/^[A-Z].*\.$/);
});

it('says nothing about a code that it does not know', () => {
  expect(new CommandError('toString', '').advice).toBeUndefined();
});
