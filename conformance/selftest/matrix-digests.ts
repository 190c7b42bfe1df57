// What the kill matrix is made from: each planted fault with the declaration in which it is planted and the checks that are tried on it, and each
// check. What all checks share, the engine and the wire, is no part of the digests: after a change there, `npm run selftest:full -- --all`.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openPlanter } from '../../.tools/faults/planter.ts';
import type { Check } from '../src/check.ts';
import { checksOn } from './area-checks.ts';
import { codeOfChecks } from './check-code.ts';
import { type KillMatrix, matrixFile, type Present } from './kill-matrix.ts';
import { mutants } from './mutants.ts';

/** Throws when a fault cannot be planted, and for a check whose code is not found. */
export function presentSources(root: string, checks: readonly Check[]): Present {
  const planter = openPlanter(root);
  const faults = mutants.map((mutant) => {
    const { find, replace, within = '' } = mutant;
    const digest = digestOf([planter.codeAround(mutant), find, replace, within]);
    return [mutant.id, { digest, checks: checksOn(mutant, checks) }] as const;
  });
  const digests = digestsOfChecks(root);
  const ids = checks.map(({ id }) => id).sort();
  return { faults: new Map(faults), checks: new Map(ids.map((id) => [id, digestOfCheck(digests, id)])) };
}

function digestOfCheck(digests: ReadonlyMap<string, string>, id: string): string {
  const digest = digests.get(id);
  if (digest === undefined)
    throw new Error(`The code of check ${id} is not found in conformance/src/checks/.`);
  return digest;
}

/** The committed matrix. */
export function readMatrix(root: string): KillMatrix {
  return JSON.parse(readFileSync(join(root, matrixFile), 'utf8')) as KillMatrix;
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
