// `npm run proof`: tries the planted faults on the tests and scenarios that name what they break, and keeps who failed in
// docs/internals/proof.json. Only what has changed is tried again, unless --all or --only PATTERN says otherwise. Ends with
// `N passed, N failed`: a requirement that tests name, and none of them fails on any fault that breaks it, has failed.
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
  provedFiles,
  renewed,
  staleFaults,
} from './proof/report.ts';
import { controlFailures, tryFault } from './proof/try-fault.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const path = join(root, proofFile);
const crew = { least: 2, most: 3, idleShare: 0.2 } as const;

// So that what is being tried ends with it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const { values } = parseArgs({
  options: { all: { type: 'boolean', default: false }, only: { type: 'string' } },
});
const faults = readFaults(root).filter(({ breaks }) => breaks !== undefined);
const namingFiles = readNamingFiles(root);
const inputs = faultInputs(faults, openPlanter(root), namingFiles);
const before = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Proof) : emptyProof;
const digests = new Map([...inputs].map(([id, { digest }]) => [id, digest]));
const stale = new Set(staleFaults(before, digests));
const entries = new Map<string, FaultProof>();

function isChosen(fault: Fault): boolean {
  if (values.only !== undefined) return fits(fault, values.only);
  return values.all || stale.has(fault.id);
}

async function prove(fault: Fault): Promise<void> {
  const input = inputs.get(fault.id);
  if (input === undefined) return;
  const seenBy = await tryFault(root, fault, input.planted, input.files);
  entries.set(fault.id, { digest: input.digest(seenBy), seenBy });
  const unseen = (fault.breaks ?? []).filter((id) => seenBy[id] === undefined);
  const seen = Object.entries(seenBy).map(([id, by]) => `${id} by ${by.join(', ')}`);
  const text = [...seen, ...unseen.map((id) => `${id} by no test`)].join('; ');
  process.stdout.write(`${fault.id}: ${text}\n`);
  keep();
}

/** After each fault, so that an interrupted run goes on where it was. */
function keep(): Proof {
  const ids = faults.map(({ id }) => id);
  const proof = renewed(before, entries, ids);
  writeFileSync(path, proofJson(proof));
  return proof;
}

/** Throws when tests fail without any fault: they would seem to see every one. */
async function control(chosen: readonly Fault[]): Promise<void> {
  const files = new Set(chosen.flatMap(({ id }) => inputs.get(id)?.files ?? []));
  const source = 'src/protocol/command.ts';
  const unchanged = { path: source, text: readFileSync(join(root, source), 'utf8') };
  const failures = files.size === 0 ? [] : await controlFailures(root, unchanged, [...files]);
  if (failures.length > 0) throw new Error(failures.join('\n'));
}

const chosen = faults.filter(isChosen);
await control(chosen);
await workOff(chosen, prove, crew);
const proved = provedFiles(keep());
const named = new Set(namingFiles.flatMap(({ requirements }) => [...requirements]));
const broken = new Set(chosen.flatMap(({ breaks = [] }) => breaks));
const claimed = [...broken].filter((id) => named.has(id));
const unproved = claimed.filter((id) => !proved.has(id)).sort();
for (const id of unproved)
  process.stdout.write(`FAIL ${id}: tests name it, and none fails on a planted fault that breaks it\n`);
process.stdout.write(`${claimed.length - unproved.length} passed, ${unproved.length} failed\n`);
process.exitCode = unproved.length === 0 ? 0 : 1;
