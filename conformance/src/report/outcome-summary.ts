// The summary at the end of a report: the ids of checks that did not pass, one line for each kind, and with --repeat the checks with
// different outcomes in the repetitions. Pure.
import type { LoggedResult } from './event-log.ts';
import { gateStatusOf } from './gate-status.ts';

/** The maximum number of ids in a line; failures are all named. */
const shownIdCount = 12;

export type OutcomeGroup = { readonly name: string; readonly ids: readonly string[] };

/** Failures first; a check with the same outcome in several repetitions is named once. Empty if all passed. */
export function notRightGroups(results: readonly LoggedResult[], strict: boolean): readonly OutcomeGroup[] {
  const groups = new Map<string, Set<string>>(groupNames.map((name) => [name, new Set()]));
  for (const result of results) groups.get(groupOf(result, strict) ?? '')?.add(result.id);
  const named = [...groups].map(([name, ids]) => ({ name, ids: [...ids].sort() }));
  return named.filter(({ ids }) => ids.length > 0);
}

const failedName = 'failed';
const groupNames = [
  failedName,
  'warned, with --strict',
  'error of the runner',
  'blocked',
  'not shown',
  'could not run',
  'as the baseline expects',
] as const;

function groupOf(result: LoggedResult, strict: boolean): (typeof groupNames)[number] | undefined {
  const { outcome } = result;
  const standing = gateStatusOf(result, strict);
  if (standing === 'expected') return 'as the baseline expects';
  if (standing === 'failed') return outcome === 'warn' ? 'warned, with --strict' : failedName;
  if (standing !== 'broken') return undefined;
  switch (outcome) {
    case 'blocked':
    case 'not shown':
    case 'could not run':
      return outcome;
    default:
      return 'error of the runner';
  }
}

/** `failed: CONN-001a, CONN-002a` */
export function notRightLines(results: readonly LoggedResult[], strict: boolean): readonly string[] {
  return notRightGroups(results, strict).map(
    ({ name, ids }) => `${name}: ${name === failedName ? ids.join(', ') : shortList(ids, shownIdCount)}`,
  );
}

/** At most `count` words and the number of the others: `a, b and 3 more`. */
export function shortList(words: readonly string[], count: number): string {
  const others = words.length - count;
  return others <= 1 ? words.join(', ') : `${words.slice(0, count).join(', ')} and ${others} more`;
}

/** The checks with different outcomes in the repetitions: `CONN-001a: 9 pass, 1 fail`. */
export function flipLines(results: readonly LoggedResult[]): readonly string[] {
  const byId = new Map<string, Map<string, number>>();
  for (const { id, outcome } of results) {
    const counts = byId.get(id) ?? new Map<string, number>();
    byId.set(id, counts.set(outcome, (counts.get(outcome) ?? 0) + 1));
  }
  const flips = [...byId].filter(([, counts]) => counts.size > 1).sort(([a], [b]) => (a < b ? -1 : 1));
  if (flips.length === 0) return [];
  const lines = flips.map(([id, counts]) => {
    const told = [...counts].map(([outcome, count]) => `${count} ${outcome}`);
    return `     ${id}: ${told.join(', ')}`;
  });
  return ['Ended differently in the repetitions:', ...lines];
}
