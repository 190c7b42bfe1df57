// The delays before attempts to reconnect, as a table.

import { describe, expect, it } from 'vitest';
import { reconnectDelayMs, toReconnectSettings } from './reconnect-schedule.ts';

const delays = (options: Parameters<typeof toReconnectSettings>[0], count: number, random = 0) =>
  Array.from({ length: count }, (_, index) =>
    reconnectDelayMs(toReconnectSettings(options), index + 1, random),
  );

describe('the reconnect schedule', () => {
  it('doubles the delay up to the maximum [CLIENT-011]', () => {
    expect(delays({ initialDelayMs: 100, maxDelayMs: 1_000 }, 6)).toEqual([100, 200, 400, 800, 1_000, 1_000]);
  });

  it('is 1 s, doubled to 5 min, 2,147,483,647 times by default [CLIENT-012]', () => {
    expect(toReconnectSettings({})).toEqual({
      maxAttempts: 2_147_483_647,
      initialDelayMs: 1_000,
      maxDelayMs: 300_000,
      exponentialBackoff: true,
      jitter: false,
    });
    expect(delays({}, 10).map((delayMs) => delayMs / 1_000)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300]);
  });

  it('stays at the maximum after very many attempts [CLIENT-011]', () => {
    expect(reconnectDelayMs(toReconnectSettings({}), 2_147_483_647, 0)).toBe(300_000);
  });

  it('of 0 stays 0 after very many attempts [CLIENT-011]', () => {
    expect(reconnectDelayMs(toReconnectSettings({ initialDelayMs: 0 }), 1_025, 0)).toBe(0);
  });

  it('is always the initial delay without backoff [CLIENT-013]', () => {
    expect(delays({ exponentialBackoff: false, initialDelayMs: 700 }, 4)).toEqual([700, 700, 700, 700]);
  });

  it('is shortened by at most half with jitter, and not at all without', () => {
    expect(delays({ jitter: true }, 2, 0)).toEqual([1_000, 2_000]);
    expect(delays({ jitter: true }, 2, 0.5)).toEqual([750, 1_500]);
    expect(delays({}, 2, 0.5)).toEqual([1_000, 2_000]);
  });

  it.each([[{ maxAttempts: -1 }], [{ initialDelayMs: Number.NaN }], [{ maxDelayMs: 2 ** 31 }]])(
    'refuses %j',
    (options) => {
      expect(() => toReconnectSettings(options)).toThrow(RangeError);
    },
  );
});
