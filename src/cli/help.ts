// `truemq help [COMMAND]`: the list of commands, or one command's own help.

import { didYouMean } from '../config/nearest-name.ts';
import { parseArguments, UsageError } from './arguments.ts';
import { type Command, type CommandEntry, ExitCode } from './command.ts';
import { commands } from './commands.ts';

export const help: Command = {
  help: `usage: truemq help [COMMAND]

Prints the list of commands, or the help of one.

  --reference  print the help of all commands, in Markdown, instead`,
  async run(argv, { stdout }) {
    const shape = { flags: { reference: 'switch' }, positionals: ['COMMAND?'] } as const;
    const { positionals, switches } = parseArguments(argv, shape);
    const [name] = positionals;
    if (switches.has('reference')) {
      stdout.write(await reference());
      return ExitCode.Done;
    }
    stdout.write(`${name === undefined ? overview() : (await findCommand(name).load()).help}\n`);
    return ExitCode.Done;
  },
};

const entries: Readonly<Record<string, CommandEntry>> = {
  ...commands,
  help: { summary: 'print this, or the help of a command', load: async () => help },
};

export function isCommand(name: string): boolean {
  return Object.hasOwn(entries, name);
}

/** @throws UsageError when there is no such command */
export function findCommand(name: string): CommandEntry {
  const entry = isCommand(name) ? entries[name] : undefined;
  if (entry === undefined)
    throw new UsageError(`${name}: no such command${didYouMean(name, Object.keys(entries))}`);
  return entry;
}

async function reference(): Promise<string> {
  // Loaded on demand: only who writes the page needs it.
  const { commandReference } = await import('./command-reference.ts');
  const helps = Object.entries(entries).map(async ([name, { load }]) => [name, (await load()).help] as const);
  return commandReference(new Map(await Promise.all(helps)));
}

/** The list of commands with their summaries. */
export function overview(): string {
  const lines = Object.entries(entries).map(([name, { summary }]) => `  ${name.padEnd(10)} ${summary}`);
  return [
    'usage: truemq COMMAND [flags]',
    '',
    ...lines,
    '',
    'truemq help COMMAND prints the help of a command.',
  ].join('\n');
}
