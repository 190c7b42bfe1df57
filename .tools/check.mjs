// `npm run check`: format, lint, types, import rules, tidiness, unit and property tests, in under a minute; for use
// before every commit. Needs Node's own modules only.
import './node-version.mjs';
import { ensureUnpacked, runParts } from './install.mjs';

if (ensureUnpacked()) runParts(['check']);
else process.exitCode = 1;
