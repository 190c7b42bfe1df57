// Which values are in force: what a check needs, then what it prefers and got, then what the target declares, then the defaults.
import { describe, expect, it } from 'vitest';
import type { Check } from '../check.ts';
import type { Target } from '../target/target-file.ts';
import { requestOf, targetFacts } from './target-facts.ts';

const check: Check = {
  id: 'RETRY-001a',
  title: 'sends again',
  clauses: ['RETRY-001'],
  profile: 'retry-dlq',
  evidence: {},
  prefers: { timing: { ackTimeoutMs: 500, retryDelayMs: 200 } },
  run: async () => {},
};
const needy: Check = { ...check, requires: { configuration: { timing: { retryDelayMs: 70 }, limits: {} } } };

const spawned: Target = { schema: 1, name: 'x', lifecycle: { kind: 'spawn', command: ['x'] } };
const hooks = { kind: 'hooks', start: 'a', stop: 'b' } as const;
const hooked: Target = {
  schema: 1,
  name: 'x',
  lifecycle: { ...hooks, honours: ['timing.retryDelayMs'] },
  timing: { ackTimeoutMs: 900 },
};
const attached: Target = {
  schema: 1,
  name: 'x',
  lifecycle: { kind: 'attach' },
  timing: { retryDelayMs: 900 },
};

describe('targetFacts', () => {
  it.each([
    ['a started broker has what is preferred', spawned, check, [], [500, 200]],
    ['what is needed goes before what is preferred', spawned, needy, [], [500, 70]],
    ['an attached one has what it declares', attached, check, [], [30_000, 900]],
    ['a hooked one has what it honours', hooked, check, [], [900, 200]],
    ['a hooked one that honours nothing', { ...hooked, lifecycle: hooks }, check, [], [900, 1000]],
    ['what an adapter cannot do stays the default', spawned, check, ['timing.ackTimeoutMs'], [30_000, 200]],
    ['also where it can do nothing of the kind', spawned, check, ['timing'], [30_000, 1000]],
  ] as const)('%s', (_title, target, of, unsupported, [ackTimeoutMs, retryDelayMs]) => {
    expect(targetFacts(target, of, unsupported)).toMatchObject({ ackTimeoutMs, retryDelayMs });
  });

  it.each([
    ['a started broker has the limit that is preferred', spawned, [], 4096],
    ['an adapter that cannot limit it keeps the default', spawned, ['limits.maxMessageSizeBytes'], 1_048_576],
    ['or any limit', spawned, ['limits'], 1_048_576],
    [
      'an attached one has what it declares',
      { ...attached, limits: { maxMessageSizeBytes: 9000 } },
      [],
      9000,
    ],
  ] as const)('%s', (_title, target, unsupported, maxMessageSizeBytes) => {
    const small: Check = { ...check, prefers: { limits: { maxMessageSizeBytes: 4096 } } };
    expect(targetFacts(target, small, unsupported)).toMatchObject({ maxMessageSizeBytes });
  });

  it('have the declared maximum of the retry delay, else that of the protocol', () => {
    const declaring = { ...attached, timing: { maxRetryDelayMs: 700 } };
    const [declared, usual] = [targetFacts(declaring, check), targetFacts(attached, check)];
    expect([declared.maxRetryDelayMs, usual.maxRetryDelayMs]).toEqual([700, 120_000]);
  });
});

describe('the rate of publishes', () => {
  it.each<[Target['limits'], number | undefined]>([
    [undefined, undefined],
    [{ maxMessagesPerClientPerSecond: 700 }, 700],
    [{ maxConnectionsPerIpPerWindow: 20 }, 1000],
    [{ maxConnectionsPerIpPerWindow: 20, maxMessagesPerClientPerSecond: 700 }, 700],
  ])('of a broker with the limits %j is %s', (limits, rate) => {
    const declaring: Target = { ...attached, ...(limits === undefined ? {} : { limits }) };
    expect(targetFacts(declaring, check).publishesPerSecond).toBe(rate);
    expect(targetFacts({ ...spawned, ...(limits && { limits }) }, check).publishesPerSecond).toBeUndefined();
  });
});

describe('requestOf', () => {
  it('joins what is needed and what is preferred', () => {
    const { lifecycle } = spawned;
    expect(requestOf(needy, lifecycle)).toEqual({
      timing: { ackTimeoutMs: 500, retryDelayMs: 70 },
      limits: {},
    });
    expect(requestOf({ ...check, prefers: {} }, lifecycle)).toEqual({});
  });

  it('asks hooks for what they honour only', () => {
    expect(requestOf(check, hooked.lifecycle)).toEqual({ timing: { retryDelayMs: 200 } });
    expect(requestOf(check, hooks)).toEqual({});
  });

  it('lets null count, which switches off', () => {
    const off: Check = {
      ...check,
      prefers: { rateLimit: {} },
      requires: { configuration: { rateLimit: null } },
    };
    expect(requestOf(off, spawned.lifecycle)).toEqual({ rateLimit: null });
  });
});
