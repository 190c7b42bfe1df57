// Bundles a worker and its imports into one file for plain Node. A plugin may change sources in the bundle; the files on disk are not
// changed.

import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Builds into `folder` below the root and returns the bundle's path. `worker`: the path of its source, below the root. */
export async function bundleWorker(
  folder: string,
  name: string,
  plugins: readonly Plugin[] = [],
  worker = 'src/testing/simulation/worker.ts',
): Promise<string> {
  const outfile = resolve(root, folder, `${name}.mjs`);
  await build({
    absWorkingDir: root,
    entryPoints: [worker],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    logLevel: 'silent',
    plugins: [...plugins],
  });
  return outfile;
}
