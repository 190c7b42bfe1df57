// The course of the gate: measure all rows, and those that seem slower again, because on a shared machine a row may be unlucky once. A row is
// red if it was slower every time. A further attempt begins only if it can end in time. Measures through what it is given.
import type { KeptRow, MeasuredRow, RowVerdict } from './judge.ts';
import { judgeRows, slowerRows } from './judge.ts';

export type Attempts = {
  readonly kept: readonly KeptRow[];
  /** The names of all rows, in order. */
  readonly names: readonly string[];
  readonly measure: (names: readonly string[]) => Promise<readonly MeasuredRow[]>;
  /** How often a slower row is measured again, at most. */
  readonly repeatCount: number;
  readonly nowMs: () => number;
  /** From the start, for all attempts. */
  readonly budgetMs: number;
  readonly tell: (line: string) => void;
};

export async function judgedAttempts(attempts: Attempts): Promise<readonly RowVerdict[]> {
  const { kept, names, measure, repeatCount, nowMs, budgetMs, tell } = attempts;
  const startedAtMs = nowMs();
  let verdicts = judgeRows(kept, await measure(names));
  const eachRowMs = (nowMs() - startedAtMs) / Math.max(1, names.length);
  for (let repeat = 0; repeat < repeatCount; repeat += 1) {
    const slower = slowerRows(verdicts);
    if (slower.length === 0) break;
    if (nowMs() - startedAtMs + eachRowMs * slower.length > budgetMs) {
      tell(`not measured again, there is no time left: ${slower.join('; ')}`);
      break;
    }
    tell(`measured again: ${slower.join('; ')}`);
    const own = kept.filter(({ name }) => slower.includes(name));
    verdicts = replaced(verdicts, judgeRows(own, await measure(slower)));
  }
  return verdicts;
}

function replaced(before: readonly RowVerdict[], again: readonly RowVerdict[]): readonly RowVerdict[] {
  return before.map((verdict) => again.find(({ name }) => name === verdict.name) ?? verdict);
}
