// Counting is exact; the log has at most one line a second for each kind, whatever clients do.

import { describe, expect, it } from 'vitest';
import type { LogFields, Logger } from '../model/logger.ts';
import { isLimitCode, LimitEvents } from './limit-events.ts';

function eventsAt(time: { now: number }): {
  readonly events: LimitEvents;
  readonly lines: [string, LogFields?][];
} {
  const lines: [string, LogFields?][] = [];
  const unwanted = (sentence: string) => {
    throw new Error(`Nothing but information was expected: ${sentence}`);
  };
  const info: Logger['info'] = (sentence, fields) =>
    void lines.push(fields === undefined ? [sentence] : [sentence, fields]);
  const logger = { error: unwanted, warn: unwanted, info, debug: unwanted };
  return { events: new LimitEvents(logger, { now: () => time.now, wallNow: () => 0 }), lines };
}

describe('limits that are reached', () => {
  it('are counted by kind, every one', () => {
    const { events } = eventsAt({ now: 0 });
    for (let count = 0; count < 1000; count += 1) events.reached('memory');
    events.reached('connections');
    expect(events.counts).toMatchObject({ memory: 1000, connections: 1, messageSize: 0 });
  });

  it('are told with one line a second, which says how many were left out', () => {
    const time = { now: 0 };
    const { events, lines } = eventsAt(time);
    for (; time.now <= 2000; time.now += 1) events.reached('memory', { connection: 7 });
    expect(lines.map(([, fields]) => fields)).toEqual([
      { connection: 7 },
      { connection: 7, suppressed: 999 },
      { connection: 7, suppressed: 999 },
    ]);
  });

  it('are told at once after a quiet second, and one kind does not silence another', () => {
    const time = { now: 0 };
    const { events, lines } = eventsAt(time);
    events.reached('memory');
    events.reached('connections');
    time.now = 1000;
    events.reached('memory');
    expect(lines.map(([, fields]) => fields)).toEqual([{}, {}, {}]);
  });

  it('are known by the codes of Errors; other codes are no limit', () => {
    const { events, lines } = eventsAt({ now: 0 });
    for (const code of ['QUEUE_FULL', 'MEMORY_LIMIT', 'QUEUE_NOT_FOUND', undefined])
      events.errorSent(code, {});
    expect(events.counts).toMatchObject({ fullQueues: 1, memory: 1 });
    expect(lines).toHaveLength(2);
  });

  it.each(['RATE_LIMITED', 'LIMIT_EXCEEDED'])(
    'are not known by %s, which more than one limit has',
    (code) => {
      const { events, lines } = eventsAt({ now: 0 });
      events.errorSent(code, {});
      expect(Object.values(events.counts).filter((count) => count > 0)).toEqual([]);
      expect(lines).toEqual([]);
      expect(isLimitCode(code)).toBe(true);
    },
  );
});
