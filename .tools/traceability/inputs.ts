// Where the reports of a run lie and how each is read. A report that cannot be read or holds nothing is a problem that says
// which command makes it: an empty run covers nothing, and must not look like a run without coverage.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Reading, readConformance, readCucumber, readVitest } from './evidence.ts';

type Input = {
  readonly path: string;
  readonly madeBy: string;
  readonly read: (json: string, root: string) => Reading;
};

export const inputs: readonly Input[] = [
  { path: 'out/test/vitest.json', madeBy: 'the unit tests (npm run check)', read: readVitest },
  {
    path: 'out/test/programs.json',
    madeBy: 'the tests of whole programs (npm test -- programs)',
    read: readVitest,
  },
  { path: 'out/test/features-inprocess.json', madeBy: 'the features (npm run features)', read: readCucumber },
  { path: 'out/test/features-delayed.json', madeBy: 'the features (npm run features)', read: readCucumber },
  { path: 'out/test/features-tcp.json', madeBy: 'the features (npm run features)', read: readCucumber },
  {
    path: 'out/test/conformance.json',
    madeBy: 'the self-test of the runner (npm test)',
    read: readConformance,
  },
];

/** Everything that ran, and everything that is wrong with the reports. Paths are taken from `root`. */
export function readRun(root: string): Reading {
  const readings = inputs.map((input) => readInput(input, root));
  return {
    evidence: readings.flatMap((reading) => reading.evidence),
    findings: readings.flatMap((reading) => reading.findings),
    problems: readings.flatMap((reading) => reading.problems),
  };
}

function readInput({ path, madeBy, read }: Input, root: string): Reading {
  try {
    const reading = read(readFileSync(join(root, path), 'utf8'), root);
    return {
      ...reading,
      problems: reading.problems.map((problem) => `${path}: ${problem}. It is made by ${madeBy}.`),
    };
  } catch (error) {
    const reason = isMissing(error) ? 'is not there' : `cannot be read: ${String(error)}`;
    return { evidence: [], findings: [], problems: [`${path}: ${reason}. It is made by ${madeBy}.`] };
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
