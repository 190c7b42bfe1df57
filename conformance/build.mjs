// Builds the runner into one file, dist/main.mjs, with everything it judges by inside: checks, requirements, tables, golden frames,
// test certificates, titles of planted faults, and schemas. The reader of src/suite-data.ts is replaced by the data it would have read, so the package
// needs nothing beside it. What is taken in from other packages is named, with their licenses, in dist/third-party.txt. `--out DIR`
// builds elsewhere.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));

/** Runs the real reader once, at build time, and puts its result in its place. */
const embedSuiteData = {
  name: 'embed-suite-data',
  setup(builder) {
    builder.onLoad({ filter: /src[\\/]suite-data\.ts$/ }, async ({ path }) => {
      const data = await readSuiteData(path);
      const contents = [
        `const data = ${JSON.stringify(data)};`,
        'export function loadSuiteData() { return data; }',
        'export function loadCertificates() { return data.certificates; }',
        '',
      ].join('\n');
      return { contents, loader: 'js' };
    });
  },
};

async function readSuiteData(path) {
  const { outputFiles } = await build({
    entryPoints: [path],
    bundle: true,
    platform: 'node',
    format: 'esm',
    write: false,
    packages: 'external',
    define: { 'import.meta.url': JSON.stringify(new URL('src/suite-data.ts', import.meta.url).href) },
  });
  const [file] = outputFiles;
  if (file === undefined) throw new Error('esbuild wrote nothing');
  // A data: module cannot resolve packages, so the reader is run from a file beside this one.
  const { rm } = await import('node:fs/promises');
  const temporary = `${here}.suite-data.${process.pid}.mjs`;
  await writeFile(temporary, file.contents);
  try {
    const reader = await import(pathToFileURL(temporary).href);
    return reader.loadSuiteData();
  } finally {
    await rm(temporary, { force: true });
  }
}

const outAt = process.argv.indexOf('--out');
const out = outAt < 0 ? join(here, 'dist') : (process.argv[outAt + 1] ?? '');

const { metafile } = await build({
  entryPoints: [`${here}src/cli/process.ts`],
  outfile: join(out, 'main.mjs'),
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  legalComments: 'none',
  metafile: true,
  absWorkingDir: here,
  plugins: [embedSuiteData],
  banner: {
    js: "import { createRequire as requireFor } from 'node:module'; const require = requireFor(import.meta.url);",
  },
});
await writeFile(join(out, 'third-party.txt'), await thirdPartyText(Object.keys(metafile.inputs)));

/** The licenses of the packages that were taken into the file. */
async function thirdPartyText(inputs) {
  const folders = inputs.flatMap((path) => /^.*node_modules[/](?:@[^/]+[/])?[^/]+/.exec(path) ?? []);
  const texts = [...new Set(folders)].sort().map(async (folder) => {
    const { name, version, license } = JSON.parse(await readFile(join(here, folder, 'package.json'), 'utf8'));
    return `${name} ${version} (${license})\n\n${await readFile(join(here, folder, 'LICENSE'), 'utf8')}`;
  });
  return `dist/main.mjs contains parts of these packages:\n\n${(await Promise.all(texts)).join('\n\n')}`;
}

const { size } = await import('node:fs').then(({ statSync }) => statSync(join(out, 'main.mjs')));
const { version } = JSON.parse(await readFile(`${here}package.json`, 'utf8'));
process.stdout.write(`truemq-conformance ${version}: main.mjs, ${Math.round(size / 1024)} KiB\n`);
