// `npm test`: installs and builds what is missing, then runs every part of the tests (runner/parts.ts) and sums them
// up. `npm test -- features` runs the parts named. Needs Node's own modules only.
import './node-version.mjs';
import { ensureAllBuilt } from './build.mjs';
import { ensureInstalled, ensureUnpacked, runParts } from './install.mjs';

const names = process.argv.slice(2);
// Of all parts, check and life begin by compiling, beside what does not need it.
const ensurePackages = names.length === 0 ? ensureUnpacked : ensureInstalled;
if (ensurePackages() && ensureAllBuilt()) {
  runParts(names);
} else {
  console.log('0 passed, 1 failed');
  process.exitCode = 1;
}
