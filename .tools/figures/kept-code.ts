// Where the digests of the hot path are kept, and what is there now: the sources, the times of the results, the page. Reads, and judges nothing.
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { type Digests, digestsOf, hotPath, type MeasuredCode } from './hot-path.ts';

export const keptCodeFile = 'docs/internals/figures.json';
export const pageFile = 'docs/internals/figures.md';
const resultsFolder = 'conformance/bench/results';

export function readKeptCode(root: string): MeasuredCode {
  return JSON.parse(readFileSync(join(root, keptCodeFile), 'utf8')) as MeasuredCode;
}

/** Of the code in the working tree. */
export function presentDigests(root: string): Digests {
  const paths = hotPath.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => `${folder}/${name.split(sep).join('/')}`)
      .filter((path) => path.endsWith('.ts') && !/[.](test|bench)[.]ts$/.test(path)),
  );
  return digestsOf(paths.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') })));
}

/** When each figure was measured, by its name. */
export function resultTimes(root: string): Readonly<Record<string, string>> {
  const files = readdirSync(join(root, resultsFolder)).sort();
  return Object.fromEntries(
    files.map((file) => {
      const { at } = JSON.parse(readFileSync(join(root, resultsFolder, file), 'utf8')) as { at: string };
      return [file.replace('.json', ''), at];
    }),
  );
}
