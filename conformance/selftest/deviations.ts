// Runs every check on brokers with deviations that real brokers have, each alone and all together:
// `node --import tsx conformance/selftest/deviations.ts [--only PATTERN]`. The requirements that the run calls broken must be those that the
// faults name. Prints a line for each broker and what is wrong with it, and ends with `N passed, N failed`. `--only` leaves out the broker
// with all of them.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fits } from '../../.tools/faults/catalogue.ts';
import { complaintsAbout, type Deviation, readDeviations } from './deviation-set.ts';
import { workOff } from './idle-crew.ts';
import { mutantFolder } from './mutant-build.ts';
import { root } from './root.ts';

/** A full run has many checks at a time already. */
const crew = { least: 1, most: 3, idleShare: 0.3 } as const;

const totals = { passed: 0, failed: 0 };

async function tryBroker(planted: readonly [Deviation, ...Deviation[]]): Promise<void> {
  const startedAt = performance.now();
  const name = planted.length === 1 ? planted[0].id : `all ${planted.length} together`;
  const { wrong, unexplained } = await complaintsAbout(planted).catch((error: Error) => ({
    wrong: [error.message],
    unexplained: [],
  }));
  totals[wrong.length === 0 ? 'passed' : 'failed'] += 1;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  const lines = [
    `${wrong.length === 0 ? 'pass' : 'FAIL'} ${name}, ${seconds} s`,
    ...wrong.map((complaint) => `     ${complaint}`),
    ...unexplained.map((text) => `     note: ${text}`),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

const { values } = parseArgs({ options: { only: { type: 'string' } } });
const { only } = values;
const chosen = readDeviations().filter((one) => only === undefined || fits(one, only));
const [first, ...others] = chosen;
if (first === undefined) throw new Error(`No deviation has an id that fits ${only}.`);
const alone = chosen.map((one) => [one] as const);
const brokers = only === undefined ? [...alone, [first, ...others] as const] : alone;
await workOff(brokers, tryBroker, crew);
rmSync(join(root, mutantFolder), { recursive: true, force: true });
process.stdout.write(`${totals.passed} passed, ${totals.failed} failed\n`);
process.exitCode = totals.failed === 0 ? 0 : 1;
