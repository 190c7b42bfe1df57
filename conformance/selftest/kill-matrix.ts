// The kill matrix: which check fails on which planted fault, every fault against every check. Pure but for the reading of sources: from the
// findings to the committed file, its digest of what it was made from, and the page that people read.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckResult } from '../src/result.ts';
import { isKill } from './mutant-verdict.ts';

export type MatrixRow = {
  /** The id of the mutant. */
  readonly mutant: string;
  readonly title: string;
  /** The checks that failed, by id. */
  readonly kills: readonly string[];
  /** The checks that showed nothing: an error, or they could not run or decide. */
  readonly unclear?: readonly string[];
  /** Why it could not be tried at all. */
  readonly fault?: string;
};

export type KillMatrix = {
  readonly schema: 1;
  /** Of the checks, the faults and the broker that this was found with. */
  readonly digest: string;
  readonly checks: readonly string[];
  readonly mutants: readonly MatrixRow[];
};

export const matrixFile = 'conformance/kill-matrix.json';
export const matrixPage = 'conformance/docs/kill-matrix.md';

export function rowOf(
  { id, title }: { readonly id: string; readonly title: string },
  results: readonly CheckResult[],
): MatrixRow {
  const idsOf = (fits: (result: CheckResult) => boolean): readonly string[] =>
    results.filter(fits).map((result) => result.id);
  const unclear = idsOf(
    ({ outcome }) => outcome === 'error' || outcome === 'could not run' || outcome === 'not shown',
  );
  const kills = idsOf(isKill);
  return { mutant: id, title, kills, ...(unclear.length === 0 ? {} : { unclear }) };
}

/** Without the faults and checks that do not exist any more. `titles`: of the present faults, by id. */
export function pruned(
  matrix: KillMatrix,
  titles: ReadonlyMap<string, string>,
  checks: ReadonlySet<string>,
): KillMatrix {
  const present = (ids: readonly string[]): readonly string[] => ids.filter((id) => checks.has(id));
  const rows = matrix.mutants.flatMap(({ unclear, ...row }) => {
    const title = titles.get(row.mutant);
    if (title === undefined) return [];
    return { ...row, title, kills: present(row.kills), ...(unclear && { unclear: present(unclear) }) };
  });
  return { ...matrix, checks: present(matrix.checks), mutants: rows };
}

/** One mutant a line, so that a later matrix can be compared with this one. */
export function matrixJson({ schema, digest, checks, mutants }: KillMatrix): string {
  const rows = mutants.map((row) => `    ${JSON.stringify(row)}`).join(',\n');
  return `{\n  "schema": ${schema},\n  "digest": "${digest}",\n  "checks": ${JSON.stringify(checks)},\n  "mutants": [\n${rows}\n  ]\n}\n`;
}

/** Over everything that can change a cell: the broker's sources, the runner's, and the planted faults; tests apart. */
export function sourceDigest(root: string): string {
  const hash = createHash('sha256');
  const folders = ['src', 'conformance/src', 'fixtures/faults', 'fixtures/wire', 'spec/requirements'];
  for (const path of folders.flatMap((folder) => sourcesIn(root, folder)).sort()) {
    hash.update(`${path}\n${readFileSync(join(root, path), 'utf8').replaceAll('\r\n', '\n')}\n`);
  }
  return `sha256:${hash.digest('hex')}`;
}

function sourcesIn(root: string, folder: string): readonly string[] {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  return entries.flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === 'testing' ? [] : sourcesIn(root, path);
    return /[.]test[.]ts$/.test(path) ? [] : [path];
  });
}

/** Whether the committed matrix is of these sources, in one line. It fails nothing: making it takes the better part of an hour. */
export function matrixState(root: string): string {
  const path = join(root, matrixFile);
  if (!existsSync(path)) return 'the kill matrix was not made yet: npm run selftest:full';
  const { digest } = JSON.parse(readFileSync(path, 'utf8')) as KillMatrix;
  return digest === sourceDigest(root)
    ? 'the kill matrix is of these sources'
    : 'the kill matrix is of other sources: npm run selftest:full';
}

/** The page: what kills each check's faults, and what nobody sees. */
export function matrixText({ checks, mutants, digest }: KillMatrix): string {
  const survivors = mutants.filter(({ kills, fault }) => kills.length === 0 && fault === undefined);
  const untried = mutants.filter(({ fault }) => fault !== undefined);
  const unclear = mutants.filter(({ unclear: ids = [] }) => ids.length > 0);
  return [
    '# Kill matrix',
    '',
    '`npm run selftest:full` runs every check against every planted fault and writes this page. A check that finds no fault may be unable to',
    'fail. A fault that no check finds can stay undetected in a broker. The checks of profile `model` search at random; they ran only against the',
    'faults that were planted for them.',
    '',
    `${mutants.length} planted faults, ${checks.length} checks. Made from sources with the digest \`${digest}\`.`,
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
    'A broken handshake or a broken frame makes nearly everything fail; what is told here is what was seen, not what was meant.',
    '',
    '| check | faults | which |',
    '|---|--:|---|',
    ...checks.map((id) => checkRow(id, mutants)),
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
