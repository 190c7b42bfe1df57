// What a check of a password costs, and how many run. The costs are counted, not measured.

import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { hashOf, InstantHashing, settle } from '../testing/instant-hashing.ts';
import { costOf, decoyHash } from './bcrypt-hash.ts';
import { MAX_WAITING_PASSWORD_CHECKS, PasswordChecks } from './password-checks.ts';

const cancelled = new AbortController().signal;
// Of all checks of these tests; every connection of a broker has its own.
setMaxListeners(0, cancelled);

function newChecks({ refusalCost = 12, maxParallelChecks = 1 } = {}) {
  const hashing = new InstantHashing();
  const checks = new PasswordChecks({ hashing, cost: 12, refusalCost, maxParallelChecks });
  const verify = (password: string, hash: string | undefined, address = '192.0.2.1') =>
    checks.verify({ password, hash, address, cancelled });
  /** The work of all checks so far, in rounds of bcrypt. */
  const rounds = () =>
    hashing.calls.reduce((sum, call) => sum + 2 ** Number(call.slice('verify '.length)), 0);
  return { hashing, checks, verify, rounds };
}

describe('a check', () => {
  it('tells the right password from any other', async () => {
    const { verify } = newChecks();
    expect(await verify('right', hashOf('right', 12))).toBe('right');
    expect(await verify('Right', hashOf('right', 12))).toBe('wrong');
  });

  it.each([
    ['an unknown user', 'guess', undefined],
    ['a wrong password', 'guess', hashOf('right', 12)],
    ['a wrong password with a hash of a lower cost', 'guess', hashOf('right', 9)],
    ['a wrong password with a hash of the lowest cost', 'guess', hashOf('right', 4)],
    ['a wrong password with the highest cost', 'guess', hashOf('right', 13)],
    ['no password', '', hashOf('right', 12)],
    ['a long password', 'x'.repeat(73), hashOf('right', 12)],
    ['a long password of an unknown user', 'x'.repeat(73), undefined],
    ['half a surrogate pair', '\ud800', hashOf('right', 12)],
    ['a stored text that is no hash', 'guess', 'plain text'],
    ['a stored hash that would take minutes', 'guess', hashOf('right', 20)],
  ])('that refuses %s takes as many rounds as any refusal [AUTH-011]', async (_, password, hash) => {
    const { verify, rounds } = newChecks({ refusalCost: 13 });
    expect(await verify(password, hash)).toBe('wrong');
    expect(rounds()).toBe(2 ** 13);
  });

  it('never hashes what no user can have, even if a stored hash fits it [AUTH-052]', async () => {
    const { verify } = newChecks();
    for (const password of ['', 'x'.repeat(73)]) {
      expect(await verify(password, hashOf(password, 12))).toBe('wrong');
    }
  });

  it('of the right password takes what its hash costs', async () => {
    const { verify, rounds } = newChecks();
    expect(await verify('right', hashOf('right', 9))).toBe('right');
    expect(rounds()).toBe(2 ** 9);
  });
});

describe('the checks of a broker', () => {
  it('let as many wait as spec/tables/limits.yaml says [AUTH-013]', () => {
    const file = new URL('../../spec/tables/limits.yaml', import.meta.url);
    const { protocol } = parse(readFileSync(file, 'utf8')) as {
      protocol: readonly { readonly name: string; readonly default: unknown }[];
    };
    const row = protocol.find(({ name }) => name === 'maxWaitingPasswordChecks');
    expect(row?.default).toBe(MAX_WAITING_PASSWORD_CHECKS);
  });

  it('run in parallel, 32 more wait, and the next one is not made [AUTH-013, AUTH-015]', async () => {
    const { hashing, verify } = newChecks({ maxParallelChecks: 3 });
    hashing.isHeld = true;
    const outcomes: string[] = [];
    for (let count = 1; count <= 3 + 32; count += 1) {
      void verify('guess', undefined, `192.0.2.${count}`).then((outcome) => outcomes.push(outcome));
    }
    await settle();
    expect(hashing.calls).toHaveLength(3);
    expect(await verify('guess', undefined)).toBe('busy');
    hashing.release();
    await settle();
    expect(outcomes).toEqual(['wrong']);
    expect(hashing.calls).toHaveLength(4);
  });

  it('take waiting checks and hashes from the addresses in turn, a /64 of IPv6 as one [AUTH-014]', async () => {
    const { hashing, checks, verify } = newChecks();
    hashing.isHeld = true;
    const ended: string[] = [];
    const start = (name: string, check: Promise<unknown>) => void check.then(() => ended.push(name));
    start('first', verify('guess', undefined, '192.0.2.9'));
    start('a1', verify('guess', undefined, '2001:db8::1'));
    start('a2', verify('guess', undefined, '2001:db8::2'));
    start('a3', checks.hash('new', '2001:db8::3'));
    start('b1', checks.hash('new', '::ffff:192.0.2.1'));
    start('b2', verify('guess', undefined, '192.0.2.1'));
    for (let count = 0; count < 6; count += 1) {
      await settle();
      hashing.release();
    }
    await settle();
    expect(ended).toEqual(['first', 'a1', 'b1', 'a2', 'b2', 'a3']);
  });

  it('drop a check whose connection has ended', async () => {
    const { hashing, checks, verify } = newChecks();
    hashing.isHeld = true;
    void verify('guess', undefined);
    const connection = new AbortController();
    const check = { password: 'guess', hash: undefined, address: '192.0.2.1', cancelled: connection.signal };
    const outcome = checks.verify(check);
    connection.abort();
    expect(await outcome).toBe('cancelled');
    hashing.release();
    await settle();
    expect(hashing.calls).toHaveLength(1);
  });

  it('hash new passwords with the configured cost, and not when too many wait [AUTH-055]', async () => {
    const { hashing, checks } = newChecks({ refusalCost: 13 });
    expect(await checks.hash('new', '192.0.2.1')).toBe(hashOf('new', 12));
    hashing.isHeld = true;
    for (let count = 0; count < 33; count += 1) void checks.hash('new', '192.0.2.1');
    expect(await checks.hash('new', '192.0.2.1')).toBeUndefined();
  });
});

describe('the text of a hash', () => {
  it.each([
    [decoyHash(4), 4],
    [decoyHash(12), 12],
    [decoyHash(15), 15],
    [decoyHash(16), undefined],
    [decoyHash(3), undefined],
    [decoyHash(12).replace('$2b$', '$2a$'), 12],
    [decoyHash(12).replace('$2b$', '$2y$'), 12],
    [decoyHash(12).replace('$2b$', '$2x$'), undefined],
    [`${decoyHash(12)}.`, undefined],
    ['', undefined],
  ])('%j has the cost %s', (hash, cost) => {
    expect(costOf(hash)).toBe(cost);
  });
});
