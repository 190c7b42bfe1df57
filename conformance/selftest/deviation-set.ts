// Deviations that real brokers have, as planted faults, and the run of all checks on brokers with them: the requirements that the run calls
// broken must be those that the faults name.
import { type Fault, readFaults } from '../../.tools/faults/catalogue.ts';
import { comparison } from './deviations-comparison.ts';
import { fullRun } from './phases.ts';
import { root } from './root.ts';
import { smokeCheck } from './smoke-check.ts';

/** Ids of planted faults. The specification permits `body-faults-end-the-connection`: nothing may be called broken for it. */
const deviations = [
  'delivery-backlog-waits-for-publish',
  'expiry-never',
  'blocking-never-blocks',
  'dead-letters-in-a-list',
  'fan-out-first-ack-counts-for-all',
  'body-faults-end-the-connection',
  'body-enum-names-refused',
  'body-names-in-ascii-only',
  'metrics-counters-stay-zero',
] as const;

export type Deviation = Pick<Fault, 'id' | 'find' | 'replace' | 'within'> & {
  readonly breaks: readonly string[];
  readonly mustFail: readonly string[];
  readonly mayFail?: readonly string[];
};

/** The deviations, in the order of the list. */
export function readDeviations(): readonly Deviation[] {
  const faults = readFaults(root);
  return deviations.map((id) => deviationOf(id, faults));
}

function deviationOf(id: string, faults: readonly Fault[]): Deviation {
  const fault = faults.find((candidate) => candidate.id === id);
  if (fault === undefined) throw new Error(`There is no planted fault ${id}.`);
  const { runner = { mustFail: [] }, breaks = [], ...anchored } = fault;
  return { ...anchored, breaks, ...runner };
}

/** What is wrong with the verdict on a broker that has these deviations. Throws when it cannot be tried. */
export async function complaintsAbout(
  planted: readonly [Deviation, ...Deviation[]],
): Promise<{ readonly wrong: readonly string[]; readonly unexplained: readonly string[] }> {
  const { results } = await fullRun(planted);
  const smoke = results.find(({ id }) => id === smokeCheck.id);
  if (smoke?.outcome !== 'pass') throw new Error(`it does not count: ${smoke?.reason ?? 'no smoke test'}`);
  const { wrong, missing, unexplained } = comparison(planted, results);
  return { wrong: [...wrong, ...missing], unexplained };
}
