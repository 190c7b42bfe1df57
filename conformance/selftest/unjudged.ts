// Looks for planted faults that the runner sees though none of its checks is named, and for those that it does not see:
// `node --import tsx conformance/selftest/unjudged.ts [--only PATTERN] [--list] [--first]`. Plants each fault without the entry `runner`
// alone and runs the checks of the areas of what it breaks, without those that play thousands of messages; with `--first` until one fails.
// A fault that is seen gets an entry `runner`, and one that is not is worth a check, if it can be seen from outside at all. It takes up to
// half an hour, and is no test.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Fault, fits, readFaults } from '../../.tools/faults/catalogue.ts';
import { buildBroker, mutantFolder } from './mutant-build.ts';
import { isKill } from './mutant-verdict.ts';
import { areaRunOf } from './phases.ts';
import { root } from './root.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '*' },
    list: { type: 'boolean', default: false },
    first: { type: 'boolean', default: false },
  },
});
const unjudged = readFaults(root).filter(
  (fault) => fault.runner === undefined && fault.breaks !== undefined && fits(fault, values.only),
);
for (const fault of unjudged) {
  const outcome = values.list ? '' : `: ${await outcomeOf(fault)}`;
  process.stdout.write(`${fault.id}, ${fault.title} (${fault.breaks?.join(', ')})${outcome}\n`);
}
rmSync(join(root, mutantFolder), { recursive: true, force: true });

/** What became of one fault, in words. */
async function outcomeOf(fault: Fault): Promise<string> {
  try {
    const areas = new Set(fault.breaks?.map((id) => `${id.replace(/-.*$/, '')}-*`));
    const { results, verdict } = await areaRunOf([...areas], (kind) => buildBroker([fault], kind), {
      failFast: values.first,
    });
    const kills = results.filter(isKill).map(({ id, outcome }) => `${id} (${outcome})`);
    if (kills.length > 0) return `SEEN by ${kills.join(', ')}`;
    return verdict.exitCode === 0 ? `NOT SEEN by ${results.length} checks` : `NO VERDICT: ${verdict.reason}`;
  } catch (error) {
    return `NOT TRIED: ${(error as Error).message}`;
  }
}
