// `npm run hostile`: every attack at full strength, or those named, beside a normal workload, in three rounds or `--rounds N`, on a broker that limits rates
// as it does by default and on one that does not, and a table for each of what it did to the workload. With `--write` the tables become
// docs/internals/hostile.md. Fails when the broker crashes, leaves the workload undone, takes too much memory, or lets wrong logins keep right ones out; not when a goal of time is missed.

import { rmSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { attackComplaints } from './attack-complaints.ts';
import { figuresOf } from './attack-figures.ts';
import { type AttackName, attackNames } from './attacks.ts';
import { hostileDocument, hostileTables } from './hostile-report.ts';
import { loginComplaints } from './login-flood.ts';
import { bundlePrograms } from './programs.ts';
import { type AttackResult, runAttack } from './run-attack.ts';

const PER_SECOND = 1000;
const SECONDS = 6;
const MAX_ROUNDS = 100;

const page = new URL('../../../docs/internals/hostile.md', import.meta.url);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { write: { type: 'boolean', default: false }, rounds: { type: 'string', default: '3' } },
});
const unknown = positionals.filter((name) => !attackNames.some((one) => one === name));
if (unknown.length > 0)
  throw new Error(`${unknown.join(', ')}: no such attack; there are ${attackNames.join(', ')}`);

const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1 || rounds > MAX_ROUNDS)
  throw new Error(`--rounds must be a whole number from 1 to ${MAX_ROUNDS}, and is ${values.rounds}`);
const names =
  positionals.length === 0 ? attackNames : attackNames.filter((name) => positionals.includes(name));
const messageCount = PER_SECOND * SECONDS;
const folder = `out/hostile-${process.pid}`;
const programs = await bundlePrograms(folder);
const results: AttackResult[] = [];
const failed: string[] = [];
for (let round = 1; round <= rounds; round += 1) {
  for (const attack of names) {
    for (const limitsRates of [true, false]) await runOne(attack, limitsRates, round);
  }
}
rmSync(folder, { recursive: true, force: true });
const figures = [true, false].flatMap((limitsRates) =>
  names.map((name) =>
    figuresOf(results.filter((one) => one.attack === name && one.limitsRates === limitsRates)),
  ),
);
const wentFirst = results.every((result) => result.wentFirst);
if (!wentFirst)
  console.log(
    'The broker and the workload waited for other programs: this system did not let them go first (chrt --fifo, or a priority of -20).',
  );
console.log(`\n${hostileTables(figures)}`);
if (values.write && positionals.length === 0) {
  const load = { perSecond: PER_SECOND, seconds: SECONDS, rounds, wentFirst };
  writeFileSync(page, hostileDocument(figures, load));
}
console.log(`${results.length - failed.length} passed, ${failed.length} failed`);
process.exitCode = failed.length === 0 ? 0 : 1;

async function runOne(attack: AttackName, limitsRates: boolean, round: number): Promise<void> {
  const load = { programs, messageCount, perSecond: PER_SECOND };
  const result = await runAttack({ attack, limitsRates, scale: 1, ...load, isMeasured: true });
  results.push(result);
  const complaints = complaintsAbout(result);
  const outcome = complaints.length === 0 ? 'ok' : 'FAIL';
  const mode = limitsRates ? 'rates limited' : 'rates not limited';
  console.log(
    `${outcome} ${round} ${attack}, ${mode}: ${JSON.stringify(result.deeds)} ${complaints.join('; ')}`,
  );
  if (complaints.length > 0) failed.push(attack);
}

function complaintsAbout(result: AttackResult): readonly string[] {
  const { limitsRates, deeds } = result;
  return [
    ...attackComplaints(result, messageCount),
    // Where rates are limited, most wrong logins are closed before they are answered.
    ...(deeds.logins === undefined || limitsRates ? [] : loginComplaints(deeds.logins)),
  ];
}
