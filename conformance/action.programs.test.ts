// Tests the GitHub Action: its file has the format of GitHub, its script writes every output, and its steps run here as in a job: with the
// tiny broker, and with commands in place of the runner that fail in different ways.
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { builtRunner } from './src/testing/built-programs.ts';
import { temporaryFolder } from './src/testing/temporary-folder.ts';
import { tinyTarget } from './src/testing/tiny-target.ts';

type Step = {
  readonly id?: string;
  readonly if?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, string>>;
  readonly shell?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
};

type Action = {
  readonly inputs: Readonly<Record<string, { readonly description: string; readonly default?: string }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
};

const path = (name: string): string => fileURLToPath(new URL(name === '' ? '.' : name, import.meta.url));
const action = parse(readFileSync(path('action.yml'), 'utf8')) as Action;
const runner = `${process.execPath} ${builtRunner}`;
function stepOf(id: string): Step {
  const step = action.runs.steps.find((one) => one.id === id);
  if (step === undefined) throw new Error(`the action has no step ${id}`);
  return step;
}

type Job = {
  readonly exitCode: number;
  readonly outputs: Readonly<Record<string, string>>;
  readonly printed: string;
  readonly summary: string;
  readonly folder: string;
};

type Given = {
  readonly step?: string;
  readonly inputs?: Readonly<Record<string, string>>;
  /** What stands in the folder of the job, by name. */
  readonly files?: Readonly<Record<string, string>>;
  /** The folders in which programs are found; default: those of this process. */
  readonly searchPath?: string;
};

/** Runs one step with these inputs and the others' defaults, as GitHub would. */
async function job({ step = 'judge', inputs = {}, files = {}, searchPath }: Given): Promise<Job> {
  const folder = temporaryFolder();
  const [output, summary] = [join(folder, 'output'), join(folder, 'summary')];
  for (const file of [output, summary]) writeFileSync(file, '');
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const values = Object.fromEntries(
    Object.entries(action.inputs).map(([name, input]) => [name, inputs[name] ?? input.default ?? '']),
  );
  const { env: named = {}, run = '' } = stepOf(step);
  const filled = Object.entries(named).map(([name, value]) => [name, inputOf(value, values)]);
  const env = {
    ...process.env,
    ...Object.fromEntries(filled),
    GITHUB_OUTPUT: output,
    GITHUB_STEP_SUMMARY: summary,
    ...(searchPath === undefined ? {} : { PATH: searchPath }),
  };
  const { exitCode, printed } = await bash(run, folder, env);
  const outputs = outputsIn(readFileSync(output, 'utf8'));
  return { exitCode, printed, folder, outputs, summary: readFileSync(summary, 'utf8') };
}

/** Reads both forms that GitHub reads: `name=value`, and `name<<END`, lines, `END`. */
function outputsIn(text: string): Readonly<Record<string, string>> {
  const outputs: Record<string, string> = {};
  const entry = /^(?<name>[\w-]+)(?:=(?<short>.*)|<<(?<end>.*)\n(?<long>[\s\S]*?)\n\k<end>)\n/gmy;
  for (const { groups } of text.matchAll(entry))
    outputs[groups?.['name'] ?? ''] = groups?.['short'] ?? groups?.['long'] ?? '';
  return outputs;
}

function inputOf(expression: string, inputs: Readonly<Record<string, string>>): string {
  const name = /^\$\{\{ (?:inputs\.([\w-]+)|(github\.action_path)) \}\}$/.exec(expression);
  if (name === null) throw new Error(`no expression that this test knows: ${expression}`);
  return name[2] === undefined ? (inputs[name[1] ?? ''] ?? '') : path('');
}

