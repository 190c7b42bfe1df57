// Folds what repeats in a trace: a check that waits for something asks the broker again and again, and all those exchanges with the same
// answer are one line. Pure.
import type { TraceEvent } from '../trace.ts';

/** One line of a shown trace: one event, or a run of exchanges. */
export type TraceRow =
  | { readonly kind: 'event'; readonly event: TraceEvent }
  | {
      readonly kind: 'polls';
      /** From `minPollCount`. */
      readonly count: number;
      readonly request: TraceEvent;
      readonly answer: TraceEvent;
      /** Of the last answer; milliseconds since the start of the run. */
      readonly untilMs: number;
    };

/** Fewer stay as they are. */
const minPollCount = 3;

/** The rows of a trace, in its order. Exchanges are folded where nothing came between them and only the id of the frames differs. */
export function foldedTrace(events: readonly TraceEvent[]): readonly TraceRow[] {
  const rows: TraceRow[] = [];
  for (let index = 0; index < events.length; ) {
    const row = pollsFrom(events, index);
    rows.push(row);
    index += eventCountOf(row);
  }
  return rows;
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
  if (count < minPollCount) return { kind: 'event', event: request };
  const untilMs = events[index + 2 * count - 1]?.atMs ?? answer.atMs;
  return { kind: 'polls', count, request, answer, untilMs };
}

/** Questions that change nothing at the broker. */
const pollPattern = /^(Ping|QueueInfo|ListQueues) /;

function isPoll(request: TraceEvent, answer: TraceEvent): boolean {
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

/** The id is the first field, and each question has its own. */
function withoutId(text: string): string {
  return text.replace(/ id=\S*/, '');
}
