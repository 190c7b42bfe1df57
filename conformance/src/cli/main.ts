// The command line: finds the command, runs it, and turns its errors into an exit code and a message. No other file imports this one.
// Exit codes: 2 for a usage error, 5 for an unexpected error.
import { benchCommand, benchFlags } from '../commands/bench.ts';
import { doctorCommand, doctorFlags } from '../commands/doctor.ts';
import { explainCommand } from '../commands/explain.ts';
import { initCommand, initFlags } from '../commands/init.ts';
import { listCommand, listFlags } from '../commands/list.ts';
import { probeCommand, probeFlags } from '../commands/probe.ts';
import { replayCommand, replayFlags } from '../commands/replay.ts';
import { reportCommand, reportCommandFlags } from '../commands/report.ts';
import { runCommand, runFlags } from '../commands/run.ts';
import { selftestCommand, selftestFlags } from '../commands/selftest.ts';
import { Interrupted } from '../interruption.ts';
import { endingText } from '../system-fault.ts';
import { TargetFault } from '../target/target-fault.ts';
import { didYouMean, UsageError } from '../usage-error.ts';
import type { ExitCode } from '../verdict.ts';
import { exitCodes } from '../verdict.ts';
import { runnerIdentity } from '../version.ts';
import type { Flag } from './flags.ts';
import { flagLines } from './flags.ts';
import type { Sources } from './sources.ts';
import { loadSources } from './sources.ts';
import type { Terminal } from './terminal.ts';

type Command = {
  readonly summary: string;
  readonly usage: string;
  readonly flags: readonly Flag[];
  readonly run: (
    args: readonly string[],
    sources: Sources,
    terminal: Terminal,
    signal: AbortSignal,
  ) => ExitCode | Promise<ExitCode>;
};

const commands: ReadonlyMap<string, Command> = new Map<string, Command>([
  ['run', { summary: 'judge a broker', usage: 'run --target FILE', flags: runFlags, run: runCommand }],
  ['list', { summary: 'list the checks', usage: 'list', flags: listFlags, run: listCommand }],
  [
    'bench',
    {
      summary: 'measure brokers under load',
      usage: 'bench --target FILE',
      flags: benchFlags,
      run: benchCommand,
    },
  ],
  ['init', { summary: 'write a target file', usage: 'init', flags: initFlags, run: initCommand }],
  [
    'doctor',
    {
      summary: 'find common mistakes',
      usage: 'doctor --target FILE',
      flags: doctorFlags,
      run: doctorCommand,
    },
  ],
  [
    'probe',
    { summary: 'look at a running broker', usage: 'probe ADDRESS', flags: probeFlags, run: probeCommand },
  ],
  [
    'replay',
    {
      summary: 'send the bytes of a trace again, and show what is different',
      usage: 'replay TRACE',
      flags: replayFlags,
      run: replayCommand,
    },
  ],
  [
    'report',
    {
      summary: 'make reports of logs; diff, merge, matrix, badge',
      usage: 'report LOG',
      flags: reportCommandFlags,
      run: reportCommand,
    },
  ],
  [
    'selftest',
    {
      summary: 'prove the suite itself',
      usage: 'selftest',
      flags: selftestFlags,
      run: selftestCommand,
    },
  ],
  [
    'explain',
    { summary: 'show the requirements behind a check', usage: 'explain ID', flags: [], run: explainCommand },
  ],
]);

/** Runs one command line and resolves with its exit code; never rejects. `load` is called by the commands that need the data. */
export async function main(
  args: readonly string[],
  terminal: Terminal,
  signal: AbortSignal,
  load = loadSources,
): Promise<ExitCode> {
  try {
    return await dispatch(args, { terminal, signal, load });
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.err(`truemq-conformance: ${error.message}`);
      return exitCodes.usage;
    }
    if (error instanceof TargetFault) {
      terminal.err(`truemq-conformance: ${error.message}`);
      return exitCodes.target;
    }
    terminal.err(`truemq-conformance: ${error instanceof Interrupted ? error.message : endingText(error)}`);
    return exitCodes.runner;
  }
}

type Surroundings = {
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  readonly load: () => Sources;
};

async function dispatch(
  args: readonly string[],
  { terminal, signal, load }: Surroundings,
): Promise<ExitCode> {
  const [name, ...rest] = args;
  if (name === '--version' || name === 'version') return say(terminal, [runnerIdentity.version]);
  if (name === '--help' || name === '-h' || (name === 'help' && rest.length === 0))
    return say(terminal, helpLines());
  if (name === 'help') return dispatch([...rest, '--help'], { terminal, signal, load });
  if (name === undefined) throw new UsageError(`a command is missing\n${helpLines().join('\n')}`);
  const command = commands.get(name);
  if (command === undefined)
    throw new UsageError(didYouMean(`unknown command ${name}`, name, [...commands.keys(), 'help']));
  if (rest.includes('--help') || rest.includes('-h')) return say(terminal, commandHelp(command));
  return command.run(rest, load(), terminal, signal);
}

function say(terminal: Terminal, lines: readonly string[]): ExitCode {
  for (const line of lines) terminal.out(line);
  return exitCodes.open;
}

function helpLines(): readonly string[] {
  return [
    'truemq-conformance: says whether a broker keeps to the protocol',
    '',
    ...[...commands.values()].map(
      (command) => `  truemq-conformance ${command.usage.padEnd(20)} ${command.summary}`,
    ),
    '',
    'Each command has --help. Exit codes of run: 0 the gate is open, 1 a check failed, 2 usage, 3 incomplete,',
    '4 the target did not start or died, 5 an error of the runner.',
  ];
}

function commandHelp(command: Command): readonly string[] {
  const flags = command.flags.length === 0 ? [] : ['', ...flagLines(command.flags)];
  return [`truemq-conformance ${command.usage}: ${command.summary}`, ...flags];
}
