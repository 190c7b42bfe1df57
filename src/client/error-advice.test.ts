// Every error code of the protocol has an advice, and the error that a user sees carries it.

import { expect, it } from 'vitest';
import { ErrorCode } from '../model/error-code.ts';
import { CommandError } from './index.ts';

it.each(Object.values(ErrorCode))('says what to do about %s', (code) => {
  expect(new CommandError(code, 'no').advice).toMatch(/^[A-Z].*\.$/);
});

it.each(['Connect', 'AdminCreateUser', 'AdminChangePassword'])(
  'does not speak of publishing when a %s is refused by RATE_LIMITED',
  (command) => {
    const { advice } = new CommandError('RATE_LIMITED', 'no', { command, queue: '' });
    expect(advice).toMatch(/^Try again later.*passwords/);
  },
);

it('advises to publish more slowly when a Publish is refused by RATE_LIMITED', () => {
  const { advice } = new CommandError('RATE_LIMITED', 'no', { command: 'Publish', queue: 'q' });
  expect(advice).toMatch(/^Publish more slowly/);
});

it.each([
  ['AdminCreateUser', /^Delete users/],
  ['AdminGrantPermission', /^Revoke permissions/],
  ['Subscribe', /^Use fewer queues or subscriptions, or raise/],
])('advises what makes room for a %s that is refused by LIMIT_EXCEEDED', (command, advice) => {
  expect(new CommandError('LIMIT_EXCEEDED', 'no', { command, queue: '' }).advice).toMatch(advice);
});

it('says how a broker gets users when it does not serve a command about them', () => {
  const { advice } = new CommandError('UNKNOWN_COMMAND', 'no', { command: 'AdminListUsers', queue: '' });
  expect(advice).toMatch(/superuserPassword or authDatabasePath.*no users/);
});

it('says nothing about a code that it does not know', () => {
  expect(new CommandError('toString', '').advice).toBeUndefined();
});
