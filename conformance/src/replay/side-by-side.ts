// What a replay shows: that everything came as recorded, or both sides at the first difference, with what led to it. Pure.
import { display } from '../expectation.ts';
import { traceLines } from '../report/console.ts';
import type { TraceEvent } from '../trace.ts';
import type { TraceFile } from '../trace-file.ts';
import type { Replayed } from './replayer.ts';

const shownEventCount = 8;
const columnWidth = 72;

export function comparisonLines(
  file: TraceFile,
  replayed: Replayed,
  seen: readonly TraceEvent[],
  trace: 'off' | 'fail' | 'all',
): readonly string[] {
  const { difference } = replayed;
  const head = [
    `${file.check} ${file.title}`,
    `recorded of ${file.target.name}, where it ended with ${file.outcome}${file.reason === undefined ? '' : `: ${file.reason}`}`,
    ...(trace === 'all' ? traceLines(seen, seen.length) : []),
  ];
  if (difference === undefined) return [...head, sameText(replayed)];
  const shown = trace === 'fail' ? traceLines(seen, shownEventCount) : [];
  const where = difference.field === undefined ? '' : `, in ${difference.field}`;
  return [
    ...head,
    ...shown,
    `it differs at event ${difference.at + 1} of ${file.events.length}, on connection ${difference.connection}${where}:`,
    ...columns('recorded', 'came', true),
    ...columns(difference.recorded, difference.came, false),
  ];
}

function sameText({ sentCount, receivedCount, connectionCount, passedOverCount }: Replayed): string {
  const over = passedOverCount === 0 ? '' : `; ${passedOverCount} exchanges over HTTP were not repeated`;
  return `the same: ${receivedCount} frames came as recorded, ${sentCount} were sent, on ${connectionCount} connections${over}`;
}

/** Two texts beside each other, each broken into lines of its column. */
function columns(left: string, right: string, isHead: boolean): readonly string[] {
  const [lefts, rights] = [broken(left), broken(right)];
  const count = Math.max(lefts.length, rights.length);
  const lines = Array.from({ length: count }, (_, index) => {
    const mark = isHead || lefts[index] === rights[index] ? ' ' : '|';
    return `  ${(lefts[index] ?? '').padEnd(columnWidth)} ${mark} ${rights[index] ?? ''}`.trimEnd();
  });
  return isHead ? [...lines, `  ${'-'.repeat(columnWidth)} - ${'-'.repeat(columnWidth)}`] : lines;
}

function broken(text: string): readonly string[] {
  const whole = text === '' ? display(text) : text;
  return Array.from({ length: Math.ceil(whole.length / columnWidth) }, (_, index) =>
    whole.slice(index * columnWidth, (index + 1) * columnWidth),
  );
}
