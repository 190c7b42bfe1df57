// The picture on the screen: its lines, and what is left of it on a small one.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codePoint } from '../../testing/code-point.ts';
import { livePoint, liveQueue, liveSnapshot } from '../../testing/fake-dashboard.ts';
import { runsOf } from '../../testing/property-runs.ts';
import { columns, tableLines } from './columns.ts';
import { frameOf, plainLines, type Screen } from './frame.ts';
import { type LiveTable, type QueueRow, tableOfSnapshot } from './live-table.ts';
import { widthOf } from './shown-text.ts';
import { firstView, type View } from './view.ts';

const url = 'http://127.0.0.1:12925/';
const wide: Screen = { width: 120, height: 14 };

const table = tableOfSnapshot(
  liveSnapshot(
    [
      liveQueue(1, 'orders'),
      liveQueue(2, 'bad\u001b[2J\n', { deliveryMode: 'FanOutWithAck' }),
      liveQueue(3, '注文キュー', { maxQueueSize: 9, overflowStrategy: 'BlockPublisher' }),
      liveQueue(4, 'orders.dlq'),
      liveQueue(5, 'quiet'),
    ],
    [
      [1, 50, 3, 1234, 5.5, 40_000, 2, 1, 0],
      [2, 40, 0, 0, 0, 99_000, 0, 0, 0],
      [3, 9, 0, 0, 0, 99_000, 1, 0, 0],
      [4, 2, 0, 0, 0, 99_000, 0, 0, 2],
    ],
  ),
);

function textsOf(
  shown: LiveTable,
  view: Partial<View> = {},
  screen = wide,
  lost?: { forMs: number; reason: string },
) {
  const chosen = { ...firstView('waiting'), ...view };
  return frameOf(shown, chosen, { url, lost }, screen).lines.map(({ text }) => text.trimEnd());
}

describe('a frame', () => {
  it('says how the broker is, and shows each queue with its figures and what is wrong with it', () => {
    expect(textsOf(table)).toEqual([
      'truemq 9.9.9  healthy  http://127.0.0.1:12925/',
      'connections 12  memory 32.0 MiB of 512 MiB  queues 5  waiting 30  in flight 3',
      'published 1234/s  delivered 5.5/s  errors 0/s  latency p50 1.3 ms, p99 80 ms',
      '',
      'QUEUE             MODE           WAITING  IN FLIGHT    IN/S   OUT/S  OLDEST  SUBS  NOTE',
      'orders            RoundRobin          50          3    1234     5.5   1m00s     2  not acknowledging',
      'bad\\x1b[2J\\n      FanOutWithAck       40          0       0       0      1s     0  no subscribers',
      '注文キュー        RoundRobin           9          0       0       0      1s     1  full (BlockPublisher)',
      'orders.dlq        RoundRobin           2          0       0       0      1s     0  dead letters: 2',
      'quiet             RoundRobin           0          0       0       0       -     0',
      '',
      '',
      '',
      'q quit  s sort  r reverse  / find  |  by waiting  |  1 to 5 of 5',
    ]);
  });

  it('says why the broker is not healthy, and since when there is no connection', () => {
    const health = { isHealthy: false, reasons: ['memory is short', 'the store\nfails'] };
    const sick = { ...table, health };
    expect(textsOf(sick)[0]).toBe(`truemq 9.9.9  not healthy: memory is short; the store\\nfails  ${url}`);
    const lost = { forMs: 12_900, reason: 'nobody listens' };
    expect(textsOf(sick, {}, wide, lost)[0]).toBe(
      `truemq 9.9.9  no connection for 12 s: nobody listens  ${url}`,
    );
    const styleOf = (shown: LiveTable) => frameOf(shown, firstView('name'), { url }, wide).lines[0]?.style;
    expect([styleOf(table), styleOf(sick)]).toEqual(['strong', 'alarm']);
  });

  it('has no figures before the first point', () => {
    expect(textsOf({ ...table, point: undefined }).slice(1, 3)).toEqual(['queues 5', 'no figures yet']);
  });

  it('drops columns from the right when it is narrow, and cuts what does not fit', () => {
    const heads = (width: number) => textsOf(table, {}, { width, height: 14 })[4]?.split(/ {2,}/);
    const all = columns.map(({ head }) => head);
    expect(heads(120)).toEqual(all);
    expect(heads(100)).toEqual(all);
    expect(heads(84)).toEqual(all.slice(0, 8));
    expect(heads(60)).toEqual(all.slice(0, 5));
    expect(heads(16)).toEqual(['QUEUE']);
    expect(textsOf(table, {}, { width: 11, height: 14 })[6]).toBe('bad\\x1b[2J~');
  });

  it('scrolls, and never beyond the last row', () => {
    const small = { width: 80, height: 8 };
    expect(textsOf(table, { offset: 1 }, small).at(-1)).toContain('2 to 3 of 5');
    const { view } = frameOf(table, { ...firstView('name'), offset: 99 }, { url }, small);
    expect(view.offset).toBe(3);
    expect(textsOf(table, { offset: 99 }, small).at(-1)).toContain('4 to 5 of 5');
  });

  it('shows the queues that the filter finds, and what is being typed', () => {
    const lines = textsOf(table, { filter: 'ORDERS' });
    expect(lines[5]).toMatch(/^orders /);
    expect(lines[6]).toMatch(/^orders[.]dlq/);
    expect(lines[7]).toBe('');
    expect(lines.at(-1)).toContain('1 to 2 of 2 with "ORDERS"');
    expect(textsOf(table, { filter: 'or', isTyping: true }).at(-1)).toMatch(
      /^queues whose name contains: or_/,
    );
    expect(textsOf(table, { filter: 'none' }).at(-1)).toContain('no queues');
  });

  it('fits every screen, whatever the queues are called', () => {
    const name = fc.string({ unit: codePoint });
    const size = fc.integer({ min: 1, max: 130 });
    fc.assert(
      fc.property(fc.array(name, { maxLength: 20 }), size, size, (names, width, height) => {
        const shown = tableOfSnapshot(
          liveSnapshot(
            names.map((one, id) => liveQueue(id, one)),
            [],
          ),
        );
        const { lines } = frameOf(shown, firstView('name'), { url }, { width, height });
        expect(lines.length).toBeLessThanOrEqual(height);
        for (const { text } of lines) {
          expect(widthOf(text)).toBeLessThanOrEqual(width);
          expect(text).not.toMatch(/[\p{Cc}\p{Cf}]/u);
        }
      }),
      { numRuns: runsOf(50) },
    );
  });

  it('is plain text with all queues for a pipe', () => {
    const point = livePoint();
    const many = Array.from({ length: 300 }, (_, id) => liveQueue(id, `queue-${id}${'x'.repeat(200)}`));
    const lines = plainLines({ ...tableOfSnapshot(liveSnapshot(many, [])), point }, firstView('name'), {
      url,
    });
    expect(lines).toHaveLength(305);
    expect(lines.at(-1)).toMatch(/^queue-9x{200} +RoundRobin/);
  });

  it('is plain text also with more queues than a function takes arguments', () => {
    const [row] = table.rows.values();
    const rows = Array.from({ length: 500_000 }, () => row as QueueRow);
    expect(tableLines(rows, 0, Number.POSITIVE_INFINITY)).toHaveLength(500_001);
  });
});
