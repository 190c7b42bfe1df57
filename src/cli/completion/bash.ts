// The completion script for bash, from version 3.2 on. Pure.

import { type CommandSyntax, type FlagSyntax, flagsOf } from './command-syntax.ts';
import { flagsWith, flagsWithValues, quoted, quotedWords } from './shell-text.ts';

export function bashScript(commands: readonly CommandSyntax[]): string {
  return `# Completion of truemq for bash. To load it: eval "$(truemq completion bash)"
_truemq() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} command=\${COMP_WORDS[1]}
  local words= files= word
  # bash splits --flag=value at the equals sign.
  if [[ $current == '=' ]]; then current=
  elif [[ $previous == '=' ]]; then previous=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if ((COMP_CWORD == 1)); then
    words=${quotedWords([...commands.map(({ name }) => name), '--help', '--version'])}
  else
    case "$command $previous" in
${flagsWithValues(commands)
  .map(({ key, values }) => `      ${quoted(key)}) words=${quotedWords(values)} ;;`)
  .join('\n')}
      ${alternatives(flagsWith(commands, 'file'))}) files=yes ;;
      ${alternatives(flagsWith(commands, 'free'))}) ;;
      *)
        case $command in
${commands.map(commandCase).join('\n')}
        esac
        ;;
    esac
  fi
  COMPREPLY=()
  while IFS= read -r word; do
    COMPREPLY+=("$word")
  done < <(if [[ $files ]]; then compgen -f -- "$current"; else compgen -W "$words" -- "$current"; fi)
  if [[ $files ]]; then compopt -o filenames 2>/dev/null; fi
  return 0
}
complete -F _truemq truemq
`;
}

function commandCase(syntax: CommandSyntax): string {
  const { name, actions, takesFile } = syntax;
  const lines = [`          ${name})`, `            words=${flagWords(flagsOf(syntax))}`];
  if (actions.length > 0) {
    const cases = actions.map(
      (action) => `${action.name}) words=${flagWords(flagsOf(syntax, action.name))} ;;`,
    );
    const indented = cases.map((one) => `              ${one}`);
    lines.push(
      `            if ((COMP_CWORD > 2)); then case \${COMP_WORDS[2]} in`,
      ...indented,
      '            esac; fi',
    );
    const names = quotedWords(actions.map((action) => action.name));
    lines.push(`            if ((COMP_CWORD == 2)) && [[ $current != -* ]]; then words=${names}; fi`);
  }
  if (takesFile) {
    const after = actions.length > 0 ? 3 : 2;
    lines.push(`            if ((COMP_CWORD >= ${after})) && [[ $current != -* ]]; then files=yes; fi`);
  }
  return [...lines, '            ;;'].join('\n');
}

function flagWords(flags: readonly FlagSyntax[]): string {
  return quotedWords(flags.map(({ name }) => `--${name}`));
}

function alternatives(keys: readonly string[]): string {
  return keys.map(quoted).join(' | ');
}
