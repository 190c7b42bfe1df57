// `npm run proof`: tries the planted faults on the tests and scenarios that name what they break, and keeps who failed in
// docs/internals/proof.json. Only what has changed is tried again, unless --all or --only PATTERN says otherwise. Ends with
// `N passed, N failed`: a fault that breaks a requirement, and no test that names it fails, has failed.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { workOff } from '../conformance/selftest/idle-crew.ts';
import { type Fault, fits, readFaults } from './faults/catalogue.ts';
import { openPlanter } from './faults/planter.ts';
import { faultInputs } from './proof/inputs.ts';
import { readNamingFiles } from './proof/naming-files.ts';
import {
  emptyProof,
  type FaultProof,
  type Proof,
  proofFile,
  proofJson,
  renewed,
  staleFaults,
} from './proof/report.ts';
import { tryFault } from './proof/try-fault.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const path = join(root, proofFile);
const crew = { least: 2, most: 3, idleShare: 0.2 } as const;

const { values } = parseArgs({
  options: { all: { type: 'boolean', default: false }, only: { type: 'string' } },
});
const faults = readFaults(root).filter(({ breaks }) => breaks !== undefined);
const inputs = faultInputs(faults, openPlanter(root), readNamingFiles(root));
const before = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Proof) : emptyProof;
const digests = new Map([...inputs].map(([id, { digest }]) => [id, digest]));
const stale = new Set(staleFaults(before, digests));
const entries = new Map<string, FaultProof>();
let failedCount = 0;

function isChosen(fault: Fault): boolean {
  if (values.only !== undefined) return fits(fault, values.only);
  return values.all || stale.has(fault.id);
}

async function prove(fault: Fault): Promise<void> {
  const input = inputs.get(fault.id);
  if (input === undefined) return;
  const seenBy = await tryFault(root, fault, input.planted, input.files);
  entries.set(fault.id, { digest: input.digest, seenBy });
  const unseen = (fault.breaks ?? []).filter((id) => seenBy[id] === undefined);
  if (unseen.length > 0) failedCount += 1;
  const text = Object.entries(seenBy).map(([id, by]) => `${id} by ${by.join(', ')}`);
  process.stdout.write(
    `${unseen.length === 0 ? 'seen' : 'FAIL'} ${fault.id}: ${[...text, ...unseen.map((id) => `${id} by no test`)].join('; ')}\n`,
  );
  keep();
}

/** After each fault, so that an interrupted run goes on where it was. */
function keep(): void {
  writeFileSync(
    path,
    proofJson(
      renewed(
        before,
        entries,
        faults.map(({ id }) => id),
      ),
    ),
  );
}

const chosen = faults.filter(isChosen);
await workOff(chosen, prove, crew);
keep();
process.stdout.write(`${chosen.length - failedCount} passed, ${failedCount} failed\n`);
process.exitCode = failedCount === 0 ? 0 : 1;
