// Proves that the package works alone: `node --import tsx conformance/selftest/package.ts`. Runs beside the self-test of the runner in
// `npm test`, because most of its time is waiting. Prints what failed, and ends with `N passed, N failed`.
import { packageCases } from './package-proof.ts';
import { root } from './root.ts';

const cases = packageCases(root);
const failed = cases.filter(({ faults }) => faults.length > 0);
for (const { title, faults } of failed)
  process.stdout.write(`FAIL ${title}\n${faults.map((fault) => `     ${fault}\n`).join('')}`);
process.stdout.write(`${cases.length - failed.length} passed, ${failed.length} failed\n`);
process.exitCode = failed.length === 0 && cases.length > 0 ? 0 : 1;
