// User names, passwords and patterns at their limits.

import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { codePoint } from '../testing/code-point.ts';
import {
  isPassword,
  isQueuePattern,
  isUserName,
  MAX_PASSWORD_BYTES,
  MAX_PATTERN_LENGTH,
  MAX_USER_NAME_LENGTH,
} from './credential-rules.ts';
import { isQueueName } from './queue-name.ts';

type Row = { readonly name: string; readonly default: unknown };

describe('the limits', () => {
  it('are those of spec/tables/limits.yaml [AUTH-051, AUTH-053]', () => {
    const file = new URL('../../spec/tables/limits.yaml', import.meta.url);
    const { protocol }: { protocol: readonly Row[] } = parse(readFileSync(file, 'utf8'));
    const limit = (wanted: string) => protocol.find(({ name }) => name === wanted)?.default;
    expect(limit('maxUserNameLength')).toBe(MAX_USER_NAME_LENGTH);
    expect(limit('maxPasswordBytes')).toBe(MAX_PASSWORD_BYTES);
    expect(limit('maxPatternLength')).toBe(MAX_PATTERN_LENGTH);
  });
});

describe('a user name', () => {
  it.each(['a', 'vibemq', 'Ünï-1_2.3', '日本', '٣', 'a'.repeat(64), 'ж'.repeat(64)])(
    'is %j [AUTH-053]',
    (name) => {
      expect(isUserName(name)).toBe(true);
    },
  );

  it.each(['', ' ', 'a b', 'a@b', 'a/b', 'a\0', '*', 'a'.repeat(65), '\ud800'])(
    'is not %j [AUTH-053]',
    (name) => {
      expect(isUserName(name)).toBe(false);
    },
  );

  it('is every queue name of at most 64 units, and nothing else [AUTH-053]', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 70 });
    fc.assert(fc.property(text, (name) => isUserName(name) === (isQueueName(name) && name.length <= 64)));
  });
});

describe('a password', () => {
  it.each([1, 71, 72])('may have %d bytes, of whatever characters [AUTH-051]', (count) => {
    expect(isPassword('x'.repeat(count))).toBe(true);
    expect(isPassword(`${'x'.repeat(count - 1)} `)).toBe(true);
    expect(isPassword('\0'.repeat(count))).toBe(true);
  });

  it('is counted in bytes of UTF-8 [AUTH-051, AUTH-052]', () => {
    expect(isPassword('é'.repeat(36))).toBe(true);
    expect(isPassword(`${'é'.repeat(36)}x`)).toBe(false);
    expect(isPassword('😀'.repeat(18))).toBe(true);
    expect(isPassword('😀'.repeat(19))).toBe(false);
    fc.assert(
      fc.property(fc.string({ unit: codePoint, minLength: 1, maxLength: 80 }), (text) => {
        return isPassword(text) === Buffer.byteLength(text) <= 72;
      }),
    );
  });

  it.each(['', 'x'.repeat(73), 'a\ud800', '\udc00'])('is not %j [AUTH-052]', (text) => {
    expect(isPassword(text)).toBe(false);
  });
});

describe('a pattern', () => {
  it.each(['*', 'orders.*', 'a?b', '[a]+', 'with space', 'x'.repeat(256)])('may be %j', (pattern) => {
    expect(isQueuePattern(pattern)).toBe(true);
  });

  it.each(['', 'x'.repeat(257), '\ud800*'])('is not %j', (pattern) => {
    expect(isQueuePattern(pattern)).toBe(false);
  });
});
