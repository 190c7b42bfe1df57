// The worker and everything under it as one file for plain Node, with one text of the sources replaced on the way where a fault is to be
// planted. The sources on disk are never touched.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

const root = fileURLToPath(new URL('../../..', import.meta.url));

export type Planted = { readonly file: string; readonly find: string; readonly replace: string };

export type SimulationMutant = Planted & {
  /** What is wrong with this broker, in words that follow "when". */
  readonly title: string;
};

/** Builds into `folder` below the root and returns the bundle's path. Throws when the text is not there exactly once. */
export async function bundleWorker(folder: string, name: string, planted?: Planted): Promise<string> {
  const outfile = resolve(root, folder, `${name}.mjs`);
  await build({
    absWorkingDir: root,
    entryPoints: ['src/testing/simulation/worker.ts'],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    logLevel: 'silent',
    plugins: planted === undefined ? [] : [planting(planted)],
  });
  return outfile;
}

/** Throws unless `find` stands in the text exactly once and the replacement changes it. */
export function plantedText(text: string, { file, find, replace }: Planted): string {
  const pieces = text.split(find);
  if (pieces.length !== 2)
    throw new Error(`the text to replace stands ${pieces.length - 1} times in ${file}`);
  if (find === replace) throw new Error(`the replacement in ${file} changes nothing`);
  return pieces.join(replace);
}

function planting(planted: Planted): Plugin {
  const path = resolve(root, planted.file);
  const contents = plantedText(readFileSync(path, 'utf8'), planted);
  return {
    name: 'plant-fault',
    setup: (builder) => {
      builder.onLoad({ filter: /\.ts$/ }, (args) =>
        args.path === path ? { contents, loader: 'ts' } : undefined,
      );
    },
  };
}
