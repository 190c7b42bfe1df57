// Tables for people: columns as wide as their widest cell, two spaces between them. What a terminal would obey or hide is escaped.

import { escaped, widthOf } from './top/shown-text.ts';

/** The lines of a table, each with its line break. */
export function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((line) => line.map(escaped));
  const widths = head.map((_, column) =>
    lines.reduce((most, line) => Math.max(most, widthOf(line[column] ?? '')), 0),
  );
  return lines.map((line) => `${padded(line, widths)}\n`).join('');
}

function padded(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell)))
    .join('  ')
    .trimEnd();
}
