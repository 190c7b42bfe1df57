// Bundles `truemq` (src/cli/main.ts and what it needs of src/) into a folder: main.js and a file for each part that is loaded on demand. A broker
// starts in four fifths of the time that it takes to load a hundred and seventy files. Packages stay outside, but for listhen and most of what it
// imports: loading these from their own files takes another fifth of a start. Their licenses stand in licenses.txt. Run directly: `bundle.mjs --out FOLDER`.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

/** listhen, and what it imports. */
const bundledPackages = [
  'consola',
  'defu',
  'get-port-please',
  'http-shutdown',
  'listhen',
  'pathe',
  'std-env',
];

/** Of listhen's: certificates of its own, and addresses as pictures for telephones. Nobody here asks it for them. With the names imported. */
const neverUsed = { 'node-forge': [], uqr: ['renderUnicodeCompact'] };

/** listhen only logs with it. Its other form makes a segmenter of text for tables, which takes 15 ms of a start. */
const consola = 'consola/basic';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({ options: { out: { type: 'string' } } });
if (values.out === undefined) throw new Error('bundle.mjs needs --out FOLDER');

const { metafile } = await build({
  entryPoints: ['src/cli/main.ts'],
  absWorkingDir: root,
  outdir: values.out,
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  sourcemap: 'linked',
  // Without the sources, which are part of no package either.
  sourcesContent: false,
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
  // http-shutdown is a CommonJS module.
  banner: {
    js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
  },
  plugins: [{ name: 'packages', setup: placePackages }],
});
writeFileSync(join(values.out, 'licenses.txt'), licenses());

/** Inside, outside, or left out: what listhen loads on demand, and what is never used of it. */
function placePackages({ onResolve, onLoad, resolve }) {
  onResolve({ filter: /./ }, ({ path, kind, importer, resolveDir }) => {
    if (kind === 'entry-point') return undefined;
    const isOfPackage = /[\\/]node_modules[\\/]/.test(importer);
    if (path in neverUsed || (isOfPackage && kind === 'dynamic-import'))
      return { path, namespace: 'left-out' };
    if (path === 'consola') return resolve(consola, { kind, importer, resolveDir });
    if (/^[./]/.test(path) || bundledPackages.includes(packageOf(path))) return undefined;
    return { path, external: true };
  });
  onLoad({ filter: /./, namespace: 'left-out' }, ({ path }) => {
    const names = ['default', ...(neverUsed[path] ?? [])].map((name) => `leftOut as ${name}`);
    return {
      contents: `const leftOut = new Proxy(() => {}, { get: refuse, apply: refuse });
        function refuse() { throw new Error('${path} is not part of the bundle'); }
        export { ${names.join(', ')} };`,
    };
  });
}

function packageOf(path) {
  return path.split('/', 1)[0];
}

/** Of each package that is part of the bundle. */
function licenses() {
  const inside = Object.keys(metafile.inputs).flatMap(
    (path) => /node_modules\/([^/]+)/.exec(path)?.[1] ?? [],
  );
  return [...new Set(inside)]
    .sort()
    .map((name) => `${name}\n\n${licenseOf(name)}\n`)
    .join('\n\n');
}

function licenseOf(name) {
  const folder = join(root, 'node_modules', name);
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (file === undefined) throw new Error(`${name} has no file with its license, so it cannot be bundled`);
  return readFileSync(join(folder, file), 'utf8').trim();
}
