// Builds the reference broker with one planted fault: its sources bundled into one file, with one text replaced on the way, in memory.
// The sources on disk are never touched. A text that is not there exactly once is an error: the fault would not be planted,
// or planted elsewhere than meant.
import { readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { Plugin } from 'esbuild';
import { build } from 'esbuild';
import type { Mutant } from '../mutants/mutant.ts';

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

/** Builds and returns the bundle's path from the root. Throws when the text is not there exactly once. */
export async function buildBroker(
  root: string,
  mutant: Mutant,
  kind: BundleKind = 'program',
): Promise<string> {
  const outfile = `${mutantFolder}/${mutant.id}.${kind}.mjs`;
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
    plugins: [planting(root, mutant)],
  });
  return outfile;
}

function planting(root: string, mutant: Mutant): Plugin {
  const path = resolve(root, mutant.file);
  const contents = mutatedText(readFileSync(path, 'utf8'), mutant);
  // Each file that fits is asked for from another process, so only those of this name are.
  const filter = new RegExp(`${basename(path).replaceAll('.', '[.]')}$`);
  return {
    name: 'plant-fault',
    setup: (builder) => {
      builder.onLoad({ filter }, (args) => (args.path === path ? { contents, loader: 'ts' } : undefined));
    },
  };
}

/** Throws unless `find` stands in the text exactly once and the replacement changes it. */
export function mutatedText(text: string, mutant: Pick<Mutant, 'file' | 'find' | 'replace'>): string {
  const pieces = text.split(mutant.find);
  if (pieces.length !== 2) {
    throw new Error(`the text to replace stands ${pieces.length - 1} times in ${mutant.file}, not once`);
  }
  if (mutant.find === mutant.replace) throw new Error('the replacement changes nothing');
  return pieces.join(mutant.replace);
}
