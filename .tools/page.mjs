// Bundles the page of the dashboard (src/http/dashboard/ui/) into a folder: index.html and assets/, each file also as .gz beside it, which is what the
// server sends. Names of assets contain a hash of their content, so browsers may keep them. Run directly: `page.mjs --out FOLDER`.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { buildSync } from 'esbuild';

const modules = fileURLToPath(new URL('../node_modules/', import.meta.url));
const source = fileURLToPath(new URL('../src/http/dashboard/ui/', import.meta.url));

/** Builds the page into `folder`, which is created. Returns the bytes of all files of the page, gzipped. Throws when bundling fails. */
export function buildPage(folder) {
  const assets = bundle();
  const files = [...assets, { path: 'index.html', content: indexPage(assets) }];
  let gzippedBytes = 0;
  for (const { path, content } of files) {
    const gzipped = gzipSync(content, { level: 9 });
    gzippedBytes += gzipped.length;
    write(join(folder, path), content);
    write(join(folder, `${path}.gz`), gzipped);
  }
  return { paths: files.map(({ path }) => path), gzippedBytes };
}

function bundle() {
  const { outputFiles } = buildSync({
    entryPoints: { app: join(source, 'main.tsx'), 'app-style': join(source, 'page.css') },
    entryNames: 'app-[hash]',
    outdir: join(source, 'assets'),
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    target: ['chrome120', 'firefox121', 'safari17'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfigRaw: {},
    define: { 'process.env.NODE_ENV': '"production"' },
    legalComments: 'none',
    banner: { js: licenses() },
    logLevel: 'warning',
  });
  return outputFiles.map(({ path, contents }) => ({ path: `assets/${basename(path)}`, content: contents }));
}

/** What the page contains of others must carry their licenses. */
function licenses() {
  const texts = ['preact', 'uplot'].map((name) => {
    const text = readFileSync(join(modules, name, 'LICENSE'), 'utf8').trim();
    return `${name}\n\n${text}`;
  });
  return `/*!\n${texts.join('\n\n')}\n*/`;
}

/** The page with the names of its assets. Throws if one is missing. */
function indexPage(assets) {
  const pathOf = (ending) => {
    const found = assets.filter(({ path }) => path.endsWith(ending));
    if (found.length !== 1) throw new Error(`the bundle has ${found.length} files ${ending}, not 1`);
    return found[0].path;
  };
  const page = readFileSync(join(source, 'index.html'), 'utf8');
  return Buffer.from(page.replace('{{style}}', pathOf('.css')).replace('{{script}}', pathOf('.js')));
}

function write(path, content) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const { out } = parseArgs({ options: { out: { type: 'string' } } }).values;
  if (out === undefined) throw new Error('page.mjs needs --out FOLDER');
  const { gzippedBytes } = buildPage(out);
  console.error(`The page of the dashboard: ${(gzippedBytes / 1000).toFixed(1)} kB gzipped.`);
}
