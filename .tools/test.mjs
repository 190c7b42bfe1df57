// `npm test`: installs and builds what is missing, then runs every part of the tests (runner/parts.ts) and sums them
// up. `npm test -- features` runs the parts named. Needs Node's own modules only.
import './node-version.mjs';
import { ensureAllBuilt } from './build.mjs';
import { ensureInstalled, runParts } from './install.mjs';

if (ensureInstalled() && ensureAllBuilt()) {
  runParts(process.argv.slice(2));
} else {
  console.log('0 passed, 1 failed');
  process.exitCode = 1;
}
