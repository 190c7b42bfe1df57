// Brings the rules in spec/*.md up to the catalogue: `node --import tsx .tools/spec-text.ts --write`. Without the flag it names
// the files that are behind and ends with 1. Must not touch the prose; spec-text.test.ts compares the two in every test run.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { refreshRules } from './spec-text/rules.ts';
import { parseCatalogue, readCatalogueFiles, requirementsOf } from './traceability/catalogue.ts';

const directory = fileURLToPath(new URL('../spec', import.meta.url));

process.exitCode = main();

function main(): number {
  const { values } = parseArgs({ options: { write: { type: 'boolean', default: false } } });
  const schema = JSON.parse(readFileSync(join(directory, 'requirements.schema.json'), 'utf8')) as object;
  const { areas, problems } = parseCatalogue(readCatalogueFiles(join(directory, 'requirements')), schema);
  if (problems.length > 0) {
    console.error(problems.join('\n'));
    return 1;
  }
  const requirements = new Map(requirementsOf(areas).map((requirement) => [requirement.id, requirement]));
  const behind = readdirSync(directory)
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(directory, name))
    .filter((path) => refreshRules(readFileSync(path, 'utf8'), requirements) !== readFileSync(path, 'utf8'));
  for (const path of behind) {
    console.log(`${path} ${values.write ? 'was brought' : 'is not'} up to the catalogue`);
    if (values.write) writeFileSync(path, refreshRules(readFileSync(path, 'utf8'), requirements));
  }
  return values.write || behind.length === 0 ? 0 : 1;
}
