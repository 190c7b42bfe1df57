// `truemq-conformance selftest`: tests the installed suite itself. Without a repository: codec, accountant, null brokers; with
// `--reference DIR`, a checkout, also planted faults, the reference broker and the contrary broker. Exit code 0 or 5, because the runner
// is judged.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Flag } from '../cli/flags.ts';
import { parseFlags } from '../cli/flags.ts';
import type { Sources } from '../cli/sources.ts';
import type { Terminal } from '../cli/terminal.ts';
import type { RunOptions } from '../engine/suite.ts';
import { isMute, type NullBrokerKind, nullBrokerKinds } from '../selftest/null-broker.ts';
import type { Case } from '../selftest/proof.ts';
import { goldenCases, historyCases, nullBrokerCases } from '../selftest/proof.ts';
import { UsageError } from '../usage-error.ts';
import type { ExitCode } from '../verdict.ts';
import { exitCodes } from '../verdict.ts';
import { runnerIdentity } from '../version.ts';

export const selftestFlags: readonly Flag[] = [
  {
    name: 'reference',
    kind: 'text',
    value: 'DIR',
    help: 'a built checkout of the repository: runs planted faults and the reference broker too',
  },
];

export async function selftestCommand(
  args: readonly string[],
  sources: Sources,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<ExitCode> {
  const flags = parseFlags(args, selftestFlags);
  if (flags.positionals.length > 0) {
    throw new UsageError(`selftest takes no argument, ${flags.positionals[0]} came`);
  }
  const checkout = flags.text('reference');
  if (checkout !== undefined) refuseOtherCheckout(checkout);
  const isProved = await proved(sources, terminal, signal);
  const isWhole = checkout === undefined ? true : await provedBy(checkout, signal);
  return isProved && isWhole && !signal.aborted ? exitCodes.open : exitCodes.runner;
}

async function proved(sources: Sources, terminal: Terminal, signal: AbortSignal): Promise<boolean> {
  const told = [
    tell('the codec reads and writes the recorded frames', goldenCases(sources.golden), terminal),
    tell('the accountant finds what is wrong with known histories', historyCases(), terminal),
  ];
  const options = { ...nullRun, seed: Math.floor(Math.random() * 2 ** 31), signal };
  const casesOf = (kind: NullBrokerKind) => nullBrokerCases(kind, sources, options);
  // Those that only wait do so together. Two others at a time would delay each other's deadlines.
  const cases: Case[] = (await Promise.all(nullBrokerKinds.filter(isMute).map(casesOf))).flat();
  for (const kind of nullBrokerKinds) if (!isMute(kind)) cases.push(...(await casesOf(kind)));
  if (signal.aborted) terminal.err('truemq-conformance: the self-test was interrupted');
  told.push(tell(nullPhase, cases, terminal));
  return told.every(Boolean);
}

const nullPhase = `no check passes on ${nullBrokerKinds.length} null brokers, except the checks of answers on the kinds that answer everything`;

/** A phase without cases is a failure. */
function tell(phase: string, cases: readonly Case[], terminal: Terminal): boolean {
  const failed = cases.filter(({ faults }) => faults.length > 0);
  for (const { title, faults } of failed) {
    terminal.out(`FAIL ${title}`);
    for (const fault of faults) terminal.out(`     ${fault}`);
  }
  terminal.out(`${phase}: ${cases.length - failed.length} of ${cases.length} passed`);
  return cases.length > 0 && failed.length === 0;
}

const nullRun: Omit<RunOptions, 'seed'> = {
  target: { schema: 1, name: 'null broker', lifecycle: { kind: 'spawn', command: ['null-broker'] } },
  targetPath: 'null-broker.json',
  profiles: ['full'],
  level: 'MAY',
  only: [],
  skip: [],
  repeat: 1,
  jobs: 48,
  timeoutScale: 1,
  wireMode: 'whole',
  failFast: false,
  strict: true,
};

const selftestScript = join('conformance', 'selftest', 'run.ts');

/** A checkout of another version would test another suite. */
function refuseOtherCheckout(folder: string): void {
  if (!existsSync(join(folder, selftestScript))) {
    throw new UsageError(
      `--reference: ${folder} is not a checkout of the repository: it has no ${selftestScript}`,
    );
  }
  const text = readFileSync(join(folder, 'conformance', 'package.json'), 'utf8');
  const { version } = JSON.parse(text) as { readonly version: string };
  if (version !== runnerIdentity.version) {
    throw new UsageError(
      `--reference: ${folder} has version ${version}, this runner is ${runnerIdentity.version}`,
    );
  }
}

function provedBy(folder: string, signal: AbortSignal): Promise<boolean> {
  const child = spawn(process.execPath, ['--import', 'tsx', selftestScript], {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const stop = (): void => void child.kill();
  signal.addEventListener('abort', stop, { once: true });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => {
      signal.removeEventListener('abort', stop);
      resolve(code === 0);
    });
  });
}
