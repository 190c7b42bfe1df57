// The kinds of configuration values: how each is read from text and from a file, how it is written, and what is allowed, in words. A new
// kind is added here; a new key in keys.ts. Pure; knows no keys. Implements CONFIG-003 to CONFIG-005.

import { DURATION_FORMS, formatDuration, parseDuration } from './duration.ts';
import { formatSize, parseSize, SIZE_FORMS } from './size.ts';

/** The properties of every key. `derived` describes in words a default that depends on the machine or on other keys. */
type Described = { readonly doc: string; readonly section: string };

/** Which texts are allowed, in words too. */
type Form = { readonly isRight: (text: string) => boolean; readonly words: string };

export type TextKind = Described & {
  readonly kind: 'text';
  /** The empty text is allowed and means: no value. */
  readonly mayBeEmpty?: true;
  /** Never shown: not in messages, and not by `truemq config`. */
  readonly secret?: true;
  readonly form?: Form;
} & ({ readonly default: string } | { readonly derived: string });
export type PortKind = Described & { readonly kind: 'port'; readonly default: number };
export type CountKind = Described & {
  readonly kind: 'count';
  readonly min: number;
  readonly max: number;
} & ({ readonly default: number } | { readonly derived: string });
export type DurationKind = Described & {
  readonly kind: 'duration';
  readonly default: number;
  readonly min: number;
  readonly max: number;
};
export type SizeKind = Described & {
  readonly kind: 'size';
  readonly min: number;
  readonly max: number;
} & ({ readonly default: number } | { readonly derived: string });
export type BooleanKind = Described & {
  readonly kind: 'boolean';
  /** The words for true and false, in this order. */
  readonly words: readonly [string, string];
} & ({ readonly default: boolean } | { readonly derived: string });
export type ChoiceKind = Described & {
  readonly kind: 'choice';
  readonly choices: readonly string[];
} & ({ readonly default: string } | { readonly derived: string });
/** The entries that are allowed; or the form of an entry, with words for the list, which is not empty then. */
type ListEntries =
  | { readonly choices: readonly string[]; readonly form?: undefined }
  | { readonly choices?: undefined; readonly form: Form };
export type ListKind = Described & {
  readonly kind: 'list';
} & ListEntries &
  ({ readonly default: readonly string[] } | { readonly derived: string });

export type KeyKind =
  | TextKind
  | PortKind
  | CountKind
  | DurationKind
  | SizeKind
  | BooleanKind
  | ChoiceKind
  | ListKind;

export type ParsedValue =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly allowed: string };

/** Reads a value from a command line or the environment: always text. */
export function parseText(kind: KeyKind, text: string): ParsedValue {
  switch (kind.kind) {
    case 'text':
      return accept(kind, isAllowedText(kind, text) ? text : undefined);
    case 'port':
    case 'count':
      return accept(kind, /^\d+$/.test(text) ? withinRange(kind, Number(text)) : undefined);
    case 'duration':
      return accept(kind, withinRange(kind, parseDuration(text)));
    case 'size':
      return accept(kind, withinRange(kind, parseSize(text)));
    case 'boolean':
      return parseBooleanWord(kind, text);
    case 'choice':
      return parseChoice(kind, text);
    case 'list':
      return parseList(kind, text === '' ? [] : text.split(',').map((entry) => entry.trim()));
    default:
      return unknownKind(kind);
  }
}

/** Reads a value from a file: numbers, booleans and lists of JSON or YAML are accepted where they fit the kind. */
export function parseFileValue(kind: KeyKind, value: unknown): ParsedValue {
  if (typeof value === 'string') return parseText(kind, value);
  if (typeof value === 'number' && 'min' in kind) return accept(kind, withinRange(kind, wholeNumber(value)));
  if (typeof value === 'number' && kind.kind === 'port')
    return accept(kind, withinRange(kind, wholeNumber(value)));
  if (typeof value === 'boolean' && kind.kind === 'boolean') {
    return parseBooleanWord(kind, kind.words[value ? 0 : 1]);
  }
  if (kind.kind === 'list' && Array.isArray(value) && value.every((entry) => typeof entry === 'string')) {
    return parseList(kind, value);
  }
  return refuse(kind);
}

