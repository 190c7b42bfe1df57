// Checks the import rules of .config/dependency-cruiser.cjs over the whole tree and ends with `N passed, N failed`, one
// per rule. Finding hardly any modules is a failure: a cruise that saw nothing would pass every rule.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { cruiseTree, type Violation } from './import-rules/cruise.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const fewestModules = 20;

const folders = ['src', 'features', 'conformance', '.tools'].filter((folder) =>
  existsSync(`${root}/${folder}`),
);
const { violations, ruleNames, moduleCount } = await cruiseTree(root, folders);

for (const violation of violations) console.log(describe(violation));
const broken = new Set(violations.map((violation) => violation.rule));
if (moduleCount < fewestModules) broken.add(`only ${moduleCount} modules were found`);
console.log(`${moduleCount} modules in ${folders.join(', ')}`);
console.log(`${ruleNames.length - broken.size} passed, ${broken.size} failed`);
process.exitCode = broken.size === 0 ? 0 : 1;

function describe({ rule, from, to, comment }: Violation): string {
  return `${from} -> ${to}\n    ${rule}: ${comment}`;
}
