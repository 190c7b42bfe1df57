// The files that guides show, those of docs/guides/write-a-store.md above all, so that tests run them exactly as they are shown.

import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const STORES = 'write-a-store.md';

/** The code block of the guide that begins with a comment that names the file. */
export function guideExample(file: string, guideName = STORES): string {
  const guide = new URL(`../../docs/guides/${guideName}`, import.meta.url);
  const blocks = [...readFileSync(guide, 'utf8').matchAll(/^```js\n([\s\S]*?)^```$/gm)];
  const found = blocks.map(([, code]) => code ?? '').filter((code) => code.startsWith(`// ${file}:`));
  if (found.length !== 1) throw new Error(`The guide shows ${file} ${found.length} times.`);
  return found.join('');
}

/** Writes a file of the guide into the folder; returns its path. */
export async function writeGuideExample(folder: string, file: string, guideName = STORES): Promise<string> {
  const path = join(folder, file);
  await writeFile(path, guideExample(file, guideName));
  return path;
}
