// The table at the end of `npm test`, and its last line. Pure text in, text out.
import { renderTable } from '../table.ts';
import { add, type Count } from './count.ts';

export type PartResult = {
  readonly name: string;
  readonly count: Count;
  readonly seconds: number;
  readonly budgetSeconds: number;
};

const shownRemarks = 50;

/** What failed, the table, and the last line `N passed, N failed`. */
export function renderSummary(results: readonly PartResult[]): string {
  const total = add(results.map((result) => result.count));
  const rows = [
    ['part', 'passed', 'failed', 'not shown', 'seconds', 'budget', ''],
    ...results.map((result) => [
      result.name,
      String(result.count.passed),
      String(result.count.failed),
      String(result.count.notShown.length),
      result.seconds.toFixed(1),
      String(result.budgetSeconds),
      result.seconds > result.budgetSeconds ? 'over budget' : '',
    ]),
  ];
  return [
    ...renderRemarks(total.remarks),
    ...notShownLines(total),
    '',
    renderTable(rows),
    '',
    lastLine(total),
    '',
  ].join('\n');
}

export function lastLine(total: Count): string {
  return `${total.passed} passed, ${total.failed} failed`;
}

function notShownLines({ notShown }: Count): readonly string[] {
  return notShown.map((text) => `NOT SHOWN ON THIS MACHINE ${text}`);
}

function renderRemarks(remarks: readonly string[]): readonly string[] {
  const more = remarks.length - shownRemarks;
  return [
    ...remarks.slice(0, shownRemarks).map((remark) => `FAILED ${remark}`),
    ...(more > 0 ? [`.. and ${more} more`] : []),
  ];
}
