// Builds the reference broker with planted faults: its sources bundled into one file, with a text replaced for each on the way, in memory.
// The sources on disk are never touched.
import { build } from 'esbuild';
import { plantingPlugin } from '../../.tools/faults/esbuild-plugin.ts';
import { type Anchored, openPlanter } from '../../.tools/faults/planter.ts';
import { root } from './root.ts';

/**
 * Where bundles go: as deep below the root as the real build, so that relative paths at run time lead to the same places, and
 * apart for each process, so that two self-tests do not take each other's bundles away.
 */
export const mutantFolder = `out/mutants-${process.pid}`;

/** What a bundle is: the program `truemq`, or one that holds many brokers, see host-program.ts. */
export type BundleKind = 'program' | 'host';

/** Text, because nothing here may import the broker's sources. */
const entries: Readonly<Record<BundleKind, string>> = {
  program: "import './src/cli/main.ts';",
  host: `
    import { answerRequest } from './src/cli/adapter.ts';
    import { hostBrokers } from './conformance/selftest/host-program.ts';
    hostBrokers(answerRequest);`,
};

const planter = openPlanter(root);
let bundleCount = 0;

/** Builds and returns the bundle's path from the root. Throws when the faults cannot be planted, alone or together. */
export async function buildBroker(
  faults: readonly [Anchored, ...Anchored[]],
  kind: BundleKind = 'program',
): Promise<string> {
  bundleCount += 1;
  const name = faults.length === 1 ? faults[0].id : `together-${bundleCount}`;
  const outfile = `${mutantFolder}/${name}.${kind}.mjs`;
  await build({
    absWorkingDir: root,
    stdin: { contents: entries[kind], resolveDir: root, loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    logLevel: 'silent',
    plugins: planter.plantTogether(faults).map((planted) => plantingPlugin(root, planted)),
  });
  return outfile;
}
