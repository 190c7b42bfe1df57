// The programs that run as processes of their own in an attack, each bundled into one file: started from its sources, one takes a second of
// processor time, and there are two or three for each attack.

import { bundleWorker } from '../simulation/bundle.ts';

const names = ['normal-workload', 'hostile-client', 'discarding-server'] as const;

/** The path of each. */
export type Programs = Readonly<Record<(typeof names)[number], string>>;

/** Builds them into `folder` below the root of the repository. */
export async function bundlePrograms(folder: string): Promise<Programs> {
  const entries = names.map(async (name) => {
    const path = await bundleWorker(folder, name, [], `src/testing/hostile/${name}.ts`);
    return [name, path] as const;
  });
  return Object.fromEntries(await Promise.all(entries)) as Programs;
}
