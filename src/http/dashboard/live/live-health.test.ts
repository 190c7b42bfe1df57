// Health in words. Proves the rule of HEALTH-004, HEALTH-005 and HEALTH-011 for the live stream.

import { expect, it } from 'vitest';
import { liveHealth } from './live-health.ts';

const MIB = 1024 * 1024;
const memory = {
  residentBytes: 52 * MIB,
  residentLimitBytes: 512 * MIB,
  heapUsedBytes: 10 * MIB,
  heapLimitBytes: 4096 * MIB,
};

it('is healthy without reasons', () => {
  expect(liveHealth(memory, { ready: true })).toEqual({ isHealthy: true, reasons: [] });
});

it.each([
  [{ residentBytes: 479 * MIB }, 'Memory is at 93 percent of its limit of 512 MiB.'],
  [{ heapUsedBytes: 3900 * MIB }, 'The heap is at 95 percent of its limit of 4096 MiB.'],
])('names the limit that is near: %j', (used, reason) => {
  expect(liveHealth({ ...memory, ...used }, { ready: true })).toEqual({
    isHealthy: false,
    reasons: [reason],
  });
});

it('says why the broker does not serve, as a sentence', () => {
  const reasonsOf = (reason: string) => liveHealth(memory, { ready: false, reason }).reasons;
  expect(reasonsOf('The broker is shutting down.')).toEqual(['The broker is shutting down.']);
  expect(reasonsOf('recovering from the store')).toEqual([
    'The broker does not serve: recovering from the store.',
  ]);
});
