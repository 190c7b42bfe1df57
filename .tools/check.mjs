// `npm run check`: format, lint, types, import rules, tidiness, unit and property tests, in under a minute; for use
// before every commit. Properties are tried a quarter as often as by `npm test`. Needs Node's own modules only.
import './node-version.mjs';
import { ensureUnpacked, runParts } from './install.mjs';

process.env['TRUEMQ_QUICK'] ??= '1';
if (ensureUnpacked()) runParts(['check']);
else process.exitCode = 1;
