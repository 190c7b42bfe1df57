// The log writer: levels, both formats, and escaping, so that no value can forge a line.

import { describe, expect, it } from 'vitest';
import { createLogger, type LoggerOptions } from './logger.ts';

function logged(options: Pick<LoggerOptions, 'level' | 'format'>): {
  lines: string[];
  log: ReturnType<typeof createLogger>;
} {
  const lines: string[] = [];
  const wallNow = () => Date.UTC(2026, 1, 18, 10, 30, 0, 123);
  return { lines, log: createLogger({ ...options, write: (line) => lines.push(line), wallNow }) };
}

describe('the logger', () => {
  it('writes its level and what is more important', () => {
    const { lines, log } = logged({ level: 'warn', format: 'pretty' });
    log.error('one');
    log.warn('two');
    log.info('three');
    log.debug('four');
    expect(lines).toEqual(['10:30:00.123 error one\n', '10:30:00.123 warn  two\n']);
  });

  it('writes JSON for programs', () => {
    const { lines, log } = logged({ level: 'debug', format: 'json' });
    log.debug('client connected', { connection: 7, address: '::1', reason: undefined });
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        time: '2026-02-18T10:30:00.123Z',
        level: 'debug',
        message: 'client connected',
        connection: 7,
        address: '::1',
      },
    ]);
  });

  it('writes fields for people, quoted where they need it', () => {
    const { lines, log } = logged({ level: 'info', format: 'pretty' });
    log.info('started', { host: '127.0.0.1', count: 3, ok: true, why: 'two words', none: undefined });
    expect(lines).toEqual(['10:30:00.123 info  started host=127.0.0.1 count=3 ok=true why="two words"\n']);
  });

  it.each(['pretty', 'json'] as const)('keeps an entry on one line (%s)', (format) => {
    const { lines, log } = logged({ level: 'info', format });
    log.warn('a\nb\u001b[31m', { field: 'c\nd', other: '\u001b' });
    expect(lines).toHaveLength(1);
    expect(lines[0]?.slice(0, -1)).not.toMatch(/\p{Cc}/u);
  });

  it.each(['pretty', 'json'] as const)(
    'escapes what JSON leaves as it is and a terminal may obey (%s)',
    (format) => {
      const { lines, log } = logged({ level: 'info', format });
      const text = 'a\u009b31m\u007f\u0085b\u202e\u2028\u{e0001}c';
      log.warn(text, { program: text });
      const escaped = 'a\\u009b31m\\u007f\\u0085b\\u202e\\u2028\\udb40\\udc01c';
      expect(lines[0]?.split(escaped)).toHaveLength(3);
      if (format === 'json')
        expect(JSON.parse(lines[0] ?? '')).toMatchObject({ message: text, program: text });
    },
  );
});
