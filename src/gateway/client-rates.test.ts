// How much a client may publish at once, how many refusals it may have in a second, and for how long it waits then.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { Command } from '../protocol/command.ts';
import { ClientRates, wastedMs } from './client-rates.ts';

function clientWith(maxPerSecond: number) {
  const clock = { ms: 0 };
  const rates = new ClientRates(maxPerSecond, { now: () => clock.ms });
  /** What each of so many refusals at this time says. */
  const refused = (count: number, now: number) => {
    clock.ms = now;
    return Array.from({ length: count }, () => rates.refused());
  };
  /** With which of so many messages at this time, counted from 1, the client is held back first; 0: with none. */
  const heldBackWith = (
    count: number,
    now: number,
    { command = Command.Publish as number, bytes = 0 } = {},
  ) => {
    clock.ms = now;
    const held: number[] = [];
    for (let number = 1; number <= count; number += 1)
      rates.admit({ command, id: '', payloadLength: bytes }, { holdBack: () => void held.push(number) });
    return held[0] ?? 0;
  };
  const delivered = (count: number) => {
    for (let left = count; left > 0; left -= 1) rates.delivered();
  };
  return { refused, heldBackWith, delivered };
}

describe('what a client publishes at once', () => {
  it('is read in pieces of 16, each in a millisecond of its own [LIMIT-027]', () => {
    const { heldBackWith } = clientWith(1000);
    expect(heldBackWith(15, 0.5)).toBe(0);
    expect(heldBackWith(2, 1.4)).toBe(1);
    expect(heldBackWith(17, 1.5)).toBe(16);
  });

  it('is read in smaller pieces if it has large payloads [LIMIT-027]', () => {
    expect(clientWith(1000).heldBackWith(40, 0, { bytes: 2047 })).toBe(9);
    expect(clientWith(1000).heldBackWith(40, 0, { bytes: 2048 })).toBe(8);
  });

  it('is read in pieces of twice its rate, if that is more [LIMIT-027]', () => {
    expect(clientWith(8000).heldBackWith(40, 0)).toBe(16);
    expect(clientWith(8001).heldBackWith(40, 0)).toBe(17);
    expect(clientWith(1001).heldBackWith(40, 0, { bytes: 1_000_000 })).toBe(3);
  });

  it('counts also where it is refused, and other commands do not [LIMIT-027]', () => {
    const { heldBackWith } = clientWith(1);
    expect(heldBackWith(100, 0, { command: Command.Ping })).toBe(0);
    expect(heldBackWith(16, 0)).toBe(16);
  });
});

describe('what a client acknowledges', () => {
  const acks = { command: Command.Ack };

  it('is read without a break if it was sent as many messages [LIMIT-030]', () => {
    const { heldBackWith, delivered } = clientWith(1000);
    delivered(100);
    expect(heldBackWith(60, 0, acks)).toBe(0);
    expect(heldBackWith(40, 0, acks)).toBe(0);
  });

  it('is read in pieces of 16 beyond that, each in a millisecond of its own [LIMIT-030]', () => {
    const { heldBackWith, delivered } = clientWith(1000);
    delivered(10);
    expect(heldBackWith(25, 0, acks)).toBe(0);
    expect(heldBackWith(1, 0, acks)).toBe(1);
    expect(heldBackWith(17, 1, acks)).toBe(16);
  });

  it('is read without a break again when it was sent something [LIMIT-030]', () => {
    const { heldBackWith, delivered } = clientWith(1000);
    expect(heldBackWith(16, 0, acks)).toBe(16);
    delivered(20);
    expect(heldBackWith(20, 0, acks)).toBe(0);
    expect(heldBackWith(1, 0, acks)).toBe(1);
  });

  it('shares its pieces with what it publishes [LIMIT-027] [LIMIT-030]', () => {
    const { heldBackWith } = clientWith(1000);
    expect(heldBackWith(10, 0, acks)).toBe(0);
    expect(heldBackWith(10, 0)).toBe(6);
  });
});

describe('the refusals of a client', () => {
  it('make it wait with the last one that it may have in a second, and none before [LIMIT-026]', () => {
    const { refused } = clientWith(5);
    expect(refused(999, 0)).toEqual(Array(999).fill(0));
    expect(refused(1, 250)).toEqual([750]);
  });

  it('may be as many as it may publish, if these are more than 1,000 [LIMIT-026]', () => {
    const { refused } = clientWith(1001);
    expect(refused(1000, 0)).toEqual(Array(1000).fill(0));
    expect(refused(1, 0)).toEqual([1000]);
  });

  it('make it wait once, however many commands were read before [LIMIT-026]', () => {
    const { refused } = clientWith(5);
    refused(1000, 0);
    expect(refused(300, 1)).toEqual(Array(300).fill(0));
    expect(refused(1000, 1000)).toEqual([...Array(999).fill(0), 1000]);
  });

  it('make it wait for whole milliseconds, and not too short [LIMIT-026]', () => {
    const { refused } = clientWith(5);
    refused(999, 0.5);
    expect(refused(1, 10.75)).toEqual([990]);
  });

  it('are forgotten after a second [LIMIT-026]', () => {
    const { refused } = clientWith(5);
    refused(999, 0);
    expect(refused(999, 1000)).toEqual(Array(999).fill(0));
  });
});

it('what was decompressed for nothing makes its client wait a millisecond for each 32 KiB [LIMIT-028]', () => {
  expect([0, 32_767, 32_768, 1_048_576].map(wastedMs)).toEqual([0, 0, 1, 32]);
});

it('has the limits of spec/tables/limits.yaml [LIMIT-026] [LIMIT-027] [LIMIT-028]', () => {
  const file = new URL('../../spec/tables/limits.yaml', import.meta.url);
  const groups: Record<string, { name: string; default?: number }[]> = parse(readFileSync(file, 'utf8'));
  const limit = (name: string) =>
    Object.values(groups)
      .flat()
      .find((row) => row.name === name)?.default ?? 0;
  expect(clientWith(1).heldBackWith(100, 0)).toBe(limit('burstPerMillisecond'));
  expect(clientWith(1).refused(2000, 0).indexOf(1000) + 1).toBe(limit('minRefusalsPerSecond'));
  expect([-1, 0].map((more) => wastedMs(limit('refusedBytesPerMillisecond') + more))).toEqual([0, 1]);
});
