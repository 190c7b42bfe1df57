// Where the proofs lie and how they are read: the planted faults, what the self-test of the runner called broken in this run, and the kept
// proof of the tests. Reports what is missing, too old or unreadable as a problem.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readFaults } from '../faults/catalogue.ts';
import { openPlanter } from '../faults/planter.ts';
import { faultInputs } from '../proof/inputs.ts';
import { readNamingFiles } from '../proof/naming-files.ts';
import { type Proof, proofFile, provedFiles, stalenessFault } from '../proof/report.ts';
import type { Proofs } from './proved.ts';

const calledBrokenFile = 'out/test/broken-rules.json';

export function readProofs(root: string): {
  readonly proofs: Proofs;
  readonly problems: readonly string[];
} {
  const faults = readFaults(root).filter(({ breaks }) => breaks !== undefined);
  const inputs = faultInputs(faults, openPlanter(root), readNamingFiles(root));
  const digests = new Map([...inputs].map(([id, { digest }]) => [id, digest]));
  try {
    const { brokenRules } = readJson<{ brokenRules: Record<string, readonly string[]> }>(
      root,
      calledBrokenFile,
    );
    const proof = readJson<Proof>(root, proofFile);
    const stale = stalenessFault(proof, digests);
    const planted = faults.map(({ id, breaks = [], runner }) => ({
      id,
      breaks,
      mustFail: runner?.mustFail ?? [],
    }));
    return {
      proofs: {
        faults: planted,
        calledBroken: new Map(Object.entries(brokenRules)),
        failingFiles: provedFiles(proof),
      },
      problems: stale === undefined ? [] : [stale],
    };
  } catch (error) {
    const nothing = { faults: [], calledBroken: new Map(), failingFiles: new Map() };
    return {
      proofs: nothing,
      problems: [`${String(error)}: run the self-test of the runner (npm test), and npm run proof.`],
    };
  }
}

function readJson<Content>(root: string, path: string): Content {
  try {
    return JSON.parse(readFileSync(join(root, path), 'utf8')) as Content;
  } catch (error) {
    throw new Error(`${path} cannot be read (${String(error)})`);
  }
}
