// Judges a measurement of the gate against the kept ratios, row by row. Whatever was not measured, or is not kept, is red: a gate that
// compares nothing must not open. Says for every red row what to do. Pure.

/** A row of one measurement. Without `ratio` nothing is known of it. */
export type MeasuredRow = {
  readonly name: string;
  /** Through the broker, all rounds. */
  readonly messageCount: number;
  /** The broker's time per message, to that of the skeleton. */
  readonly ratio?: number;
  /** By which part it is above the ratio of the kept broker, which was measured beside it. */
  readonly change?: number;
  /** Why the load was not carried. */
  readonly fault?: string;
};

export type KeptRow = {
  readonly name: string;
  readonly ratio: number;
  /** By which part more than the kept broker beside it is still green: 0.1 is a tenth. */
  readonly threshold: number;
};

/**
 * Without the kept broker the ratio is compared with the kept one, which was measured on another machine. Two processors have differed by 42
 * percent at 16 KiB, because the skeleton mostly copies there and the broker mostly computes.
 */
const thresholdElsewhere = 0.5;

export type RowVerdict = {
  readonly name: string;
  readonly kind: 'green' | 'slower' | 'unmeasured';
  /** One sentence, and what to do. */
  readonly text: string;
};

const renew = '`npm run bench:gate -- --write` renews the kept file';

/** One verdict for each row that is kept or measured. */
export function judgeRows(kept: readonly KeptRow[], measured: readonly MeasuredRow[]): readonly RowVerdict[] {
  const names = [...new Set([...kept, ...measured].map(({ name }) => name))];
  if (names.length === 0) return [unmeasured('the gate', 'nothing is kept and nothing was measured', renew)];
  return names.map((name) =>
    judgeRow(
      name,
      kept.find((row) => row.name === name),
      measured.find((row) => row.name === name),
    ),
  );
}

/** The rows that are worth measuring again: noise makes a row slower, and cannot make it disappear. */
export function slowerRows(verdicts: readonly RowVerdict[]): readonly string[] {
  return verdicts.filter(({ kind }) => kind === 'slower').map(({ name }) => name);
}

function judgeRow(name: string, kept: KeptRow | undefined, measured: MeasuredRow | undefined): RowVerdict {
  if (measured === undefined)
    return unmeasured(
      name,
      'it is kept, and was not measured',
      `put it back into gate/rows.ts, or: ${renew}`,
    );
  if (measured.fault !== undefined)
    return unmeasured(
      name,
      `the load failed: ${measured.fault}`,
      'run `npm run bench:gate` alone, and repair what refuses or loses messages',
    );
  if (measured.messageCount === 0)
    return unmeasured(name, 'no message passed through the broker', 'give it turns in gate/rows.ts');
  if (kept === undefined) return unmeasured(name, 'it was measured, and is not kept', renew);
  if (!isFigure(kept.ratio) || !isThreshold(kept.threshold))
    return unmeasured(name, 'its kept ratio or threshold is no positive number', renew);
  if (!isFigure(measured.ratio))
    return unmeasured(
      name,
      'the time of its messages is not known',
      'look at what gate/measure.ts got from its sides',
    );
  return measured.change === undefined
    ? comparedElsewhere(name, kept, measured.ratio)
    : compared(name, kept, measured.ratio, measured.change);
}

/** With the kept broker, on the same machine at the same time. */
function compared(name: string, { threshold }: KeptRow, ratio: number, change: number): RowVerdict {
  return verdictOn(name, { ratio, change, threshold, what: 'against the kept broker beside it' });
}

/** With a ratio that another machine had. */
function comparedElsewhere(name: string, kept: KeptRow, ratio: number): RowVerdict {
  const what = `against the kept ${kept.ratio.toFixed(2)}, which was measured elsewhere`;
  return verdictOn(name, { ratio, change: ratio / kept.ratio - 1, threshold: thresholdElsewhere, what });
}

type Comparison = {
  readonly ratio: number;
  readonly change: number;
  readonly threshold: number;
  readonly what: string;
};

function verdictOn(name: string, { ratio, change, threshold, what }: Comparison): RowVerdict {
  const taken = `${ratio.toFixed(2)} times what the skeleton takes for a message`;
  const figures = `${taken}, ${percent(change)} ${what}, allowed ${percent(threshold)}`;
  if (!(change <= threshold)) {
    const text = `${name}: slower: ${figures}. Find what costs more (node --cpu-prof); if it is wanted, ${renew}`;
    return { name, kind: 'slower', text };
  }
  const hint = change < -threshold ? `. It became faster: ${renew}, so that it stays so` : '';
  return { name, kind: 'green', text: `${name}: ${figures}${hint}` };
}

function unmeasured(name: string, what: string, remedy: string): RowVerdict {
  return { name, kind: 'unmeasured', text: `${name}: ${what}: ${remedy}` };
}

function percent(change: number): string {
  return `${change < 0 ? '' : '+'}${(change * 100).toFixed(1)}%`;
}

function isFigure(value: number | undefined): value is number {
  return value !== undefined && Number.isFinite(value) && value > 0;
}

/** A threshold of a fifth would not find what the gate is for. */
function isThreshold(value: number): boolean {
  return isFigure(value) && value < 0.2;
}
