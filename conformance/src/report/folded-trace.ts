// Folds repeated polls in a trace: a check that waits for a state asks the broker again and again, and consecutive exchanges with the same
// answer become one line, or for requests over HTTP with the same status. Pure.
import { countText } from '../count-text.ts';
import type { TraceEvent } from '../trace.ts';

/** One line of a folded trace: one event, or several equal exchanges. */
export type TraceRow =
  | { readonly kind: 'event'; readonly event: TraceEvent }
  | {
      readonly kind: 'polls';
      /** From `minPollCount`. */
      readonly count: number;
      readonly request: TraceEvent;
      readonly answer: TraceEvent;
      /** The time of the last answer; milliseconds since the start of the run. */
      readonly untilMs: number;
    };

/** Fewer polls are not folded. */
const minPollCount = 3;

/** The rows of a trace in order. Folds consecutive exchanges whose frames differ only in their ids. */
export function foldedTrace(events: readonly TraceEvent[]): readonly TraceRow[] {
  const rows: TraceRow[] = [];
  for (let index = 0; index < events.length; ) {
    const row = pollsFrom(events, index);
    rows.push(row);
    index += eventCountOf(row);
  }
  return rows;
}

/** How many rows after the frame that broke a requirement are shown. */
const rowsAfterBreak = 6;

/** The last `count` rows; with `brokenAtMs` those around the frame that broke a requirement then. */
export function shownRows(
  rows: readonly TraceRow[],
  count: number,
  brokenAtMs: number | undefined,
): readonly TraceRow[] {
  const broken = brokenAtMs === undefined ? -1 : rows.findIndex((row) => endOf(row) >= brokenAtMs);
  const end = broken < 0 ? rows.length : Math.min(rows.length, broken + 1 + rowsAfterBreak);
  return rows.slice(Math.max(0, end - count), end);
}

const comingKinds: ReadonlySet<TraceEvent['kind']> = new Set(['received', 'undecodable', 'http']);

function endOf(row: TraceRow): number {
  if (row.kind === 'polls') return row.untilMs;
  return comingKinds.has(row.event.kind) ? row.event.atMs : -1;
}

/** `last 24 of 300 events`, `24 of 300 events, around 12.3 ms`; undefined if all are shown. */
export function shownText(
  rows: readonly TraceRow[],
  shown: readonly TraceRow[],
  brokenAtMs: number | undefined,
): string | undefined {
  if (shown.length === rows.length) return undefined;
  const count = (some: readonly TraceRow[]): number => some.reduce((sum, row) => sum + eventCountOf(row), 0);
  const counts = `${count(shown)} of ${countText(count(rows), 'event')}`;
  return brokenAtMs === undefined ? `last ${counts}` : `${counts}, around ${brokenAtMs.toFixed(1)} ms`;
}

/** How many events of the trace a row stands for. */
export function eventCountOf(row: TraceRow): number {
  return row.kind === 'event' ? 1 : 2 * row.count;
}

/** `12 times until 480.1 ms: Ping id=c-1, answered by Pong id=c-1` */
export function pollsText({
  count,
  request,
  answer,
  untilMs,
}: TraceRow & { readonly kind: 'polls' }): string {
  return `${count} times until ${untilMs.toFixed(1)} ms: ${request.text}, answered by ${answer.text}`;
}

function pollsFrom(events: readonly TraceEvent[], index: number): TraceRow {
  const request = events[index] as TraceEvent;
  const answer = events[index + 1];
  if (answer === undefined || !isPoll(request, answer)) return { kind: 'event', event: request };
  let count = 1;
  while (isSame(events[index + 2 * count], request) && isSame(events[index + 2 * count + 1], answer))
    count += 1;
  // Bodies are not compared, and the last one says what a check waited for in vain.
  if (request.kind === 'http') count -= 1;
  if (count < minPollCount) return { kind: 'event', event: request };
  const untilMs = events[index + 2 * count - 1]?.atMs ?? answer.atMs;
  return { kind: 'polls', count, request, answer, untilMs };
}

/** Commands that change nothing in the broker. */
const pollPattern = /^(Ping|QueueInfo|ListQueues) /;

function isPoll(request: TraceEvent, answer: TraceEvent): boolean {
  if (request.kind === 'http')
    return request.text.startsWith('> GET ') && answer.kind === 'http' && answer.text.startsWith('< ');
  return (
    request.kind === 'sent' &&
    answer.kind === 'received' &&
    request.connection === answer.connection &&
    pollPattern.test(request.text)
  );
}

function isSame(event: TraceEvent | undefined, first: TraceEvent): boolean {
  return (
    event !== undefined &&
    event.kind === first.kind &&
    event.connection === first.connection &&
    withoutId(event.text) === withoutId(first.text)
  );
}

/** Removes the id, which is the first field and different in each command. */
function withoutId(text: string): string {
  return text.replace(/ id=\S*/, '');
}
