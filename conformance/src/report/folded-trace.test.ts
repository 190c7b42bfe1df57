// Folding of polls in a trace: exchanges that repeat are one row, everything else stays as it is.
import { describe, expect, it } from 'vitest';
import type { TraceEvent } from '../trace.ts';
import { eventCountOf, foldedTrace, pollsText, shownRows, shownText } from './folded-trace.ts';

let nowMs = 0;

function event(kind: TraceEvent['kind'], text: string, connection = 'A'): TraceEvent {
  nowMs += 1;
  return { atMs: nowMs, connection, kind, text, hex: '', byteCount: 0 };
}

function polls(count: number, answer = 'QueueInfoAck id=# payload={"n":0}'): readonly TraceEvent[] {
  return Array.from({ length: count }, (_, index) => [
    event('sent', `QueueInfo id=c-${index} queue=q`),
    event('received', answer.replace('#', `c-${index}`)),
  ]).flat();
}

const kindsOf = (events: readonly TraceEvent[]): readonly string[] =>
  foldedTrace(events).map((row) => (row.kind === 'polls' ? `${row.count} polls` : row.event.text));

describe('a folded trace', () => {
  it('has one row for a run of polls with the same answer', () => {
    nowMs = 0;
    const trace = [event('opened', 'connected'), ...polls(12), event('closed', 'the check ended')];
    expect(kindsOf(trace)).toEqual(['connected', '12 polls', 'the check ended']);
    const row = foldedTrace(trace)[1];
    if (row?.kind !== 'polls') throw new Error('there are no polls');
    expect(pollsText(row)).toBe(
      '12 times until 25.0 ms: QueueInfo id=c-0 queue=q, answered by QueueInfoAck id=c-0 payload={"n":0}',
    );
    expect(foldedTrace(trace).reduce((sum, one) => sum + eventCountOf(one), 0)).toBe(trace.length);
  });

  it('folds requests over HTTP with the same status, but for the last one, whose body may tell', () => {
    const exchanges = (count: number, status: number): readonly TraceEvent[] =>
      Array.from({ length: count }, () => [
        event('http', '> GET /metrics/', 'http'),
        event('http', `< ${status} to GET /metrics/`, 'http'),
      ]).flat();
    const last = ['> GET /metrics/', '< 200 to GET /metrics/'];
    expect(kindsOf(exchanges(5, 200))).toEqual(['4 polls', ...last]);
    expect(kindsOf([...exchanges(4, 503), ...exchanges(4, 200)])).toEqual([
      '3 polls',
      ...['> GET /metrics/', '< 503 to GET /metrics/'],
      ...['3 polls', ...last],
    ]);
    const posts = exchanges(5, 204).map((one) => ({ ...one, text: one.text.replace('GET', 'POST') }));
    expect(kindsOf(posts)).toHaveLength(10);
  });

  it('keeps answers that differ apart', () => {
    expect(kindsOf([...polls(5), ...polls(4, 'QueueInfoAck id=# payload={"n":1}')])).toEqual([
      '5 polls',
      '4 polls',
    ]);
  });

  it('folds no two exchanges, no publishes, and nothing across an event of another connection', () => {
    expect(kindsOf(polls(2))).toHaveLength(4);
    const publishes = Array.from({ length: 5 }, (_, index) => [
      event('sent', `Publish id=m-${index} queue=q`),
      event('received', `PublishAck id=m-${index}`),
    ]).flat();
    expect(kindsOf(publishes)).toHaveLength(10);
    const other = event('received', 'Deliver id=m-1', 'B');
    expect(kindsOf([...polls(3), other, ...polls(3)])).toEqual(['3 polls', 'Deliver id=m-1', '3 polls']);
    expect(
      kindsOf([...polls(3).map((one, index) => ({ ...one, connection: index < 4 ? 'A' : 'B' }))]),
    ).toHaveLength(6);
  });
});

describe('what is shown of a folded trace', () => {
  const trace = (): readonly TraceEvent[] => {
    nowMs = 0;
    return [
      ...Array.from({ length: 50 }, (_, index) => event('received', `Deliver id=${index}`)),
      ...polls(10),
    ];
  };
  const textsOf = (count: number, brokenAtMs?: number): readonly string[] =>
    shownRows(foldedTrace(trace()), count, brokenAtMs).map((row) =>
      row.kind === 'polls' ? 'polls' : row.event.text,
    );

  it('is the end of it', () => {
    expect(textsOf(3)).toEqual(['Deliver id=48', 'Deliver id=49', 'polls']);
  });

  it('is what is around the frame that broke a requirement', () => {
    const shown = textsOf(10, 20.5);
    expect(shown).toEqual(Array.from({ length: 10 }, (_, index) => `Deliver id=${index + 17}`));
    expect(textsOf(3, 50.5).at(-1)).toBe('polls');
    expect(textsOf(3, 0)).toHaveLength(3);
    expect(textsOf(100, 20.5)).toHaveLength(27);
  });

  it('is the end of it where no frame is known that came so late', () => {
    expect(textsOf(3, 1000)).toEqual(textsOf(3));
  });

  it('says how much it is of what', () => {
    const rows = foldedTrace(trace());
    expect(shownText(rows, rows, undefined)).toBeUndefined();
    expect(shownText(rows, shownRows(rows, 2, undefined), undefined)).toBe('last 21 of 70 events');
    expect(shownText(rows, shownRows(rows, 10, 20.5), 20.5)).toBe('10 of 70 events, around 20.5 ms');
  });
});
