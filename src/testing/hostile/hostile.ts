// `npm run hostile`: every attack at full strength, or those named, beside a normal workload, and a table of what it did to that. With
// `--write` the table becomes docs/internals/hostile.md. Fails when the broker crashes, leaves the workload undone,
// takes too much memory, or lets wrong logins keep right ones out.

import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { attackComplaints } from './attack-complaints.ts';
import { attackNames } from './attacks.ts';
import { hostileDocument, hostileTable } from './hostile-report.ts';
import { loginComplaints } from './login-flood.ts';
import { type AttackResult, runAttack } from './run-attack.ts';

const PER_SECOND = 500;
const SECONDS = 10;

const page = new URL('../../../docs/internals/hostile.md', import.meta.url);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { write: { type: 'boolean', default: false } },
});
const unknown = positionals.filter((name) => !attackNames.some((one) => one === name));
if (unknown.length > 0)
  throw new Error(`${unknown.join(', ')}: no such attack; there are ${attackNames.join(', ')}`);

const results: AttackResult[] = [];
const failed: string[] = [];
for (const attack of attackNames) {
  if (positionals.length > 0 && !positionals.includes(attack)) continue;
  const load = { messageCount: PER_SECOND * SECONDS, perSecond: PER_SECOND };
  const result = await runAttack({ attack, scale: 1, ...load });
  results.push(result);
  const { logins } = result.deeds;
  const complaints = [
    ...attackComplaints(result, load.messageCount),
    ...(logins === undefined ? [] : loginComplaints(logins)),
  ];
  console.log(
    `${complaints.length === 0 ? 'ok' : 'FAIL'} ${attack}: ${JSON.stringify(result.deeds)} ${complaints.join('; ')}`,
  );
  if (complaints.length > 0) failed.push(attack);
}
console.log(`\n${hostileTable(results)}`);
if (values.write && positionals.length === 0)
  writeFileSync(page, hostileDocument(results, PER_SECOND, SECONDS));
console.log(`${results.length - failed.length} passed, ${failed.length} failed`);
process.exitCode = failed.length === 0 ? 0 : 1;
