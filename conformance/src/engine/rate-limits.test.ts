// When a run assumes rate limits that the target file does not declare, and which results it discards then.
import { describe, expect, it } from 'vitest';
import type { CheckResult } from '../result.ts';
import type { Target } from '../target/target-file.ts';
import { sampleResult } from '../testing/sample-log.ts';
import { tinyTarget } from '../testing/tiny-target.ts';
import type { TraceEvent } from '../trace.ts';
import { RateLimits } from './rate-limits.ts';

const attached: Target = { schema: 1, name: 'broker', lifecycle: { kind: 'attach' } };

function event(kind: TraceEvent['kind'], more: Partial<TraceEvent> = {}): TraceEvent {
  return { atMs: 1, connection: 'A', kind, text: '', hex: '', byteCount: 0, ...more };
}

const opened = event('opened');
const received = event('received', { text: 'ConnectAck' });
const closed = event('closed');
const closedByRunner = event('closed', { byRunner: 'end' });

function result(outcome: CheckResult['outcome'], ...trace: readonly TraceEvent[]): CheckResult {
  return sampleResult('CONN-001a', outcome, { trace });
}

const silent = result('fail', opened, closed);
const refuses = () => Promise.resolve(true);
const accepts = () => Promise.resolve(false);

describe('the limits of a run whose target file declares none', () => {
  it.each([
    ['a failure with a connection that the broker ended without a byte', silent],
    [
      'such a connection beside others',
      result('fail', opened, received, event('closed', { connection: 'B' })),
    ],
    ['a pass with such a connection', result('pass', opened, closed)],
    ['a failure without any connection', result('fail')],
  ])('are assumed after %s, if the broker refuses connections', async (_title, seen) => {
    const limits = new RateLimits(attached);
    const { pacer } = limits;
    expect(await limits.discards(seen, pacer, accepts)).toBe(false);
    expect([limits.notes, limits.pacer === pacer]).toEqual([[], true]);
    expect(await limits.discards(seen, pacer, refuses)).toBe(true);
    expect(limits.notes).toHaveLength(1);
    expect(limits.target.limits).toEqual({ maxConnectionsPerIpPerWindow: 20, connectionWindowMs: 60_000 });
    expect(limits.pacer.reserve?.()).toBeUndefined();
  });

  it('are assumed after a failure with RATE_LIMITED, whatever the broker does with connections', async () => {
    const limits = new RateLimits(attached);
    const rateLimited = result(
      'fail',
      opened,
      event('received', { text: 'Error RATE_LIMITED' }),
      closedByRunner,
    );
    expect(await limits.discards(rateLimited, limits.pacer, accepts)).toBe(true);
    expect(limits.notes).toHaveLength(1);
  });

  it.each([
    ['a failure whose connections the broker answered', result('fail', opened, received, closed)],
    ['a failure whose connections the runner ended', result('fail', opened, closedByRunner)],
    ['a pass without a connection', result('pass', event('http'))],
    ['a check that did not run', result('could not run')],
  ])('are not assumed after %s', async (_title, seen) => {
    const limits = new RateLimits(attached);
    expect(await limits.discards(seen, limits.pacer, refuses)).toBe(false);
    expect([limits.notes, limits.target]).toEqual([[], attached]);
  });

  it('discard what failed of the checks that had begun before, and nothing of those that begin later', async () => {
    const limits = new RateLimits(attached);
    const before = limits.pacer;
    await before.turn();
    const both = [limits.discards(silent, before, refuses), limits.discards(silent, before, refuses)];
    expect(await Promise.all(both)).toEqual([true, true]);
    await expect(before.turn()).rejects.toThrow('rate limits');
    const failed = result('error', opened, received, closedByRunner);
    expect(await limits.discards(failed, before, accepts)).toBe(true);
    expect(await limits.discards(result('pass', opened, received, closed), before, accepts)).toBe(false);
    expect(await limits.discards(silent, limits.pacer, refuses)).toBe(false);
  });

  it('are told once, when they are assumed, with the window that the file declares', async () => {
    const notices: string[] = [];
    const limits = new RateLimits({ ...attached, limits: { connectionWindowMs: 2500 } }, (text) =>
      notices.push(text),
    );
    const { pacer } = limits;
    await Promise.all([limits.discards(silent, pacer, refuses), limits.discards(silent, pacer, refuses)]);
    expect(notices).toEqual(limits.notes);
    expect(notices.join()).toContain('20 connections in 2.5 s');
  });
});

it.each<readonly [string, Target]>([
  ['declares its limits', { ...attached, limits: { maxConnectionsPerIpPerWindow: 5 } }],
  ['gets its configuration from the runner', tinyTarget()],
  [
    'applies the rate limit of the runner',
    { ...attached, lifecycle: { kind: 'hooks', start: 'a', stop: 'b', honours: ['rateLimit'] } },
  ],
])('nothing is assumed of a target that %s', async (_title, target) => {
  const limits = new RateLimits(target);
  expect(await limits.discards(silent, limits.pacer, refuses)).toBe(false);
  expect([limits.notes, limits.target]).toEqual([[], target]);
});
