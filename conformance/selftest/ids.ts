// All published ids of checks, in conformance/ids.txt: `node --import tsx conformance/selftest/ids.ts` prints the mistakes in the list,
// `--write` adds missing ids. An id is permanent, because baselines and reports of other people contain it. A withdrawn id stays in the list
// with a reason, and no other check gets it.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { checks } from '../src/checks/index.ts';
import { publishedFaults, readIds, unlistedIds, writtenIds } from './published-ids.ts';

const path = fileURLToPath(new URL('../ids.txt', import.meta.url));
const published = readIds(readFileSync(path, 'utf8'));
const unlisted = unlistedIds(published, checks);

if (process.argv.includes('--write')) {
  writeFileSync(path, writtenIds(published, checks));
  process.stdout.write(`${unlisted.length} ids added\n`);
} else {
  const faults = publishedFaults(published, checks);
  process.stdout.write([...faults, `${unlisted.length} ids are not listed yet`, ''].join('\n'));
  process.exitCode = faults.length === 0 ? 0 : 1;
}
