// Tidy rules about source files and their names: size, header, names, state, and what must not be left in tests.
import { type File, isCode, isData, isTest, matchingLines, type Rule } from './file.ts';

const maxLines = 500;

// Tables and data, which are read by looking up a line. Everything else is too long.
const longFiles: Readonly<Record<string, string>> = {
  'conformance/src/history/pathological.ts': 'a table of histories with their verdicts',
};

export const fileLength: Rule = {
  name: `a source file has at most ${maxLines} lines`,
  check: (files) =>
    files
      .filter((file) => isCode(file.path) && !(file.path in longFiles))
      .map((file) => ({ path: file.path, count: file.text.split('\n').length - 1 }))
      .filter(({ count }) => count > maxLines)
      .map(
        ({ path, count }) => `${path} has ${count} lines: split it, or list it as a table with the reason`,
      ),
};

export const longFilesExist: Rule = {
  name: 'the list of long files names files that exist and are long',
  check: (files) => staleExemptions(Object.keys(longFiles), files),
};

export function staleExemptions(paths: readonly string[], files: readonly File[]): readonly string[] {
  const lengths = new Map(files.map((file) => [file.path, file.text.split('\n').length - 1]));
  return paths
    .filter((path) => (lengths.get(path) ?? 0) <= maxLines)
    .map((path) => `${path} needs no exemption from the length rule: take it off the list`);
}

// What a file is for cannot be said in less than a line, and more than these belong into the docs.
const headerLines = { least: 1, most: 20 };

export const header: Rule = {
  name: 'a source file opens with a comment that says what it is for',
  check: (files) =>
    files
      .filter((file) => isCode(file.path))
      .map((file) => ({ path: file.path, count: countHeaderLines(file.text) }))
      .filter(({ count }) => count < headerLines.least || count > headerLines.most)
      .map(({ path, count }) => `${path} opens with ${count} lines of comment`),
};

function countHeaderLines(text: string): number {
  const lines = text.split('\n');
  const rest = lines[0]?.startsWith('#!') === true ? lines.slice(1) : lines;
  if (rest[0]?.startsWith('/*') === true) return rest.findIndex((line) => line.includes('*/')) + 1;
  const end = rest.findIndex((line) => !line.startsWith('//'));
  return end === -1 ? rest.length : end;
}

const upperCaseNames = [
  'README.md',
  'LICENSE',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'Dockerfile',
];
const kebabCase = /^\.?[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*$/;

export const kebabCaseNames: Rule = {
  name: 'names of files and folders are kebab-case',
  check: (files) =>
    files.flatMap(({ path }) =>
      path
        .split('/')
        .filter((name) => !kebabCase.test(name) && !upperCaseNames.includes(name))
        .map((name) => `${path}: "${name}" is not kebab-case`),
    ),
};

const vagueNames = /(^|\/)(utils?|helpers?|misc|common|stuff)(\.|\/|$)/;

export const noVagueNames: Rule = {
  name: 'a name says what the file holds',
  check: (files) =>
    files
      .filter((file) => vagueNames.test(file.path))
      .map((file) => `${file.path}: name it after its concept`),
};

export const noMutableState: Rule = {
  name: 'no module-level mutable state',
  check: (files) =>
    files
      .filter(
        (file) => /^(src|conformance\/src)\//.test(file.path) && isCode(file.path) && !isTest(file.path),
      )
      .flatMap((file) => matchingLines(file, /^(export )?(let|var) \w+/, 'is mutable state of the module')),
};

const focused =
  /\b(it|test|describe|suite|bench)(\.\w+)*\.(only|skip|skipIf|runIf|todo|fails)\b|\bx(it|describe)\(/;
const sleeping = /\b(sleep|delay|setTimeout)\((\d|\w+Ms\)|resolve)|timers\/promises/;

export const everyTestRuns: Rule = {
  name: 'no test is skipped, left for later, or run alone',
  check: (files) => [
    ...files
      .filter((file) => isTest(file.path))
      .flatMap((file) => matchingLines(file, focused, 'does not run every test')),
    ...files
      .filter((file) => file.path.endsWith('.feature'))
      .flatMap((file) =>
        matchingLines(file, /@(skip|only|wip|ignore|todo)\b/, 'does not run every scenario'),
      ),
  ],
};

export const noSleeping: Rule = {
  name: 'no test sleeps',
  check: (files) =>
    files
      .filter((file) => isTest(file.path) || file.path.startsWith('features/'))
      .flatMap((file) => matchingLines(file, sleeping, 'waits for time to pass')),
};

const leftOver = /\b(TO[D]O|FIX[M]E|XX[X]|HA[C]K)\b(?!: \S+( \S+){2})/;

export const reasonedTodo: Rule = {
  name: 'what is left to do says what and why',
  check: (files) =>
    files
      .filter((file) => !isData(file.path) && !file.path.endsWith('.md'))
      .flatMap((file) => matchingLines(file, leftOver, 'has no reason')),
};
