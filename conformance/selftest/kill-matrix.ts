// The kill matrix: which check fails on which planted fault, of those that are tried on it. Each fault and each check has a digest of what it
// was made from, so that only what has changed is tried again. Pure: from the findings to the committed file and the page that people
// read.
import type { CheckResult } from '../src/result.ts';
import { isKill, isOnlyWatched } from './mutant-verdict.ts';

export type MatrixRow = {
  /** The id of the mutant. */
  readonly mutant: string;
  readonly title: string;
  /** The checks that failed, by id; of those that failed by what is watched in every check only those that the fault names. */
  readonly kills: readonly string[];
  /** The checks that showed nothing: an error, or they could not run or decide. */
  readonly unclear?: readonly string[];
  /** The requirements that it breaks and that were called broken. */
  readonly named: readonly string[];
  /** Why it could not be tried at all. */
  readonly fault?: string;
  /** Of the fault and the declaration in which it was planted. */
  readonly digest: string;
};

export type KillMatrix = {
  readonly schema: 3;
  /** By id: the digest of the check. */
  readonly checks: Readonly<Record<string, string>>;
  readonly mutants: readonly MatrixRow[];
};

/** A planted fault as it is now. */
export type PresentFault = {
  readonly digest: string;
  /** The checks that are tried on it. */
  readonly checks: readonly string[];
};

/** What the sources are now: faults and the digests of checks, by id. */
export type Present = {
  readonly faults: ReadonlyMap<string, PresentFault>;
  readonly checks: ReadonlyMap<string, string>;
};

/** What is to be tried for one fault: all checks, or those that have changed. */
export type Retrial = { readonly mutant: string; readonly checks: readonly string[] };

export const matrixFile = 'conformance/kill-matrix.json';
export const matrixPage = 'conformance/docs/kill-matrix.md';

export function rowOf(
  {
    id,
    title,
    named,
    watched = [],
  }: {
    readonly id: string;
    readonly title: string;
    readonly named: readonly string[];
    readonly watched?: readonly string[] | undefined;
  },
  results: readonly CheckResult[],
  digest: string,
): MatrixRow {
  const idsOf = (fits: (result: CheckResult) => boolean): readonly string[] =>
    results.filter(fits).map((result) => result.id);
  const unclear = idsOf(
    ({ outcome }) => outcome === 'error' || outcome === 'could not run' || outcome === 'not shown',
  );
  // What is watched in every check shows nothing of a check that the fault does not name for it.
  const kills = idsOf((result) => isKill(result) && (!isOnlyWatched(result) || watched.includes(result.id)));
  return { mutant: id, title, kills, ...(unclear.length === 0 ? {} : { unclear }), named, digest };
}

/** Without the faults and checks that do not exist any more. `titles`: of the present faults, by id. */
export function pruned(
  matrix: KillMatrix,
  titles: ReadonlyMap<string, string>,
  checks: ReadonlySet<string>,
): KillMatrix {
  const present = (ids: readonly string[]): readonly string[] => ids.filter((id) => checks.has(id));
  const known = Object.entries(matrix.checks).filter(([id]) => checks.has(id));
  const rows = matrix.mutants.flatMap(({ mutant, kills, unclear, ...row }) => {
    const title = titles.get(mutant);
    if (title === undefined) return [];
    return { mutant, ...row, title, kills: present(kills), ...(unclear && { unclear: present(unclear) }) };
  });
  return { ...matrix, checks: Object.fromEntries(known), mutants: rows };
}

/** What must be tried again: on faults that have changed or could not be tried all of their checks, on the others those that have changed. */
export function retrials({ checks, mutants }: KillMatrix, present: Present): readonly Retrial[] {
  const isChanged = (id: string): boolean =>
    checks[id] === undefined || checks[id] !== present.checks.get(id);
  const tried = mutants.filter(({ fault }) => fault === undefined);
  const digests = new Map(tried.map(({ mutant, digest }) => [mutant, digest]));
  return [...present.faults]
    .map(([mutant, fault]) => ({
      mutant,
      checks: digests.get(mutant) === fault.digest ? fault.checks.filter(isChanged) : fault.checks,
    }))
    .filter((retrial) => retrial.checks.length > 0);
}

