// `truemq completion`: prints a script that completes command lines of truemq in a shell, made from the table of commands and their help texts.

import { findAction } from './actions.ts';
import { parseArguments } from './arguments.ts';
import { type Command, type CommandEntry, ExitCode } from './command.ts';
import { bashScript } from './completion/bash.ts';
import { type CommandSyntax, commandSyntax } from './completion/command-syntax.ts';
import { fishScript } from './completion/fish.ts';
import { zshScript } from './completion/zsh.ts';

type Shell = (commands: readonly CommandSyntax[]) => string;

const shells: Readonly<Record<string, Shell>> = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** The command that completes these commands, which include itself. */
export function completionOf(commands: Readonly<Record<string, CommandEntry>>): Command {
  return {
    help: `usage: truemq completion ${Object.keys(shells).join('|')}

Prints a script that completes the command lines of truemq in a shell: commands, actions, flags, and values of which only some are allowed.

  bash  in ~/.bashrc: eval "$(truemq completion bash)"
  zsh   in ~/.zshrc, after compinit: source <(truemq completion zsh)
  fish  once: truemq completion fish > ~/.config/fish/completions/truemq.fish`,

    async run(argv, { stdout }) {
      const [shell] = parseArguments(argv, { flags: {}, positionals: ['SHELL'] }).positionals;
      const script = findAction(shell, shells);
      stdout.write(script(await syntaxOf(commands)));
      return ExitCode.Done;
    },
  };
}

/** Loads every command for its help. */
async function syntaxOf(commands: Readonly<Record<string, CommandEntry>>): Promise<readonly CommandSyntax[]> {
  const entries = Object.entries(commands).map(async ([name, { summary, load }]) => {
    const { help, actionFlags } = await load();
    return commandSyntax(name, summary, help, actionFlags);
  });
  const names = Object.keys(commands).join('|');
  const help = commandSyntax('help', 'print the help of a command', `usage: truemq help ${names}`);
  return [...(await Promise.all(entries)), help];
}
