// Compares the catalogue of requirements (spec/requirements/) with what ran (out/test/): run it after all tests, as
// `node --import tsx .tools/traceability.ts`. With --write it brings the catalogue's coveredBy lists and planned marks up to
// what passed. Ends with 1 on any fault, 2 on a wrong flag. Must not judge an incomplete run, nor write from one.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  type Catalogue,
  parseCatalogue,
  readCatalogueFiles,
  requirementsOf,
} from './traceability/catalogue.ts';
import { readRun } from './traceability/inputs.ts';
import { coverageOf, findFaults, groupByRequirement, nothingShown, type Run } from './traceability/join.ts';
import { readProofs } from './traceability/proof-inputs.ts';
import { notCalledBroken, provedEvidence } from './traceability/proved.ts';
import { renderProblems, renderReport } from './traceability/report.ts';
import { rewriteCoverage } from './traceability/rewrite.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const directory = join(root, 'spec/requirements');

process.exitCode = main(process.argv.slice(2));

function main(args: readonly string[]): number {
  const flags = readFlags(args);
  if (flags === undefined) return 2;
  const reading = readRun(root);
  const { proofs, problems: proofProblems } = readProofs(root);
  const problems = [...loadCatalogue().problems, ...reading.problems, ...proofProblems];
  if (problems.length > 0) {
    process.stdout.write(renderProblems(problems));
    return 1;
  }
  const { evidence } = reading;
  const run = { evidence, proved: provedEvidence(evidence, proofs) };
  if (flags.write) writeCoverage(run);
  const { areas } = loadCatalogue();
  const findings = [...reading.findings, ...findFaults(requirementsOf(areas), run)];
  const uncalled = notCalledBroken(run.proved, proofs);
  if (uncalled.length > 0)
    process.stdout.write(`called broken with none of their faults in this run: ${uncalled.join(', ')}\n`);
  process.stdout.write(renderReport(areas, findings));
  return findings.length === 0 ? 0 : 1;
}

function readFlags(args: readonly string[]): { readonly write: boolean } | undefined {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { write: { type: 'boolean', default: false } },
    });
    return values;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}. The only flag is --write.`);
    return undefined;
  }
}

function loadCatalogue(): Catalogue {
  const schema = JSON.parse(readFileSync(join(root, 'spec/requirements.schema.json'), 'utf8')) as object;
  return parseCatalogue(readCatalogueFiles(directory), schema);
}

function writeCoverage({ proved }: Run): void {
  const proof = groupByRequirement(proved);
  for (const file of readCatalogueFiles(directory)) {
    const { text, lost } = rewriteCoverage(file.text, (id) => coverageOf(proof.get(id) ?? nothingShown));
    if (text !== file.text) writeFileSync(file.path, text);
    for (const id of lost)
      console.warn(`${id} was covered and is planned again: nothing that passed proves it any more.`);
  }
}