/** As GitHub starts a script whose shell is `bash`. */
function bash(
  script: string,
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<{ exitCode: number; printed: string }> {
  const file = join(cwd, 'script.sh');
  writeFileSync(file, script);
  return new Promise((resolve) => {
    execFile(
      'bash',
      ['--noprofile', '--norc', '-eo', 'pipefail', file],
      { cwd, env },
      (error, stdout, stderr) => {
        resolve({ exitCode: error === null ? 0 : Number(error.code), printed: stdout + stderr });
      },
    );
  });
}

/** A command in the place of the runner. */
const fake = (script: string): Given => ({
  inputs: { target: 'a.json', runner: 'bash fake.sh' },
  files: { 'fake.sh': script },
});

const reportPath = 'conformance-results/report.json';

function reportText(more: object = {}): string {
  return JSON.stringify({
    target: { name: 'tiny' },
    verdict: { status: 'conformant', gate: 'open', exitCode: 0, reason: 'nothing failed' },
    counts: { pass: 3, fail: 0, warn: 0, 'not applicable': 1, 'could not run': 0, error: 0 },
    run: { plan: ['a', 'b', 'c', 'd'], options: { repeat: 1, strict: false } },
    results: [],
    ...more,
  });
}

/** A runner that writes this report into its folder, and ends with this exit code. */
function reporting(report: string, exitCode: number): Given {
  const given = fake(
    `mkdir -p conformance-results; cp new.json ${reportPath}; echo '::notice::of a broker'; exit ${exitCode}`,
  );
  return { ...given, files: { ...given.files, 'new.json': report } };
}

const undetermined = { verdict: 'undetermined', gate: 'closed', passed: '0', failed: '0', incomplete: '0' };

describe('the action', () => {
  it('is a composite action that passes its inputs to the scripts only as variables', () => {
    expect(action.runs.using).toBe('composite');
    for (const { shell, run } of action.runs.steps.filter((step) => step.run !== undefined)) {
      expect(shell).toBe('bash');
      expect(run).not.toContain('${{');
    }
    const used = Object.values(stepOf('judge').env ?? {}).join('\n');
    expect(Object.keys(action.inputs).filter((name) => !used.includes(`inputs.${name} `))).toEqual([]);
  });

  it('tests a broker, ends with the exit code of the gate and writes the results to its outputs', async () => {
    const target = join(temporaryFolder(), 'tiny.json');
    writeFileSync(target, JSON.stringify(tinyTarget()));
    const args = '--only CONN-005 --seed 1';
    const { exitCode, outputs, printed, summary, folder } = await job({ inputs: { target, args, runner } });
    const report = JSON.parse(readFileSync(join(folder, reportPath), 'utf8')) as {
      verdict: { status: string; exitCode: number };
      counts: Record<string, number>;
    };
    expect(exitCode, printed).toBe(report.verdict.exitCode);
    expect(Object.keys(outputs).sort()).toEqual(Object.keys(action.outputs).sort());
    expect(outputs).toMatchObject({
      verdict: report.verdict.status,
      gate: exitCode === 0 ? 'open' : 'closed',
      'exit-code': String(exitCode),
      passed: String(report.counts['pass']),
      failed: String(report.counts['fail']),
      incomplete: '0',
      out: 'conformance-results',
      junit: join('conformance-results', 'junit.xml'),
    });
    for (const name of ['events', 'report-json', 'report-html', 'junit'])
      expect(existsSync(join(folder, outputs[name] ?? '')), name).toBe(true);
    expect(summary).toContain('## tiny');
    expect(printed).toMatch(/^::stop-commands::(stop-[\w-]+)\n[\s\S]*\n::\1::\n/);
  });

  it('writes every output that it declares', () => {
    const named = Object.entries(action.outputs).map(([name, { value }]) => [name, value]);
    expect(named.filter(([name, value]) => value !== `\${{ steps.judge.outputs.${name} }}`)).toEqual([]);
  });

  it('ends with the code of a usage error, and says that no broker was tested', async () => {
    const { exitCode, outputs, printed } = await job({ inputs: { target: 'none.json', runner } });
    expect(exitCode).toBe(2);
    expect(outputs).toMatchObject({ ...undetermined, 'exit-code': '2' });
    expect(printed).toContain('none.json cannot be read');
    expect(printed).toContain(
      '::No broker was tested: an input, a flag or a file is wrong (exit code 2). The log of this step says why',
    );
  });
});

describe('a run without a report', () => {
  it.each<[name: string, given: Given, endedWith: number]>([
    ['npm cannot install the runner', fake('echo "npm error 404"; exit 1'), 1],
    ['there is no such command', { inputs: { target: 'a.json', runner: 'no-such-command' } }, 127],
    ['the runner ends well without a report', fake('exit 0'), 0],
    ['the runner is killed', fake('kill -KILL $$'), 5],
    ['the report is cut', reporting('{"verdict":', 0), 0],
  ])('ends with 5 and no verdict: %s', async (_name, given, endedWith) => {
    const { exitCode, outputs, printed, summary } = await job(given);
    expect(exitCode).toBe(5);
    expect(outputs).toMatchObject({ ...undetermined, 'exit-code': '5' });
    const text = `No broker was tested: the runner did not start or wrote no report (it ended with exit code ${endedWith}). The log of this step says why, in its last lines.`;
    expect(printed).toMatch(/\n::stop-[\w-]+::\n::error title=TrueMQ conformance::/);
    expect(printed).toContain(text);
    expect(summary).toContain(text);
  });

  it.each([0, 1])('does not use the report of an older run: exit code %i', async (code) => {
    const given = fake(`exit ${code}`);
    const { exitCode, outputs, folder } = await job({
      ...given,
      files: { ...given.files, [reportPath]: reportText(), 'conformance-results/mine.txt': 'mine' },
    });
    expect(exitCode).toBe(5);
    expect(outputs).toMatchObject(undetermined);
    expect(existsSync(join(folder, reportPath))).toBe(false);
    expect(existsSync(join(folder, 'conformance-results/mine.txt'))).toBe(true);
  });

  it('ends with 5 when an older report cannot be removed', async () => {
    const given = fake('exit 0');
    const { exitCode, outputs } = await job({ ...given, files: { ...given.files, [`${reportPath}/a`]: '' } });
    expect(exitCode).toBe(5);
    expect(outputs).toMatchObject(undetermined);
  });
});

describe('the exit code', () => {
  it('is 5 if the exit code of the runner differs from its report', async () => {
    const { exitCode, outputs, printed } = await job(reporting(reportText(), 1));
    expect(exitCode).toBe(5);
    expect(outputs).toMatchObject({ gate: 'closed', 'exit-code': '5', passed: '3' });
    expect(printed).toContain('the runner ended with exit code 1, its report says 0');
  });

  it('is that of the runner and the report if they agree, and a passed run reports no error', async () => {
    const { exitCode, outputs, printed } = await job(reporting(reportText(), 0));
    expect(exitCode).toBe(0);
    expect(outputs).toMatchObject({ verdict: 'conformant', gate: 'open', 'exit-code': '0', incomplete: '0' });
    expect(printed).not.toContain('::error');
  });
});

describe('failed checks', () => {
  const verdict = { status: 'not conformant', gate: 'closed', exitCode: 1, reason: '2 checks failed' };
  const failed = (id: string, more: object = {}): object => ({
    id,
    title: 'of a broker',
    outcome: 'fail',
    reason: 'it sings',
    reproduce: `truemq-conformance run --only ${id}`,
    warnings: [],
    ...more,
  });
  const errorsIn = (printed: string): readonly string[] =>
    printed
      .slice(printed.lastIndexOf('\n::stop-'))
      .split('\n')
      .filter((line) => line.startsWith('::error'));

  it('are reported as errors of the job, after the output of the runner, with every character as text', async () => {
    const nasty = failed('FRAME-001a', {
      title: 'ids: any, of 100%',
      reason: 'line 1\r\n::set-output name=verdict::conformant',
      expected: '100%',
      actual: '\u001b[31m',
    });
    const results = [nasty, failed('FRAME-002a', { baseline: { expect: 'fail' } }), failed('FRAME-003a')];
    const { exitCode, printed } = await job(reporting(reportText({ verdict, results }), 1));
    expect(exitCode).toBe(1);
    expect(errorsIn(printed)).toEqual([
      '::error title=TrueMQ conformance::tiny: the gate is closed (exit code 1): 2 checks failed',
      '::error title=FRAME-001a ids%3A any%2C of 100%25::line 1\\u000d%0A::set-output name=verdict::conformant%0Aexpected: 100%25%0Acame: \\u001b[31m%0Aagain: truemq-conformance run --only FRAME-001a',
      '::error title=FRAME-003a of a broker::it sings%0Aagain: truemq-conformance run --only FRAME-003a',
    ]);
    expect(printed.match(/^::(?!error|stop-|notice)/gm)).toBe(null);
    expect(printed).toMatch(/^::stop-commands::(stop-[\w-]+)\n::notice::of a broker\n\n::\1::\n::error/);
  });

  it('include warnings if the gate is strict', async () => {
    const results = [
      failed('FRAME-001a', { outcome: 'warn', reason: undefined, warnings: [{ text: 'it hums' }] }),
    ];
    const run = { plan: ['FRAME-001a'], options: { repeat: 1, strict: true } };
    const { printed } = await job(reporting(reportText({ verdict, results, run }), 1));
    expect(errorsIn(printed)[1]).toMatch(/^::error title=FRAME-001a of a broker::it hums%0A/);
  });

  it('are at most as many as GitHub shows; the last error names the others', async () => {
    const ids = Array.from({ length: 12 }, (_, index) => `FRAME-${100 + index}a`);
    const results = ids.map((id) => failed(id));
    const { printed } = await job(reporting(reportText({ verdict, results }), 1));
    const errors = errorsIn(printed);
    expect(errors).toHaveLength(10);
    expect(errors.at(-1)).toBe(
      '::error title=4 more checks failed::FRAME-108a, FRAME-109a, FRAME-110a, FRAME-111a',
    );
  });
});

describe('the inputs', () => {
  const echo = 'printf "%s\\n" "$@" > arguments; exit 2';

  it('reach the runner with blanks and quotes, and nothing in them is evaluated', async () => {
    const inputs = {
      target: 'my target.json',
      profiles: 'core,delivery',
      baseline: 'known.yaml',
      args: ` --skip "A B" --only 'CONN-*' \n --x="a \\"b\\" \\d" --y=c\\ d'e' "" '$HOME' $(touch evil) \`touch evil\` $HOME * ; touch evil`,
      out: 'my results',
      runner: `bash 'my fake.sh'`,
    };
    const { folder, outputs } = await job({ inputs, files: { 'my fake.sh': echo } });
    expect(outputs).toMatchObject({ out: 'my results' });
    expect(readFileSync(join(folder, 'arguments'), 'utf8').split('\n')).toEqual([
      ...['run', '--target', 'my target.json', '--out', 'my results', '--profile', 'core,delivery'],
      ...['--baseline', 'known.yaml', '--reporter', 'markdown', '--skip', 'A B', '--only', 'CONN-*'],
      ...['--x=a "b" \\d', '--y=c de', '', '$HOME', '$(touch', 'evil)', '`touch', 'evil`', '$HOME', '*', ';'],
      ...['touch', 'evil', ''],
    ]);
    expect(existsSync(join(folder, 'evil'))).toBe(false);
  });

  it.each(['--skip "A B', "--skip 'A", 'A\\'])('are refused if a quote is not closed: %s', async (args) => {
    const { exitCode, outputs, printed, folder } = await job({
      ...fake(echo),
      inputs: { ...fake(echo).inputs, args },
    });
    expect(exitCode).toBe(2);
    expect(outputs).toMatchObject({ ...undetermined, 'exit-code': '2' });
    expect(printed).toContain(
      '::error title=TrueMQ conformance::input args: a quote or a backslash is not complete',
    );
    expect(existsSync(join(folder, 'arguments'))).toBe(false);
  });

  it('cannot add outputs of their own', async () => {
    const given = fake('exit 2');
    const { outputs } = await job({ ...given, inputs: { ...given.inputs, out: 'a\nverdict=conformant' } });
    expect(outputs).toMatchObject({ verdict: 'undetermined', out: 'a\nverdict=conformant' });
  });
});

describe('Node', () => {
  /** A folder with bash and what the steps use of the system, and with a `node` of this version or none. */
  function programs(version: string | undefined): string {
    const folder = temporaryFolder();
    for (const name of ['bash', 'printf', 'env']) symlinkSync(whereIs(name), join(folder, name));
    if (version === undefined) return folder;
    const preload = join(folder, 'version.cjs');
    writeFileSync(preload, `Object.defineProperty(process.versions, 'node', { value: '${version}' });`);
    writeFileSync(
      join(folder, 'node'),
      `#!${whereIs('bash')}\nexec '${process.execPath}' --require '${preload}' "$@"\n`,
    );
    chmodSync(join(folder, 'node'), 0o755);
    return folder;
  }

  function whereIs(name: string): string {
    const folders = (process.env['PATH'] ?? '').split(delimiter);
    return folders.map((one) => join(one, name)).find((file) => existsSync(file)) ?? '';
  }

  it.each([
    [undefined, 'true'],
    ['18.20.4', 'true'],
    ['20.18.3', 'true'],
    ['20.19.0', 'false'],
    ['22.1.0', 'false'],
  ])('%s: to be set up is %s', async (version, missing) => {
    const { outputs, exitCode } = await job({ step: 'node', searchPath: programs(version) });
    expect(exitCode).toBe(0);
    expect(outputs).toEqual({ missing });
  });

  it('is installed before the runner starts, if it is missing or too old', () => {
    const [look, setUp, judge] = action.runs.steps;
    expect([look?.id, judge?.id]).toEqual(['node', 'judge']);
    expect(setUp).toMatchObject({
      if: "steps.node.outputs.missing == 'true'",
      uses: expect.stringMatching(/^actions\/setup-node@v\d+$/) as string,
    });
    const manifest = JSON.parse(readFileSync(path('package.json'), 'utf8')) as { engines: { node: string } };
    expect(manifest.engines.node).toBe('>=20.19');
    expect(Number(setUp?.with?.['node-version'])).toBeGreaterThanOrEqual(20);
  });

  it('that is still missing ends the job with 5 and no verdict', async () => {
    const { exitCode, outputs, printed } = await job({ searchPath: programs(undefined) });
    expect(exitCode).toBe(5);
    expect(outputs).toEqual({ verdict: 'undetermined', gate: 'closed', 'exit-code': '5' });
    expect(printed).toContain('::error title=TrueMQ conformance::No broker was tested: Node is missing.');
  });
});
