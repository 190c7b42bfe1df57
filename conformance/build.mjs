// Builds the runner into one file, dist/main.mjs, with everything it judges by inside: checks, requirements, tables, golden frames
// and schemas. The reader of src/suite-data.ts is replaced by the data it would have read, so the package needs nothing beside it.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));

/** Runs the real reader once, at build time, and puts its result in its place. */
const embedSuiteData = {
  name: 'embed-suite-data',
  setup(builder) {
    builder.onLoad({ filter: /src[\\/]suite-data\.ts$/ }, async ({ path }) => {
      const data = await readSuiteData(path);
      const contents = `const data = ${JSON.stringify(data)};\nexport function loadSuiteData() { return data; }\n`;
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
  const { writeFile, rm } = await import('node:fs/promises');
  const temporary = `${here}.suite-data.${process.pid}.mjs`;
  await writeFile(temporary, file.contents);
  try {
    const reader = await import(temporary);
    return reader.loadSuiteData();
  } finally {
    await rm(temporary, { force: true });
  }
}

await build({
  entryPoints: [`${here}src/cli/process.ts`],
  outfile: `${here}dist/main.mjs`,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  legalComments: 'none',
  plugins: [embedSuiteData],
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
});

const { size } = await import('node:fs').then(({ statSync }) => statSync(`${here}dist/main.mjs`));
const { version } = JSON.parse(await readFile(`${here}package.json`, 'utf8'));
process.stdout.write(`truemq-conformance ${version}: dist/main.mjs, ${Math.round(size / 1024)} KiB\n`);
