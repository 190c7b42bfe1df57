// Who gets in by HTTP Basic, how long credentials are remembered, and what ends that.

import { describe, expect, it } from 'vitest';
import type { AuthenticationOutcome, Credentials } from './authenticator.ts';
import { BasicAccess } from './basic-access.ts';
import type { UserChange } from './user-administration.ts';

const principal = { username: 'admin', isSuperuser: true, accessList: [] };

/** Access over an authenticator that answers so; `checked` are the credentials that it was asked about. */
function accessWith(outcome: AuthenticationOutcome) {
  const checked: Credentials[] = [];
  const listeners: ((change: UserChange) => void)[] = [];
  const clock = { now: 0 };
  const lines: unknown[] = [];
  const access = new BasicAccess({
    authenticator: {
      check: async (credentials) => {
        checked.push(credentials);
        return outcome;
      },
    },
    administration: { onChange: (listener) => void listeners.push(listener) },
    now: () => clock.now,
    logger: { info: (...line) => void lines.push(line) },
  });
  const change = (made: UserChange = { kind: 'ended', username: 'admin' }): void => {
    for (const listener of listeners) listener(made);
  };
  return { access, checked, clock, change, lines };
}

const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
const refused = (code: Extract<AuthenticationOutcome, { kind: 'refused' }>['code']) =>
  ({ kind: 'refused', code, text: '', closes: false }) as const;

describe('access by HTTP Basic', () => {
  it('is for a superuser with the right password, which may have colons and any letters', async () => {
    const { access, checked } = accessWith({ kind: 'accepted', principal });
    expect(await access.judge(basic('admin:pä:ss'), '::1')).toBe('allowed');
    expect(checked).toEqual([{ username: 'admin', password: 'pä:ss' }]);
  });

  it.each([
    [{ kind: 'accepted', principal: { ...principal, isSuperuser: false } }, 'forbidden'],
    [{ kind: 'accepted' }, 'forbidden'],
    [refused('AUTH_FAILED'), 'wrong'],
    [refused('AUTH_REQUIRED'), 'missing'],
    [refused('RATE_LIMITED'), 'busy'],
    [refused('SERVER_ERROR'), 'failed'],
  ] as const)('is for nobody else: %j', async (outcome, verdict) => {
    const { access, checked } = accessWith(outcome);
    expect(await access.judge(basic('admin:x'), '::1')).toBe(verdict);
    expect(await access.judge(basic('admin:x'), '::1')).toBe(verdict);
    expect(checked).toHaveLength(2);
  });

  it.each([null, '', 'Basic', 'Bearer abc', basic('no colon'), 'Basic ???'])(
    'is not for a request with the header %j',
    async (header) => {
      const { access, checked } = accessWith({ kind: 'accepted', principal });
      expect(await access.judge(header, '::1')).toBe('missing');
      expect(checked).toEqual([]);
    },
  );

  it.each([
    [refused('AUTH_FAILED'), 'AUTH_FAILED'],
    [refused('RATE_LIMITED'), 'RATE_LIMITED'],
    [{ kind: 'accepted', principal: { ...principal, isSuperuser: false } }, 'NOT_AUTHORIZED'],
  ] as const)(
    'leaves a line in the log for each refusal, without name and password: %j',
    async (outcome, code) => {
      const { access, lines } = accessWith(outcome);
      await access.judge(basic('admin:secret'), '192.0.2.1');
      await access.judge(basic('admin:secret'), '192.0.2.1');
      const line = ['a login to the dashboard was refused', { address: '192.0.2.1', code }];
      expect(lines).toEqual([line, line]);
    },
  );

  it('leaves none for a login, nor for a request without credentials, which browsers send first, nor for a failed check', async () => {
    const allowed = accessWith({ kind: 'accepted', principal });
    await allowed.access.judge(basic('admin:x'), '192.0.2.1');
    await allowed.access.judge(null, '192.0.2.1');
    const failed = accessWith(refused('SERVER_ERROR'));
    await failed.access.judge(basic('admin:x'), '192.0.2.1');
    expect([...allowed.lines, ...failed.lines]).toEqual([]);
  });

  it('is remembered for a minute, for these credentials only', async () => {
    const { access, checked, clock } = accessWith({ kind: 'accepted', principal });
    await access.judge(basic('admin:x'), '::1');
    clock.now = 59_999;
    await access.judge(basic('admin:x'), '::1');
    expect(checked).toHaveLength(1);
    await access.judge(basic('admin:y'), '::1');
    expect(checked).toHaveLength(2);
    clock.now = 60_000;
    await access.judge(basic('admin:x'), '::1');
    expect(checked).toHaveLength(3);
  });

  it('is forgotten when a user changes', async () => {
    const { access, checked, change } = accessWith({ kind: 'accepted', principal });
    await access.judge(basic('admin:x'), '::1');
    change();
    await access.judge(basic('admin:x'), '::1');
    expect(checked).toHaveLength(2);
  });
});

describe('a watch over access', () => {
  it.each<UserChange>([
    { kind: 'ended', username: 'admin' },
    { kind: 'rights', principal: { ...principal, isSuperuser: false } },
  ])('tells once when the user may have lost it: %j', (made) => {
    const { access, change } = accessWith({ kind: 'accepted', principal });
    const told: string[] = [];
    access.watch(basic('admin:x'), () => told.push('admin'));
    access.watch(basic('other:x'), () => told.push('other'));
    access.watch(null, () => told.push('nobody'));
    change(made);
    change(made);
    expect(told).toEqual(['admin']);
  });

  it('tells nothing of a change that leaves access, nor when it was stopped', () => {
    const { access, change } = accessWith({ kind: 'accepted', principal });
    const told: string[] = [];
    const stop = access.watch(basic('admin:x'), () => told.push('admin'));
    change({ kind: 'rights', principal });
    change({ kind: 'ended', username: 'other' });
    stop();
    change();
    expect(told).toEqual([]);
  });
});
