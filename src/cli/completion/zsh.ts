// The completion script for zsh. It works from a folder of $fpath and when it is sourced. Pure.

import { type CommandSyntax, type FlagSyntax, flagsOf } from './command-syntax.ts';
import { flagsWith, flagsWithValues, quoted } from './shell-text.ts';

export function zshScript(commands: readonly CommandSyntax[]): string {
  return `#compdef truemq
# Completion of truemq for zsh. To load it: source <(truemq completion zsh)
_truemq() {
  local command=$words[2] previous=$words[CURRENT-1]
  local -a candidates
  if ((CURRENT == 2)); then
    candidates=(
${commands.map(({ name, about }) => `      ${described(name, about)}`).join('\n')}
    )
    _describe command candidates
    return
  fi
  case "$command $previous" in
${flagsWithValues(commands)
  .map(({ key, values }) => `    (${quoted(key)}) compadd -- ${values.map(quoted).join(' ')}; return ;;`)
  .join('\n')}
    (${alternatives(flagsWith(commands, 'file'))}) _files; return ;;
    (${alternatives(flagsWith(commands, 'free'))}) return ;;
  esac
  case $command in
${commands.map(commandCase).join('\n')}
  esac
}
if [[ $funcstack[1] == _truemq ]]; then _truemq "$@"; else compdef _truemq truemq; fi
`;
}

function commandCase(syntax: CommandSyntax): string {
  const { name, actions, takesFile } = syntax;
  const lines = [`    (${name})`];
  if (actions.length > 0) {
    lines.push(
      '      if ((CURRENT == 3)) && [[ $PREFIX != -* ]]; then',
      '        candidates=(',
      ...actions.map((action) => `          ${described(action.name, action.about)}`),
      '        )',
      '        _describe action candidates',
      '        return',
      '      fi',
    );
  }
  if (takesFile) lines.push('      if [[ $PREFIX != -* ]]; then _files; return; fi');
  return [
    ...lines,
    `      candidates=(${flagWords(flagsOf(syntax))})`,
    ...actionCases(syntax),
    '      _describe -o flag candidates',
    '      ;;',
  ].join('\n');
}

/** The flags of the action that is there. */
function actionCases(syntax: CommandSyntax): readonly string[] {
  if (syntax.actions.length === 0) return [];
  const cases = syntax.actions.map(
    ({ name }) => `        (${name}) candidates=(${flagWords(flagsOf(syntax, name))}) ;;`,
  );
  return ['      if ((CURRENT > 3)); then case $words[3] in', ...cases, '      esac; fi'];
}

function flagWords(flags: readonly FlagSyntax[]): string {
  return flags.map(({ name, about }) => described(`--${name}`, about)).join(' ');
}

/** \`_describe\` divides a candidate at its first colon. */
function described(word: string, about: string): string {
  return quoted(about === '' ? word : `${word}:${about}`);
}

function alternatives(keys: readonly string[]): string {
  return keys.map(quoted).join('|');
}
