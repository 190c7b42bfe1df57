// What the kill matrix is made from, as digests: of each planted fault with the source in which it is planted, and of the module of each check. What
// all checks share, the engine and the wire, is no part of them: after a change there, `npm run selftest:full -- --all`.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openPlanter } from '../../.tools/faults/planter.ts';
import { codeOf } from '../../.tools/faults/product-source.ts';
import { type KillMatrix, matrixFile, type Present, staleShare } from './kill-matrix.ts';
import { mutants } from './mutants.ts';

const checkId = /\bid: '([A-Z]+-\d{3}[a-z])'/g;

/** The digests of the sources below `root`. Throws when a fault cannot be planted. */
export function presentDigests(root: string, checkIds: readonly string[]): Present {
  const planter = openPlanter(root);
  const codes = new Map<string, string>();
  const faults = mutants.map((mutant) => {
    const { path } = planter.plant(mutant);
    const code = codes.get(path) ?? codeOf(readFileSync(join(root, path), 'utf8'));
    codes.set(path, code);
    const { find, replace, within = '' } = mutant;
    return [mutant.id, digestOf([path, code, find, replace, within])] as const;
  });
  const modules = digestsOfModules(root);
  return {
    faults: new Map(faults),
    checks: new Map([...checkIds].sort().map((id) => [id, modules.get(id) ?? ''])),
  };
}

/** How much of the committed matrix is of other sources, in one line. */
export function matrixAge(root: string, checkIds: readonly string[]): string {
  const matrix = JSON.parse(readFileSync(join(root, matrixFile), 'utf8')) as KillMatrix;
  const percent = (100 * staleShare(matrix, presentDigests(root, checkIds))).toFixed(1);
  return `${percent} percent of the kill matrix are of other sources: npm run selftest:full`;
}

/** By the id of a check. A check whose id is put together from parts has none, and counts as unchanged. */
function digestsOfModules(root: string): ReadonlyMap<string, string> {
  const folder = join(root, 'conformance/src/checks');
  const names = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  const entries = names.flatMap((name) => {
    const text = readFileSync(join(folder, name), 'utf8');
    const digest = digestOf([codeOf(text)]);
    return [...text.matchAll(checkId)].map((match) => [match[1] ?? '', digest] as const);
  });
  return new Map(entries);
}

function digestOf(texts: readonly string[]): string {
  return createHash('sha256').update(texts.join('\n')).digest('hex').slice(0, 12);
}