/** The share of cells that are of other sources: 0 to 1. */
export function staleShare(matrix: KillMatrix, present: Present): number {
  const stale = retrials(matrix, present).reduce((sum, { checks }) => sum + checks.length, 0);
  const cellCount = [...present.faults.values()].reduce((sum, { checks }) => sum + checks.length, 0);
  return cellCount === 0 ? 1 : stale / cellCount;
}

/**
 * The faults of which the matrix does not say how their own checks judge them now: those that have changed or come, and those with a check that
 * must fail and has changed.
 */
export function unproved(
  mutants: readonly { readonly id: string; readonly mustFail: readonly string[] }[],
  matrix: KillMatrix,
  present: Present,
): ReadonlySet<string> {
  const due = new Map(retrials(matrix, present).map(({ mutant, checks }) => [mutant, checks]));
  return new Set(
    mutants
      .filter(({ id, mustFail }) => due.get(id)?.some((check) => mustFail.includes(check)))
      .map(({ id }) => id),
  );
}

/** Older, the matrix says nothing about this broker and these checks. */
const MAX_STALE_SHARE = 0.1;

/** What is wrong with the age of the matrix; undefined: nothing. */
export function ageFault(matrix: KillMatrix, present: Present): string | undefined {
  const share = staleShare(matrix, present);
  if (share <= MAX_STALE_SHARE) return undefined;
  return `${(100 * share).toFixed(1)} percent of the kill matrix are of other sources: npm run selftest:full`;
}

/** The same for every row, whichever of them it has. */
const keysInOrder = ['mutant', 'title', 'kills', 'unclear', 'named', 'fault', 'digest'];

/** One mutant a line, so that a later matrix can be compared with this one. */
export function matrixJson({ schema, checks, mutants }: KillMatrix): string {
  const rows = mutants.map((row) => `    ${JSON.stringify(row, keysInOrder)}`).join(',\n');
  return `{\n  "schema": ${schema},\n  "checks": ${JSON.stringify(checks)},\n  "mutants": [\n${rows}\n  ]\n}\n`;
}

/** The page: what kills each check's faults, and what nobody sees. */
export function matrixText({ checks, mutants }: KillMatrix): string {
  const survivors = mutants.filter(({ kills, fault }) => kills.length === 0 && fault === undefined);
  const untried = mutants.filter(({ fault }) => fault !== undefined);
  const unclear = mutants.filter(({ unclear: ids = [] }) => ids.length > 0);
  return [
    '# Kill matrix',
    '',
    '`npm run selftest:full` runs the checks of the areas that a planted fault names against it, and writes this page. A check that finds no fault may be',
    'unable to fail. A fault that no check finds can stay undetected in a broker. Checks that start the broker again or play random scenarios ran only',
    'against the faults that were planted for them.',
    '',
    `${mutants.length} planted faults, ${Object.keys(checks).length} checks. When more than a tenth of it is of other sources, \`npm test\` fails.`,
    '',
    ...section(
      'Faults that no check sees',
      survivors.map(({ mutant, title }) => `\`${mutant}\`: ${title}`),
    ),
    ...section(
      'Faults that could not be tried',
      untried.map(({ mutant, fault }) => `\`${mutant}\`: ${fault}`),
    ),
    ...section(
      'Checks that showed nothing',
      unclear.map(({ mutant, unclear: ids = [] }) => `\`${mutant}\`: ${ids.join(', ')}`),
    ),
    '## What makes each check fail',
    '',
    'A broken handshake or a broken frame makes nearly everything of its area fail; what is told here is what was seen, not what was meant.',
    '',
    '| check | faults | which |',
    '|---|--:|---|',
    ...Object.keys(checks).map((id) => checkRow(id, mutants)),
    '',
  ].join('\n');
}

function section(title: string, entries: readonly string[]): readonly string[] {
  const lines = entries.length === 0 ? ['None.'] : entries.map((entry) => `- ${entry}`);
  return [`## ${title}`, '', ...lines, ''];
}

const namedCount = 12;

function checkRow(id: string, mutants: readonly MatrixRow[]): string {
  const killers = mutants.filter(({ kills }) => kills.includes(id)).map(({ mutant }) => mutant);
  const more = killers.length > namedCount ? `, and ${killers.length - namedCount} more` : '';
  const named = killers.slice(0, namedCount).join(', ');
  return `| ${id} | ${killers.length} | ${killers.length === 0 ? 'nothing: it is not shown to be able to fail' : `${named}${more}`} |`;
}
