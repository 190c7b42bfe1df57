// Names, flags and negotiation of compression.

import { describe, expect, it } from 'vitest';
import { type Algorithm, algorithmOf, flagsOf, negotiate } from './compression.ts';

const both: readonly Algorithm[] = ['brotli', 'gzip'];

describe('negotiate', () => {
  it.each([
    ['the first of the list [COMPRESS-009]', 'brotli,gzip', both, 'brotli'],
    ['by the list, not by what the broker prefers [COMPRESS-009]', 'gzip,brotli', both, 'gzip'],
    ['past what the broker lacks [COMPRESS-009]', 'brotli,gzip', ['gzip'], 'gzip'],
    ['in any case [COMPRESS-012]', 'BROTLI', both, 'brotli'],
    ['with spaces around names', ' gzip , brotli', both, 'gzip'],
    ['past unknown and empty names [COMPRESS-013]', 'zstd,,lz4,gzip', both, 'gzip'],
    ['nothing for no list [COMPRESS-010]', undefined, both, undefined],
    ['nothing for an empty list [COMPRESS-010]', '', both, undefined],
    ['nothing when no name is known [COMPRESS-011]', 'zstd,deflate', both, undefined],
    ['nothing when the broker has none [COMPRESS-011]', 'brotli,gzip', [], undefined],
  ] as const)('agrees on %s', (_name, offered, supported, expected) => {
    expect(negotiate(offered, supported)).toBe(expected);
  });
});

describe('flags', () => {
  it('name the algorithms and nothing else [COMPRESS-002, COMPRESS-003]', () => {
    expect([0, 1, 2].map(algorithmOf)).toEqual([undefined, 'gzip', 'brotli']);
    expect([undefined, 'gzip', 'brotli'].map((name) => flagsOf(name as Algorithm | undefined))).toEqual([
      0, 1, 2,
    ]);
  });
});
