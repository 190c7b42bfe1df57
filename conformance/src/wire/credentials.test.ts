// The credentials of an attached broker: added to a Connect without credentials, and to nothing else.
import { describe, expect, it } from 'vitest';
import { Command } from './command.ts';
import { withCredentials } from './credentials.ts';

const credentials = { authUsername: 'anna', authPassword: 'secret' };
const connect = { command: Command.Connect, id: '1' };

describe('withCredentials', () => {
  it('adds them to the headers of a Connect', () => {
    const sent = withCredentials({ ...connect, headers: { clientVersion: '1' } }, credentials);
    expect(sent.headers).toEqual([
      ['clientVersion', '1'],
      ['authUsername', 'anna'],
      ['authPassword', 'secret'],
    ]);
  });

  it.each([
    ['another command', { command: Command.Ping, id: '1' }],
    ['a Connect with a token', { ...connect, headers: { authToken: 't' } }],
    ['a Connect with a user', { ...connect, headers: [['authUsername', 'otto'] as const] }],
  ])('leaves %s as it is', (_name, fields) => {
    expect(withCredentials(fields, credentials)).toBe(fields);
  });

  it('changes nothing without credentials', () => {
    expect(withCredentials(connect)).toBe(connect);
    expect(withCredentials(connect, {})).toBe(connect);
  });
});
