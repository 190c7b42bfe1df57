// The syntax of a command, read from its help text: actions, flags, and the values that a flag takes. The help is the one description of a command, so the
// completion cannot offer what it does not say. Which action has a flag is told beside it, by what the command accepts. Pure.

import type { Command } from '../command.ts';

export type FlagSyntax = {
  /** Without the dashes in front. */
  readonly name: string;
  readonly about: string;
  /** `none`: it takes no value; `file`: a path; `free`: nobody can guess it; else the values. */
  readonly value: 'none' | 'file' | 'free' | readonly string[];
  /** The actions that have it. Absent: it needs none. */
  readonly actions?: readonly string[];
};

export type ActionSyntax = { readonly name: string; readonly about: string };

export type CommandSyntax = {
  readonly name: string;
  readonly about: string;
  /** What the first argument may be; empty: it is free. */
  readonly actions: readonly ActionSyntax[];
  readonly flags: readonly FlagSyntax[];
  /** Whether an argument is the path of a file. */
  readonly takesFile: boolean;
};

const FLAG = /^ {2}--([a-z][a-z-]*)(?: (\S+))?(?: {2,}(\S.*))?$/;
const CONTINUATION = /^ {10,}(\S.*)$/;

/** `actionFlags`: see Command. */
export function commandSyntax(
  name: string,
  about: string,
  help: string,
  actionFlags: Command['actionFlags'] = {},
): CommandSyntax {
  const lines = help.split('\n');
  const usage = lines.slice(0, lines.indexOf('') === -1 ? lines.length : lines.indexOf(''));
  const actions = actionsOf(usage, lines);
  return {
    name,
    about,
    actions,
    flags: [
      ...lines.flatMap(flagAt).map((flag) => ({ ...flag, ...ownersOf(flag, actions, actionFlags) })),
      { name: 'help', about: 'print the help of this command', value: 'none' },
    ],
    takesFile: usage.some((line) => / FILE\b/.test(line.replaceAll(/\[[^\]]*\]/g, ''))),
  };
}

/** The flags that are offered behind an action; without one, those that need none. */
export function flagsOf({ flags }: CommandSyntax, action?: string): readonly FlagSyntax[] {
  return flags.filter(
    ({ actions }) => actions === undefined || (action !== undefined && actions.includes(action)),
  );
}

function ownersOf(
  { name }: FlagSyntax,
  actions: readonly ActionSyntax[],
  actionFlags: NonNullable<Command['actionFlags']>,
): Pick<FlagSyntax, 'actions'> {
  if (actions.length === 0) return {};
  const owners = Object.keys(actionFlags).filter((action) => actionFlags[action]?.includes(name));
  return { actions: owners.length > 0 ? owners : actions.map((action) => action.name) };
}

/** The lower-case words after the name of the command, with a bar between those of one line. */
function actionsOf(usage: readonly string[], lines: readonly string[]): readonly ActionSyntax[] {
  const words = usage.flatMap((line) => /truemq [a-z]+ ([a-z|]+)(?: |$)/.exec(line)?.[1]?.split('|') ?? []);
  return [...new Set(words)].map((name) => {
    const line = lines.find((one) => one.startsWith(`  ${name} `));
    return { name, about: line?.slice(name.length + 2).trim() ?? '' };
  });
}

function flagAt(line: string, index: number, lines: readonly string[]): readonly FlagSyntax[] {
  const [, name, value, about] = FLAG.exec(line) ?? [];
  if (name === undefined) return [];
  const next = CONTINUATION.exec(lines[index + 1] ?? '')?.[1];
  return [{ name, about: about ?? next ?? '', value: valueKind(value) }];
}

function valueKind(text: string | undefined): FlagSyntax['value'] {
  if (text === undefined) return 'none';
  if (text === 'FILE') return 'file';
  return text.includes('|') ? text.split('|') : 'free';
}
