// Texts in shell scripts, and the flags of commands in the groups that all shells need. Pure.

import type { CommandSyntax, FlagSyntax } from './command-syntax.ts';

/** In single quotes, which bash and zsh take literally. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Words in one quoted text, with spaces between them. */
export function quotedWords(words: readonly string[]): string {
  return quoted(words.join(' '));
}

/** `command --flag` for each flag whose value is of this kind. */
export function flagsWith(commands: readonly CommandSyntax[], kind: 'file' | 'free'): readonly string[] {
  return commands.flatMap(({ name, flags }) =>
    flags.filter(({ value }) => value === kind).map((flag) => `${name} --${flag.name}`),
  );
}

/** Each flag of which the values are known, with its command. */
export function flagsWithValues(
  commands: readonly CommandSyntax[],
): readonly { readonly key: string; readonly values: readonly string[] }[] {
  return commands.flatMap(({ name, flags }) =>
    flags.flatMap((flag) => (hasValues(flag) ? [{ key: `${name} --${flag.name}`, values: flag.value }] : [])),
  );
}

export function hasValues(flag: FlagSyntax): flag is FlagSyntax & { readonly value: readonly string[] } {
  return typeof flag.value !== 'string';
}
