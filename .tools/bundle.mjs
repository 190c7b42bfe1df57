// Bundles `truemq` (src/cli/main.ts and what it needs of src/) into a folder: main.js and a file for each part that is loaded on demand. A broker
// starts in four fifths of the time that it takes to load a hundred and seventy files. Packages stay outside. Run directly: `bundle.mjs --out FOLDER`.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildSync } from 'esbuild';

const { values } = parseArgs({ options: { out: { type: 'string' } } });
if (values.out === undefined) throw new Error('bundle.mjs needs --out FOLDER');
buildSync({
  entryPoints: [fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))],
  outdir: values.out,
  bundle: true,
  splitting: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node20',
  sourcemap: 'linked',
  // Without the sources, which are part of no package either.
  sourcesContent: false,
  legalComments: 'none',
  logLevel: 'warning',
});
