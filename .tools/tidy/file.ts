// What the tidy rules look at: every file that is in the repository or about to be, as text. A rule is a pure function
// from files to complaints, so that each can be shown to fail on files that are not there.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export type File = { readonly path: string; readonly text: string };

export type Rule = {
  readonly name: string;
  /** Complaints that start with the path they are about; none if the rule is kept. */
  readonly check: (files: readonly File[]) => readonly string[];
};

/** Tracked files and new ones that are not ignored, with their content in the working tree. Throws outside of git. */
export function readFiles(root: string): readonly File[] {
  const options = { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 } as const;
  const list = (...args: readonly string[]): readonly string[] =>
    execFileSync('git', ['ls-files', '-z', ...args], options)
      .split('\0')
      .filter(Boolean);
  const deleted = new Set(list('--deleted'));
  const paths = list('--cached', '--others', '--exclude-standard').filter((path) => !deleted.has(path));
  return [...new Set(paths)].map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

export const isTest = (path: string): boolean => /\.test\.ts$/.test(path);

export const isCode = (path: string): boolean => /\.(tsx?|mjs|cjs)$/.test(path) && !path.endsWith('.d.ts');

export const isData = (path: string): boolean => path.startsWith('fixtures/') || path === 'package-lock.json';

/** Complaints about the lines of one file that match, with their numbers. */
export function matchingLines(file: File, pattern: RegExp, complaint: string): readonly string[] {
  return file.text.split('\n').flatMap((line, index) => {
    const match = pattern.exec(line);
    return match === null ? [] : [`${file.path}:${index + 1} ${complaint}: ${match[0].trim()}`];
  });
}
