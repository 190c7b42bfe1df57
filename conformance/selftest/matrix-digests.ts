// What the kill matrix is made from, as digests: of each planted fault with the declaration in which it is planted, and of each check. What all
// checks share, the engine and the wire, is no part of them: after a change there, `npm run selftest:full -- --all`.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openPlanter } from '../../.tools/faults/planter.ts';
import { codeOfChecks } from './check-code.ts';
import { type KillMatrix, matrixFile, type Present, staleShare } from './kill-matrix.ts';
import { mutants } from './mutants.ts';

/** The digests of the sources below `root`. Throws when a fault cannot be planted. */
export function presentDigests(root: string, checkIds: readonly string[]): Present {
  const planter = openPlanter(root);
  const faults = mutants.map((mutant) => {
    const { find, replace, within = '' } = mutant;
    return [mutant.id, digestOf([planter.codeAround(mutant), find, replace, within])] as const;
  });
  const digests = digestsOfChecks(root);
  return {
    faults: new Map(faults),
    checks: new Map([...checkIds].sort().map((id) => [id, digests.get(id) ?? ''])),
  };
}

/** How much of the committed matrix is of other sources, in one line. */
export function matrixAge(root: string, checkIds: readonly string[]): string {
  const matrix = JSON.parse(readFileSync(join(root, matrixFile), 'utf8')) as KillMatrix;
  const percent = (100 * staleShare(matrix, presentDigests(root, checkIds))).toFixed(1);
  return `${percent} percent of the kill matrix are of other sources: npm run selftest:full`;
}

/** By the id of a check. */
function digestsOfChecks(root: string): ReadonlyMap<string, string> {
  const folder = join(root, 'conformance/src/checks');
  const names = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  const codes = names.flatMap((name) => [...codeOfChecks(readFileSync(join(folder, name), 'utf8'))]);
  return new Map(codes.map(([id, code]) => [id, digestOf([code])]));
}

function digestOf(texts: readonly string[]): string {
  return createHash('sha256').update(texts.join('\n')).digest('hex').slice(0, 12);
}