/** Whether the value is a password or the like, which must never be shown. */
export function isSecret(kind: KeyKind): boolean {
  return kind.kind === 'text' && kind.secret === true;
}

/** The value for people: as {@link formatValue}, but a secret is hidden. */
export function showValue(kind: KeyKind, value: unknown): string {
  const text = formatValue(kind, value);
  return isSecret(kind) && text !== '' ? HIDDEN : text;
}

/** Stands for a secret wherever settings are shown. */
export const HIDDEN = '(hidden)';

/** Writes a value so that {@link parseText} reads it back. */
export function formatValue(kind: KeyKind, value: unknown): string {
  switch (kind.kind) {
    case 'duration':
      return formatDuration(Number(value));
    case 'size':
      return formatSize(Number(value));
    case 'boolean':
      return kind.words[value === true ? 0 : 1];
    case 'list':
      return Array.isArray(value) ? value.join(',') : '';
    case 'text':
    case 'port':
    case 'count':
    case 'choice':
      return String(value);
    default:
      return unknownKind(kind);
  }
}

/** What is allowed, in words, for messages and the reference. */
export function describeAllowed(kind: KeyKind): string {
  switch (kind.kind) {
    case 'text':
      return describeText(kind);
    case 'port':
      return 'a port from 1 to 65535, or 0 for any free one';
    case 'count':
      return `a whole number from ${kind.min} to ${kind.max}`;
    case 'duration':
      return `${formatDuration(kind.min)} to ${formatDuration(kind.max)}, written as ${DURATION_FORMS}`;
    case 'size':
      return `${formatSize(kind.min)} to ${formatSize(kind.max)}, written as ${SIZE_FORMS}`;
    case 'boolean':
      return kind.words.join(' or ');
    case 'choice':
      return kind.choices.join(' or ');
    case 'list':
      return kind.choices === undefined
        ? kind.form.words
        : `any of ${kind.choices.join(', ')}, each at most once, separated by commas`;
    default:
      return unknownKind(kind);
  }
}

function isAllowedText(kind: TextKind, text: string): boolean {
  if (text === '') return kind.mayBeEmpty === true;
  return kind.form === undefined || kind.form.isRight(text);
}

function describeText({ mayBeEmpty, form }: TextKind): string {
  const words = form?.words ?? (mayBeEmpty === true ? 'a text' : 'a text that is not empty');
  return mayBeEmpty === true ? `${words}; the empty one means none` : words;
}

function parseBooleanWord(kind: BooleanKind, text: string): ParsedValue {
  const index = kind.words.indexOf(text.toLowerCase());
  return index === -1 ? refuse(kind) : { ok: true, value: index === 0 };
}

function parseChoice(kind: ChoiceKind, text: string): ParsedValue {
  const choice = kind.choices.find((name) => name.toLowerCase() === text.toLowerCase());
  return choice === undefined ? refuse(kind) : { ok: true, value: choice };
}

function parseList(kind: ListKind, entries: readonly string[]): ParsedValue {
  const { choices, form } = kind;
  const names =
    choices === undefined
      ? entries
      : entries.map((entry) => choices.find((name) => name === entry.toLowerCase()) ?? '');
  const hasForm = form === undefined || (names.length > 0 && names.every((name) => form.isRight(name)));
  const right = hasForm && !names.includes('') && new Set(names).size === names.length;
  return right ? { ok: true, value: names } : refuse(kind);
}

function withinRange(
  kind: PortKind | CountKind | DurationKind | SizeKind,
  value: number | undefined,
): number | undefined {
  const [min, max] = kind.kind === 'port' ? [0, 65_535] : [kind.min, kind.max];
  return value !== undefined && value >= min && value <= max ? value : undefined;
}

function wholeNumber(value: number): number | undefined {
  return Number.isSafeInteger(value) ? value : undefined;
}

function accept(kind: KeyKind, value: unknown): ParsedValue {
  return value === undefined ? refuse(kind) : { ok: true, value };
}

function refuse(kind: KeyKind): ParsedValue {
  return { ok: false, allowed: describeAllowed(kind) };
}

function unknownKind(kind: never): never {
  throw new Error(`no such kind of configuration value: ${JSON.stringify(kind)}`);
}
