// A table as text for people: the first column to the left, the others to the right.

export function renderTable(rows: readonly (readonly string[])[]): string {
  const width = (column: number): number => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  const cell = (text: string, column: number): string =>
    column === 0 ? text.padEnd(width(column)) : text.padStart(width(column));
  return rows.map((row) => row.map(cell).join('  ').trimEnd()).join('\n');
}
