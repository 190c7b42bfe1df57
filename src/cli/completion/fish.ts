// The completion script for fish. Pure.

import type { CommandSyntax, FlagSyntax } from './command-syntax.ts';
import { hasValues } from './shell-text.ts';

export function fishScript(commands: readonly CommandSyntax[]): string {
  return `# Completion of truemq for fish. To load it: truemq completion fish | source
function __truemq_is
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test $words[2] = $argv[1]
end
function __truemq_does
    set -l words (commandline -opc)
    test (count $words) -ge 3; and contains -- $words[3] $argv
end
function __truemq_at
    set -l words (commandline -opc)
    test (count $words) -eq $argv[1]
end
complete -c truemq -f
${commands.flatMap(commandLines).join('\n')}
`;
}

function commandLines({ name, about, actions, flags, takesFile }: CommandSyntax): readonly string[] {
  const isCommand = `__truemq_is ${name}`;
  return [
    line('__truemq_at 1', `-a ${quoted(name)}`, about),
    ...actions.map((action) =>
      line(`${isCommand}; and __truemq_at 2`, `-a ${quoted(action.name)}`, action.about),
    ),
    ...(takesFile ? [`complete -c truemq -n ${quoted(isCommand)} -F`] : []),
    ...flags.map((flag) => {
      const isAction = flag.actions === undefined ? '' : `; and __truemq_does ${flag.actions.join(' ')}`;
      return line(`${isCommand}${isAction}`, `-l ${flag.name}${valueOption(flag)}`, flag.about);
    }),
  ];
}

function valueOption(flag: FlagSyntax): string {
  if (hasValues(flag)) return ` -x -a ${quoted(flag.value.join(' '))}`;
  if (flag.value === 'none') return '';
  return flag.value === 'file' ? ' -r -F' : ' -x';
}

function line(condition: string, what: string, about: string): string {
  const description = about === '' ? '' : ` -d ${quoted(about)}`;
  return `complete -c truemq -n ${quoted(condition)} ${what}${description}`;
}

/** In single quotes, in which fish knows two escapes. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
