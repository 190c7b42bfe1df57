// Clients cannot flood the log: one line a second for each sentence.

import { expect, it } from 'vitest';
import type { LogFields } from '../model/logger.ts';
import { throttledLogger } from './throttled-logger.ts';

function throttledAt(time: { now: number }) {
  const lines: [string, string, LogFields | undefined][] = [];
  const note = (level: string) => (sentence: string, fields?: LogFields) =>
    void lines.push([level, sentence, fields]);
  const logger = { error: note('error'), warn: note('warn'), info: note('info'), debug: note('debug') };
  return { lines, logger: throttledLogger(logger, { now: () => time.now, wallNow: () => 0 }) };
}

it('writes a sentence once a second, with the number of lines that were left out', () => {
  const time = { now: 0 };
  const { lines, logger } = throttledAt(time);
  for (; time.now < 2000; time.now += 1) logger.error('a command failed', { connection: time.now });
  expect(lines).toEqual([
    ['error', 'a command failed', { connection: 0 }],
    ['error', 'a command failed', { connection: 1000, suppressed: 999 }],
  ]);
});

it('writes other sentences beside it, at their levels', () => {
  const { lines, logger } = throttledAt({ now: 0 });
  logger.info('a');
  logger.info('a');
  logger.warn('b');
  expect(lines).toEqual([
    ['info', 'a', {}],
    ['warn', 'b', {}],
  ]);
});

it('writes every debug line', () => {
  const { lines, logger } = throttledAt({ now: 0 });
  for (const connection of [1, 2]) logger.debug('connection opened', { connection });
  expect(lines).toHaveLength(2);
});
