// One run of cucumber over the scenarios, in a process of its own that reads TypeScript.
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { asGroup, endOfGroup } from '../runner/process-group.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = 'node_modules/@cucumber/cucumber/bin/cucumber.js';

export type CucumberRun = {
  readonly driver: 'in-process' | 'delayed' | 'tcp';
  readonly args: readonly string[];
  /** Modules that are loaded before tsx, from the root. */
  readonly imports?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Default: `inherit`. */
  readonly output?: 'inherit' | 'ignore';
  /** The run is killed after this time, in milliseconds, with all that it has started. Default: never. */
  readonly deadlineMs?: number;
};

/** TLS and signals need a process: what is tagged so has no meaning on virtual lines. */
export const OVER_TCP_TAG = '@over-tcp';

function tagsFor(driver: CucumberRun['driver']): readonly string[] {
  return driver === 'tcp' ? [] : ['--tags', `not ${OVER_TCP_TAG}`];
}

/** Resolves with the exit code; 1 when the process did not start or was killed. */
export async function runCucumber(run: CucumberRun): Promise<number> {
  const imports = [...(run.imports ?? []), 'tsx'].map((name) => `--import ${name}`);
  const child = execa(
    process.execPath,
    [program, '--config', '.config/cucumber.mjs', ...run.args, ...tagsFor(run.driver)],
    {
      cwd: root,
      stdio: run.output ?? 'inherit',
      reject: false,
      ...(run.deadlineMs === undefined ? {} : asGroup),
      // Workers are processes of their own, which need to read TypeScript too.
      env: { ...run.environment, FEATURES_DRIVER: run.driver, NODE_OPTIONS: imports.join(' ') },
    },
  );
  const { exitCode } =
    run.deadlineMs === undefined ? await child : (await endOfGroup(child, run.deadlineMs)).ended;
  return exitCode ?? 1;
}
