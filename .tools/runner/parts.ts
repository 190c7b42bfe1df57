// The parts of `npm test`, in order: what runs, how its result is read, and how long it may take on 2 cores. A part that
// is not in this table does not run; the budgets are repeated for people in CONTRIBUTING.md (a test compares them).
import { add, type Count, countCucumber, countExit, countLastLine, countVitest } from './count.ts';

/** What a task left behind. `read` gives the text of a file of `writes`. */
export type TaskRun = {
  readonly exitCode: number;
  readonly output: string;
  readonly read: (path: string) => string;
};

export type Task = {
  readonly name: string;
  /** Arguments of Node. */
  readonly args: readonly string[];
  /** Files that the task must write during this run. */
  readonly writes: readonly string[];
  readonly count: (run: TaskRun) => Count;
};

export type Part = {
  readonly name: string;
  readonly budgetSeconds: number;
  /** Lanes run beside each other, the tasks of a lane one after the other. */
  readonly lanes: readonly (readonly Task[])[];
};

/** There everything must be shown: what is missing can be installed. */
const isContinuousIntegration = process.env['CI'] !== undefined && process.env['CI'] !== 'false';

const tool = (name: string, args: readonly string[]): Task => ({
  name,
  args,
  writes: [],
  count: ({ exitCode }) => countExit(exitCode),
});

const script = (name: string, path: string, ...args: readonly string[]): Task => ({
  name,
  args: ['--import', 'tsx', path, ...args],
  writes: [],
  count: ({ output }) => countLastLine(output),
});

const staticChecks: readonly Task[] = [
  tool('format and lint', ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings']),
  tool('types', ['node_modules/typescript/bin/tsc', '-p', '.']),
  tool('types of the page', ['node_modules/typescript/bin/tsc', '-p', '.config/tsconfig.ui.json']),
];

const vitest = (name: string, config: string, result: string): Task => ({
  name,
  args: [
    'node_modules/vitest/vitest.mjs',
    'run',
    ...['-c', config, '--reporter=default', '--reporter=json'],
    `--outputFile.json=${result}`,
  ],
  writes: [result],
  count: ({ read }) => countVitest(read(result), isContinuousIntegration),
});

const unitTests = vitest('unit and property tests', '.config/vitest.config.ts', 'out/test/vitest.json');
const programs = vitest(
  'tests of whole programs',
  '.config/vitest.programs.config.ts',
  'out/test/programs.json',
);

const pageTests = vitest('tests of the page', '.config/vitest.browser.config.ts', 'out/test/page.json');

// The same scenarios three times; each run must have had scenarios.
const featureResults = [
  'out/test/features-inprocess.json',
  'out/test/features-delayed.json',
  'out/test/features-tcp.json',
];
const features: Task = {
  ...script('features', '.tools/features.ts'),
  writes: featureResults,
  count: ({ read }) => add(featureResults.map((path) => countCucumber(read(path)))),
};

const conformance: Task = {
  ...script('conformance', 'conformance/selftest/run.ts'),
  writes: ['out/test/conformance.json', 'out/test/broken-rules.json'],
};

export const parts: readonly Part[] = [
  { name: 'check', budgetSeconds: 60, lanes: [staticChecks, [unitTests]] },
  { name: 'programs', budgetSeconds: 120, lanes: [[programs]] },
  { name: 'page', budgetSeconds: 60, lanes: [[pageTests]] },
  { name: 'features', budgetSeconds: 60, lanes: [[features]] },
  {
    name: 'simulation',
    budgetSeconds: 120,
    lanes: [
      [
        script('simulation', 'src/testing/simulation/run.ts'),
        script('retained memory', 'src/testing/retained-memory/run.ts'),
      ],
    ],
  },
  { name: 'fuzz', budgetSeconds: 20, lanes: [[script('fuzz', 'src/testing/fuzz/fuzz.ts', '--test')]] },
  {
    name: 'conformance',
    budgetSeconds: 300,
    lanes: [[conformance], [script('conformance package', 'conformance/selftest/package.ts')]],
  },
  { name: 'documents', budgetSeconds: 60, lanes: [[script('documents', '.tools/documents.ts')]] },
  {
    name: 'mutation',
    budgetSeconds: 10,
    lanes: [[script('mutation score', '.tools/mutation.ts', '--check')]],
  },
  { name: 'traceability', budgetSeconds: 10, lanes: [[script('traceability', '.tools/traceability.ts')]] },
];
