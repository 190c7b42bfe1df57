// Which checks cannot run for want of room in the declared configuration of a broker that the runner does not configure.
import { describe, expect, it } from 'vitest';
import type { Capability, Profile } from '../catalogue-words.ts';
import { capabilities } from '../catalogue-words.ts';
import type { Check } from '../check.ts';
import { checks } from '../checks/index.ts';
import type { ConfigurationRequest } from '../configuration.ts';
import type { Target } from '../target/target-file.ts';
import { tinyCheck, tinyTarget } from '../testing/tiny-target.ts';
import { applicabilityOf, hasRoomForSeveral } from './applicability.ts';

function attached(declared: Pick<Target, 'limits' | 'timing'>): Target {
  const endpoints = { tcp: { host: '127.0.0.1', port: 1 } };
  return { schema: 1, name: 'attached', lifecycle: { kind: 'attach' }, endpoints, ...declared };
}

const judged = (more: Partial<Check>, target: Target, claimed: readonly Profile[] = []) =>
  applicabilityOf(
    tinyCheck('CONN-001a', async () => {}, more),
    'MUST',
    target,
    new Set(claimed),
  );

it('a check that is about a second profile is not applicable to a broker that does not claim it', () => {
  const both: Partial<Check> = { profile: 'durable', requires: { profiles: ['dashboard'] } };
  const reason = 'the target does not claim the profile dashboard';
  expect(judged(both, tinyTarget(), ['durable'])).toEqual({ kind: 'not applicable', reason });
  expect(judged(both, tinyTarget(), ['durable', 'dashboard'])).toEqual({ kind: 'run' });
});

it('a check that needs a broker of its own could not run on an attached one, unless it may share that', () => {
  const reason = 'it needs a broker of its own, and this target is attached';
  expect(judged({ isolation: 'fresh' }, attached({}))).toEqual({ kind: 'could not run', reason });
  expect(judged({ isolation: 'fresh', sharesAttached: true }, attached({}))).toEqual({ kind: 'run' });
});

it.each(['core', 'delivery'] as const)(
  'every check of %s can run on an attached broker with its defaults',
  (profile) => {
    const target: Target = { ...attached({}), capabilities: Object.keys(capabilities) as Capability[] };
    const kept = checks.filter((check) => check.profile === profile);
    const left = kept.filter(
      (check) => applicabilityOf(check, 'MAY', target, new Set([profile])).kind === 'could not run',
    );
    expect(kept.length).toBeGreaterThan(50);
    expect(left.map(({ id }) => id)).toEqual([]);
  },
);

describe('a declared setting', () => {
  it.each([
    [{ limits: { maxConnections: 63 } }, 'limits.maxConnections of 64'],
    [{ limits: { maxQueues: 255 } }, 'limits.maxQueues of 256'],
    [{ limits: { maxSubscriptionsPerConnection: 7 } }, 'limits.maxSubscriptionsPerConnection of 8'],
    [{ limits: { maxBlockedPublishes: 15 } }, 'limits.maxBlockedPublishes of 16'],
    [{ limits: { maxQueuedBytes: 33_554_431 } }, 'limits.maxQueuedBytes of 33554432'],
    [{ limits: { maxMessagesPerClientPerSecond: 499 } }, 'limits.maxMessagesPerClientPerSecond of 500'],
    [{ timing: { idleTimeoutMs: 29_999 } }, 'timing.idleTimeoutMs of 30000'],
  ])('that leaves too little room is why a check could not run: %j', (declared, least) => {
    const reason = expect.stringContaining(`it needs ${least} or more, and the target declares`);
    expect(judged({}, attached(declared))).toEqual({ kind: 'could not run', reason });
  });

  it('that is just enough is enough, but not for many messages', () => {
    const target = attached({ limits: { maxConnections: 64, maxSubscriptionsPerConnection: 8 } });
    expect(judged({}, target)).toEqual({ kind: 'run' });
    expect(judged({ volume: true }, target)).toMatchObject({ reason: expect.stringContaining('of 128') });
    const slower = attached({ limits: { maxMessagesPerClientPerSecond: 999 } });
    expect(judged({}, slower)).toEqual({ kind: 'run' });
    expect(judged({ volume: true }, slower)).toMatchObject({ reason: expect.stringContaining('of 1000') });
  });

  it('is none of the broker where hooks switch its rate limits off', () => {
    const target = attached({ limits: { maxMessagesPerClientPerSecond: 1 } });
    const hooks = { kind: 'hooks', start: 'start', stop: 'stop' } as const;
    expect(judged({}, { ...target, lifecycle: hooks })).toMatchObject({ kind: 'could not run' });
    const lifecycle = { ...hooks, honours: ['rateLimit'] };
    expect(judged({ volume: true }, { ...target, lifecycle })).toEqual({ kind: 'run' });
  });

  it('may be small for a check that asks for it', () => {
    const configuration: ConfigurationRequest = { limits: { maxQueues: 3 } };
    expect(judged({ requires: { configuration } }, attached(configuration))).toEqual({ kind: 'run' });
  });

  it('does not count for a broker that the runner configures', () => {
    expect(judged({}, { ...tinyTarget(), limits: { maxConnections: 1 } })).toEqual({ kind: 'run' });
  });
});

describe('checks run at the same time', () => {
  it.each([
    [{}, true],
    [{ maxConnections: 512, maxQueues: 1024 }, true],
    [{ maxConnections: 511 }, false],
    [{ maxQueues: 1023 }, false],
  ])('if an attached broker has room for several: %j', (limits, expected) => {
    expect(hasRoomForSeveral(attached({ limits }))).toBe(expected);
  });

  it('whatever is declared for a broker that the runner configures', () => {
    expect(hasRoomForSeveral({ ...tinyTarget(), limits: { maxConnections: 1 } })).toBe(true);
  });
});
