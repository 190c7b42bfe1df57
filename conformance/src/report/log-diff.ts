// Compares two runs: the checks with another outcome, new checks, removed checks, and whether the second run is worse. A check that the
// second run did not reach makes the comparison incomplete. Pure.
import { countText } from '../count-text.ts';
import type { Outcome } from '../outcome.ts';
import type { LoggedResult, LogHeader, RunLog } from './event-log.ts';
import { plannedCount, targetLabel } from './event-log.ts';
import { inline, table } from './markdown.ts';
import { visibleLine } from './visible-text.ts';

export type Change = {
  readonly id: string;
  readonly title: string;
  readonly before: Outcome | undefined;
  readonly after: Outcome | undefined;
  readonly kind: 'worse' | 'better' | 'other' | 'new' | 'gone';
};

export type LogDiff = {
  readonly before: string;
  readonly after: string;
  readonly changes: readonly Change[];
  /** Both runs used the same checks and rules; otherwise a missing check may have been withdrawn. */
  readonly sameSuite: boolean;
  /** The incomplete parts of the second run, one sentence each; empty if it is complete. */
  readonly gaps: readonly string[];
};

/** From best to worst: a check with several repetitions counts as the worst of them. */
const ranks: Readonly<Record<Outcome, number>> = {
  pass: 0,
  'not applicable': 1,
  warn: 2,
  'not shown': 3,
  'could not run': 4,
  error: 5,
  blocked: 6,
  fail: 7,
};

export function diffOf(before: RunLog, after: RunLog): LogDiff {
  const old = worstById(before);
  const now = worstById(after);
  const ids = [...new Set([...old.keys(), ...now.keys()])].sort();
  const changes = ids
    .map((id) => changeOf(id, old.get(id), now.get(id)))
    .filter((change) => change !== undefined);
  const sameSuite = before.header.suite.digest === after.header.suite.digest;
  return {
    before: targetLabel(before),
    after: targetLabel(after),
    changes,
    sameSuite,
    gaps: gapsOf(after, changes, mayBeWithdrawn(before, after)),
  };
}

function worstById(log: RunLog): ReadonlyMap<string, LoggedResult> {
  const worst = new Map<string, LoggedResult>();
  for (const result of log.results) {
    const known = worst.get(result.id);
    if (known === undefined || ranks[result.outcome] > ranks[known.outcome]) worst.set(result.id, result);
  }
  return worst;
}

function changeOf(
  id: string,
  old: LoggedResult | undefined,
  now: LoggedResult | undefined,
): Change | undefined {
  if (old?.outcome === now?.outcome) return undefined;
  const title = now?.title ?? old?.title ?? '';
  return { id, title, before: old?.outcome, after: now?.outcome, kind: kindOf(old?.outcome, now?.outcome) };
}

/** A recommendation that is no longer followed is worse too; a removed optional feature is a neutral change. */
function kindOf(before: Outcome | undefined, after: Outcome | undefined): Change['kind'] {
  if (before === undefined) return 'new';
  if (after === undefined) return 'gone';
  if (after === 'not applicable' || before === 'not applicable')
    return ranks[after] > ranks.warn ? 'worse' : 'other';
  return ranks[after] > ranks[before] ? 'worse' : 'better';
}

/** A check that is gone was withdrawn from the suite, unless the second run selected less. */
function mayBeWithdrawn({ header: before }: RunLog, { header: after }: RunLog): boolean {
  if (before.suite.digest === after.suite.digest) return false;
  return !after.partial || selectionText(before) === selectionText(after);
}

function selectionText({ options, shard, target }: LogHeader): string {
  const { profiles, level, only, skip } = options;
  return JSON.stringify([profiles, level, only, skip, shard, target.profiles]);
}

function gapsOf(after: RunLog, changes: readonly Change[], excusesGone: boolean): readonly string[] {
  const gone = changes.filter(({ kind }) => kind === 'gone').length;
  const missing = plannedCount(after) - after.results.length;
  return [
    ...(after.finish === undefined ? ['the second run was interrupted'] : []),
    ...(missing > 0 ? [`the second run did not reach ${countText(missing, 'check')}`] : []),
    ...(!excusesGone && gone > 0
      ? [`${countText(gone, 'check')} of the first run ${gone === 1 ? 'is' : 'are'} missing in the second`]
      : []),
  ];
}

export function regressionsOf({ changes }: LogDiff): readonly Change[] {
  return changes.filter(({ kind }) => kind === 'worse');
}

const kinds: Readonly<Record<Change['kind'], string>> = {
  worse: 'worse',
  better: 'better',
  other: 'changed',
  new: 'new',
  gone: 'gone',
};

/** For the console: one line for each change, then the sum. */
export function diffLines(diff: LogDiff): readonly string[] {
  const lines = diff.changes.map(
    ({ id, title, before, after, kind }) =>
      `${kinds[kind].padEnd(8)}${id.padEnd(14)}${before ?? '-'} -> ${after ?? '-'}  ${visibleLine(title)}`,
  );
  const gaps = diff.gaps.map((gap) => `incomplete: ${gap}`);
  const suite = diff.sameSuite ? [] : ['the two runs were judged by different versions of the suite'];
  return [
    `${visibleLine(diff.before)} -> ${visibleLine(diff.after)}`,
    ...lines,
    ...suite,
    ...gaps,
    `${countText(diff.changes.length, 'change')}, ${regressionsOf(diff).length} for the worse`,
  ];
}

export function diffMarkdown(diff: LogDiff): string {
  const rows = diff.changes.map(({ id, title, before, after, kind }) => [
    kind === 'worse' ? `**${kinds[kind]}**` : kinds[kind],
    id,
    before ?? '',
    after ?? '',
    inline(title),
  ]);
  const lines = diffLines({ ...diff, changes: [] })
    .slice(1, -1)
    .map((line) => inline(line));
  return `${[
    `## ${inline(diff.before)} → ${inline(diff.after)}`,
    `${countText(diff.changes.length, 'change')}, ${regressionsOf(diff).length} for the worse.`,
    ...(rows.length === 0 ? [] : [table(['change', 'check', 'before', 'after', 'what it checks'], rows)]),
    ...lines,
  ].join('\n\n')}\n`;
}
