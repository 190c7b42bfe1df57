// The columns of the table: their heads, widths and cells. Pure. On a narrow terminal columns are dropped from the right, and the column of names
// takes what is left.

import { ageText, countText, rateText } from './figures.ts';
import type { QueueRow } from './live-table.ts';
import { escaped, fitted, widthOf } from './shown-text.ts';

export type Column = {
  readonly head: string;
  readonly align: 'left' | 'right';
  /** Cells that it takes at least, so that the columns do not move when figures change. */
  readonly minWidth: number;
  readonly cell: (row: QueueRow, now: number) => string;
};

/** `now`: milliseconds since 1970 by the broker's clock. */
export const columns: readonly Column[] = [
  { head: 'QUEUE', align: 'left', minWidth: 16, cell: ({ name }) => escaped(name) },
  { head: 'MODE', align: 'left', minWidth: 10, cell: ({ deliveryMode }) => escaped(deliveryMode) },
  { head: 'WAITING', align: 'right', minWidth: 7, cell: ({ waitingCount }) => countText(waitingCount) },
  { head: 'IN FLIGHT', align: 'right', minWidth: 9, cell: ({ inFlightCount }) => countText(inFlightCount) },
  { head: 'IN/S', align: 'right', minWidth: 6, cell: ({ publishedRate }) => rateText(publishedRate) },
  { head: 'OUT/S', align: 'right', minWidth: 6, cell: ({ deliveredRate }) => rateText(deliveredRate) },
  {
    head: 'OLDEST',
    align: 'right',
    minWidth: 6,
    cell: ({ oldestAt }, now) => (oldestAt === 0 ? '-' : ageText(now - oldestAt)),
  },
  { head: 'SUBS', align: 'right', minWidth: 4, cell: ({ subscriberCount }) => countText(subscriberCount) },
  { head: 'NOTE', align: 'left', minWidth: 4, cell: noteOf },
];

const GAP = '  ';
/** A column of names is not narrower than this, unless the terminal is. */
const MIN_NAME_WIDTH = 16;

/** What is wrong with a queue, or may be; empty: nothing. */
export function noteOf(row: QueueRow): string {
  const notes: string[] = [];
  if (row.isNotAcknowledging) notes.push('not acknowledging');
  if (row.waitingCount >= row.maxQueueSize) notes.push(`full (${escaped(row.overflowStrategy)})`);
  if (row.deadLetterCount > 0) notes.push(`dead letters: ${countText(row.deadLetterCount)}`);
  else if (row.waitingCount > 0 && row.subscriberCount === 0) notes.push('no subscribers');
  return notes.join(', ');
}

/** The lines of a table: its head and the rows, each at most `width` cells. */
export function tableLines(rows: readonly QueueRow[], now: number, width: number): readonly string[] {
  const cells = [
    columns.map(({ head }) => head),
    ...rows.map((row) => columns.map(({ cell }) => cell(row, now))),
  ];
  const widths = columnWidths(cells, width);
  return cells.map((line) =>
    widths
      .map((cellWidth, index) => fitted(line[index] ?? '', cellWidth, columns[index]?.align))
      .join(GAP)
      .trimEnd(),
  );
}

/** The widths of the columns that are shown. */
function columnWidths(cells: readonly (readonly string[])[], width: number): readonly number[] {
  const natural = columns.map(({ minWidth }, index) =>
    cells.reduce((most, line) => Math.max(most, widthOf(line[index] ?? '')), minWidth),
  );
  const [nameWidth = 0, ...others] = natural;
  const fixed = [...others];
  const widthBeside = () => fixed.reduce((sum, one) => sum + one + GAP.length, 0);
  // The note, which is the last one, may be cut; it is worth showing as long as its head fits.
  const spare = width - Math.min(nameWidth, MIN_NAME_WIDTH) - widthBeside();
  const note = fixed.at(-1) ?? 0;
  if (spare < 0 && note + spare >= 12) fixed[fixed.length - 1] = note + spare;
  while (fixed.length > 0 && Math.min(nameWidth, MIN_NAME_WIDTH) + widthBeside() > width) fixed.pop();
  return [Math.max(1, Math.min(nameWidth, width - widthBeside())), ...fixed];
}
