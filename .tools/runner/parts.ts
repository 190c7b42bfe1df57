// The parts of `npm test`: what runs, beside what, how its result is read, and how long it may take on 2 cores. A part that is not in this
// table does not run; the budgets are repeated for people in CONTRIBUTING.md (a test compares them).
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
  /** Runs at a low priority: it only computes, and must not disturb a task beside it that waits for deadlines. */
  readonly givesWay?: true;
};

export type Part = {
  readonly name: string;
  readonly budgetSeconds: number;
  /** Lanes run beside each other, the tasks of a lane one after the other. */
  readonly lanes: readonly (readonly Task[])[];
};

/** Tracks run beside each other, the parts of a track one after the other. The last track's output is live. */
export type Stage = readonly (readonly Part[])[];

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
  // What an earlier run has found of unchanged files is kept.
  tool('types', [
    ...['node_modules/typescript-native/bin/tsc', '-p', '.', '--incremental'],
    ...['--tsBuildInfoFile', 'out/types.tsbuildinfo'],
  ]),
  tool('types of the page', ['node_modules/typescript-native/bin/tsc', '-p', '.config/tsconfig.ui.json']),
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

const conformance = (name: string, phase: string, ...writes: readonly string[]): Task => ({
  ...script(name, 'conformance/selftest/run.ts', '--phase', phase),
  writes,
});

/** Has nothing to do but on a fresh clone. The unit tests are the first to need what it compiles. */
const compile = tool('compile', ['.tools/compile.mjs']);

const check: Part = { name: 'check', budgetSeconds: 240, lanes: [staticChecks, [compile, unitTests]] };

/** It takes what the parts beside it leave, and lasts about as long as they do. */
const simulation: Part = {
  name: 'simulation',
  budgetSeconds: 750,
  lanes: [
    [
      { ...script('simulation', 'src/testing/simulation/run.ts'), givesWay: true },
      { ...script('retained memory', 'src/testing/retained-memory/run.ts'), givesWay: true },
    ],
  ],
};

/** It starts programs, and mostly waits for them and for deadlines. */
const programsPart: Part = { name: 'programs', budgetSeconds: 240, lanes: [[programs]] };
const featuresPart: Part = { name: 'features', budgetSeconds: 130, lanes: [[features]] };

const page: Part = { name: 'page', budgetSeconds: 80, lanes: [[pageTests]] };

const documents: Part = {
  name: 'documents',
  budgetSeconds: 60,
  lanes: [[script('documents', '.tools/documents.ts')]],
};

/** A planted fault for which the machine was too busy is tried again. */
const faults: Part = {
  name: 'faults',
  budgetSeconds: 450,
  lanes: [[{ ...conformance('planted faults', 'faults', 'out/test/broken-rules.json'), givesWay: true }]],
};

/** It looks at memory and at what hangs, and neither depends on what runs beside it. */
const fuzz: Part = {
  name: 'fuzz',
  budgetSeconds: 80,
  lanes: [[{ ...script('fuzz', 'src/testing/fuzz/fuzz.ts', '--test'), givesWay: true }]],
};

const life: Part = {
  name: 'life',
  budgetSeconds: 200,
  // Needs what the part check compiles beside it.
  lanes: [[compile, conformance('faults from life', 'life')]],
};

const conformancePart: Part = {
  name: 'conformance',
  budgetSeconds: 400,
  lanes: [
    [conformance('conformance', 'brokers', 'out/test/conformance.json')],
    [script('conformance package', 'conformance/selftest/package.ts')],
  ],
};

/** It compares times, so it has the machine for itself. */
const gatePart: Part = {
  name: 'gate',
  budgetSeconds: 120,
  lanes: [[script('bench gate', '.tools/gate/gate.ts')]],
};

const mutation: Part = {
  name: 'mutation',
  budgetSeconds: 20,
  lanes: [[script('mutation score', '.tools/mutation.ts', '--check')]],
};

const traceability: Part = {
  name: 'traceability',
  budgetSeconds: 20,
  lanes: [[script('traceability', '.tools/traceability.ts')]],
};

/** In order; a stage begins when the one before has ended. The last one reads what the others have left. */
export const stages: readonly Stage[] = [
  [
    [simulation],
    // What waits runs beside check, which only computes; what gives way beside the parts that wait for deadlines.
    [life, page, documents, featuresPart, faults, fuzz],
    [check, conformancePart, programsPart],
  ],
  [[gatePart]],
  [[mutation], [traceability]],
];

/** Of all stages. */
export const parts: readonly Part[] = stages.flat(2);
