// The GitHub Action: its file has the form that GitHub reads, every output is one that its script writes, and the script itself is run
// here as a job would run it, on the tiny broker.
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { tinyTarget } from './src/testing/tiny-target.ts';

type Action = {
  readonly inputs: Readonly<Record<string, { readonly description: string; readonly default?: string }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: {
    readonly using: string;
    readonly steps: readonly {
      readonly id: string;
      readonly shell: string;
      readonly run: string;
      readonly env: Readonly<Record<string, string>>;
    }[];
  };
};

const path = (name: string): string => fileURLToPath(new URL(name === '' ? '.' : name, import.meta.url));
const action = parse(readFileSync(path('action.yml'), 'utf8')) as Action;
const [step] = action.runs.steps;
if (step === undefined) throw new Error('the action has no step');
const runner = `${process.execPath} --import ${import.meta.resolve('tsx')} ${path('src/cli/process.ts')}`;

type Job = {
  readonly exitCode: number;
  readonly outputs: Readonly<Record<string, string>>;
  readonly printed: string;
  readonly summary: string;
  readonly folder: string;
};

/** Runs the script with these inputs and the others' defaults, as GitHub would. */
async function job(inputs: Readonly<Record<string, string>>, files: readonly string[] = []): Promise<Job> {
  const folder = mkdtempSync(join(tmpdir(), 'truemq-conformance-test-'));
  const [output, summary] = ['output', 'summary'].map((name) => join(folder, name));
  for (const file of [output, summary]) writeFileSync(file ?? '', '');
  for (const file of files) writeFileSync(join(folder, file), 'echo "$@" > arguments; exit 7');
  const values = Object.fromEntries(
    Object.entries(action.inputs).map(([name, input]) => [name, inputs[name] ?? input.default ?? '']),
  );
  const filled = Object.entries(step?.env ?? {}).map(([name, value]) => [name, inputOf(value, values)]);
  const env = {
    ...process.env,
    ...Object.fromEntries(filled),
    GITHUB_OUTPUT: output,
    GITHUB_STEP_SUMMARY: summary,
  };
  const { exitCode, printed } = await bash(step?.run ?? '', folder, env);
  const lines = readFileSync(output ?? '', 'utf8')
    .trimEnd()
    .split('\n')
    .filter(Boolean);
  return {
    exitCode,
    printed,
    folder,
    outputs: Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    ),
    summary: readFileSync(summary ?? '', 'utf8'),
  };
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

describe('the action', () => {
  it('is a composite action whose values reach the script as variables alone', () => {
    expect(action.runs.using).toBe('composite');
    expect(action.runs.steps).toHaveLength(1);
    expect(step.shell).toBe('bash');
    expect(step.run).not.toContain('${{');
    const used = Object.values(step.env).join('\n');
    expect(Object.keys(action.inputs).filter((name) => !used.includes(`inputs.${name} `))).toEqual([]);
  });

  it('judges a broker, ends with the gate and says in its outputs what was found', async () => {
    const target = join(mkdtempSync(join(tmpdir(), 'truemq-conformance-test-')), 'tiny.json');
    writeFileSync(target, JSON.stringify(tinyTarget()));
    const args = '--only CONN-005 --seed 1';
    const { exitCode, outputs, printed, summary, folder } = await job({ target, args, runner });
    const report = JSON.parse(readFileSync(join(folder, 'conformance-results', 'report.json'), 'utf8')) as {
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
    expect(printed).toMatch(/^::stop-commands::(stop-\d+)\n[\s\S]*\n::\1::\n/);
  });

  it('names every output that it declares', () => {
    const named = Object.entries(action.outputs).map(([name, { value }]) => [name, value]);
    expect(named.filter(([name, value]) => value !== `\${{ steps.judge.outputs.${name} }}`)).toEqual([]);
  });

  it('is red, and says that nothing was shown, when the runner leaves no report', async () => {
    const { exitCode, outputs } = await job({ target: 'none.json', runner });
    expect(exitCode).toBe(2);
    expect(outputs).toMatchObject({ verdict: 'undetermined', gate: 'closed', 'exit-code': '2', passed: '0' });
  });

  it('hands every input on, blanks and all', async () => {
    const inputs = {
      target: 'my target.json',
      profiles: 'core,delivery',
      baseline: 'known.yaml',
      args: '--strict --jobs 2',
    };
    const { exitCode, folder, outputs } = await job(
      { ...inputs, out: 'my results', runner: 'bash fake.sh' },
      ['fake.sh'],
    );
    expect(exitCode).toBe(7);
    expect(outputs['exit-code']).toBe('7');
    expect(readFileSync(join(folder, 'arguments'), 'utf8')).toBe(
      'run --target my target.json --out my results --profile core,delivery --baseline known.yaml --reporter markdown --strict --jobs 2\n',
    );
  });
});
