#!/usr/bin/env node
// The entry point of `truemq`: finds the command, runs it, and turns errors into one clear line and an exit code. The composition
// root of everything; nobody imports it, and it must stay light: what a command needs is loaded with the command.

import { closeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { ConfigurationError } from '../config/configuration.ts';
import { UsageError } from './arguments.ts';
import { type Command, type CommandContext, ExitCode } from './command.ts';
import { findCommand, isCommand, overview } from './help.ts';
import { askLine } from './line-prompt.ts';
import { askSecret } from './secret-prompt.ts';
import { standardInput } from './standard-input.ts';
import { standardOutput, watchOutput } from './standard-output.ts';

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;

/** Those of stdin, stdout and stderr that are a terminal. Asked of the system: to make the stream of stdin takes 5 ms, and few read it. */
const terminals = [STDIN, STDOUT, STDERR].filter(isatty);
const readsTerminal = terminals.includes(STDIN);

const stdout = standardOutput();
const hasOutputFailed = watchOutput(stdout, process.stderr);

const context: CommandContext = {
  get stdin() {
    return standardInput();
  },
  stdout,
  stderr: process.stderr,
  isTerminal: process.stderr.isTTY === true,
  hasTerminal: terminals.length > 0,
  ask: readsTerminal ? (question) => askLine(question, process.stdin, process.stderr) : undefined,
  askSecret: readsTerminal
    ? (question) => askSecret(question, process.stdin, process.stderr, interrupt)
    : undefined,
  get terminal() {
    if (!readsTerminal || !process.stdout.isTTY) return undefined;
    return { input: process.stdin, output: process.stdout, onExit };
  },
  environment: process.env,
  onStopSignal,
  onHangup,
  exitNow: (code) => process.exit(code),
};

// Node.js 20 aborts at its end when it cannot set the mode of a terminal that is closed; it leaves descriptors that are closed alone.
process.on('exit', () => {
  for (const terminal of terminals) if (!isatty(terminal)) closeSync(terminal);
});

// Nobody can be told that stderr is closed.
process.stderr.on('error', () => undefined);

const exitCode = await main(process.argv.slice(2));
process.exitCode = (await hasOutputFailed()) && exitCode === ExitCode.Done ? ExitCode.Failed : exitCode;

async function main(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined) {
    process.stderr.write(`${overview()}\n`);
    return ExitCode.Usage;
  }
  try {
    const command = await findCommand(commandName(name)).load();
    return await runCommand(command, rest);
  } catch (error) {
    return report(error, name);
  }
}

/** `--help` and `--version` in front mean the commands of these names. */
function commandName(word: string): string {
  if (word === '--help' || word === '-h') return 'help';
  return word === '--version' || word === '-v' ? 'version' : word;
}

async function runCommand(command: Command, argv: readonly string[]): Promise<number> {
  const end = argv.indexOf('--');
  const flags = end === -1 ? argv : argv.slice(0, end);
  if (!flags.includes('--help') && !flags.includes('-h')) return command.run(argv, context);
  context.stdout.write(`${command.help}\n`);
  return ExitCode.Done;
}

/** Errors for people are printed in one line; any other error is internal and keeps its stack. */
function report(error: unknown, name: string): number {
  if (error instanceof ConfigurationError || error instanceof UsageError) {
    const topic = isCommand(commandName(name)) ? `truemq help ${commandName(name)}` : 'truemq help';
    const lines = [...error.message.split('\n'), `"${topic}" tells what is allowed`];
    process.stderr.write(lines.map((line) => `truemq: ${line}\n`).join(''));
    return ExitCode.Usage;
  }
  const stack = error instanceof Error ? error.stack : String(error);
  process.stderr.write(`truemq: an unexpected error, please report it\n${stack}\n`);
  return ExitCode.Failed;
}

/** As the terminal does at Ctrl-C. */
function interrupt(): void {
  process.kill(process.pid, 'SIGINT');
}

function onStopSignal(handle: (signal: NodeJS.Signals) => void): () => void {
  process.on('SIGINT', handle).on('SIGTERM', handle);
  return () => {
    process.off('SIGINT', handle).off('SIGTERM', handle);
  };
}

function onHangup(handle: () => void): () => void {
  process.on('SIGHUP', handle);
  return () => void process.off('SIGHUP', handle);
}

function onExit(handle: () => void): () => void {
  process.on('exit', handle);
  return () => void process.off('exit', handle);
}
