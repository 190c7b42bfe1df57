// Parses a command line strictly, with the runtime's tokenizer: an unknown flag, a flag without its value or with two, an unexpected value and a
// surplus argument are errors that name the expected form. Knows no commands and no keys. Implements CONFIG-002.

import { parseArgs } from 'node:util';
import { didYouMean } from '../config/nearest-name.ts';
import { maxStringBytes } from '../protocol/limits.ts';

export type FlagKind =
  /** `--name value`, once. */
  | 'text'
  /** `--name value`, any number of times. */
  | 'texts'
  /** `--name` alone. */
  | 'switch';

export type ArgumentsShape = {
  /** By name without the leading dashes. `help` (also `-h`) always exists. */
  readonly flags: Readonly<Record<string, FlagKind>>;
  /** The names of the positional arguments, in order; a trailing `?` marks an optional one. */
  readonly positionals: readonly string[];
  /** Returns a better message about an unknown flag than "no such flag", if the caller has one. */
  readonly explainUnknown?: (flag: string) => string | undefined;
};

export type Arguments = {
  readonly texts: ReadonlyMap<string, string>;
  readonly lists: ReadonlyMap<string, readonly string[]>;
  readonly switches: ReadonlySet<string>;
  readonly positionals: readonly string[];
};

/** The command line is not valid; the message says why. Exit code 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

type Token = NonNullable<ReturnType<typeof tokenize>>[number];
type OptionToken = Extract<Token, { readonly kind: 'option' }>;

/** @throws UsageError */
export function parseArguments(argv: readonly string[], shape: ArgumentsShape): Arguments {
  const flags: Readonly<Record<string, FlagKind>> = { ...shape.flags, help: 'switch' };
  const texts = new Map<string, string>();
  const lists = new Map<string, string[]>();
  const switches = new Set<string>();
  const positionals: string[] = [];
  argv.forEach(requireWholeText);
  for (const token of tokenize(argv, flags)) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const kind = Object.hasOwn(flags, token.name) ? flags[token.name] : undefined;
    if (kind === undefined) throw new UsageError(explainUnknown(token, shape, Object.keys(flags)));
    if (kind === 'switch') switches.add(requireNoValue(token));
    else if (kind === 'text') texts.set(requireFirst(token, texts), requireValue(token));
    else lists.set(token.name, [...(lists.get(token.name) ?? []), requireValue(token)]);
  }
  if (!switches.has('help')) {
    checkCount(positionals, shape.positionals);
    checkQueue(positionals[shape.positionals.indexOf('QUEUE')]);
  }
  return { texts, lists, switches, positionals };
}

function tokenize(argv: readonly string[], flags: Readonly<Record<string, FlagKind>>) {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, kind]) => [
      name,
      {
        type: kind === 'switch' ? ('boolean' as const) : ('string' as const),
        ...(name === 'help' ? { short: 'h' } : {}),
      },
    ]),
  );
  return parseArgs({ args: [...argv], options, strict: false, tokens: true, allowPositionals: true }).tokens;
}

function explainUnknown(token: OptionToken, shape: ArgumentsShape, known: readonly string[]): string {
  if (!token.rawName.startsWith('--')) {
    return `${token.rawName}: no such flag; put -- before an argument that starts with a dash`;
  }
  const better = shape.explainUnknown?.(token.name);
  return better ?? `--${token.name}: no such flag${didYouMean(token.name, known, '--')}`;
}

/** The tokenizer accepts any next token as the value; a flag there means that the value is missing. */
function requireValue({ rawName, value, inlineValue }: OptionToken): string {
  const isFlag = inlineValue === false && value !== undefined && /^--?[a-z]/i.test(value);
  if (value === undefined || isFlag) throw new UsageError(`${rawName}: needs a value`);
  return value;
}

/** Of two values, nobody can tell which one is meant. They are not shown, as they may be secrets. */
function requireFirst({ rawName, name }: OptionToken, texts: ReadonlyMap<string, string>): string {
  if (texts.has(name)) throw new UsageError(`${rawName}: given more than once; give it one value`);
  return name;
}

/** Others would be sent and shown as another text. */
function requireWholeText(argument: string): void {
  if (!/\p{Surrogate}/u.test(argument)) return;
  throw new UsageError(`${JSON.stringify(argument)}: has half of a surrogate pair, which UTF-8 cannot carry`);
}

function requireNoValue({ rawName, name, value }: OptionToken): string {
  if (value !== undefined) throw new UsageError(`${rawName}: takes no value, came ${JSON.stringify(value)}`);
  return name;
}

function checkCount(positionals: readonly string[], names: readonly string[]): void {
  const missing = names.slice(positionals.length).find((name) => !name.endsWith('?'));
  if (missing !== undefined) throw new UsageError(`${missing} is missing`);
  const surplus = positionals[names.length];
  if (surplus !== undefined) throw new UsageError(`${JSON.stringify(surplus)}: one argument too many`);
}

/** No frame carries a longer one, whatever the broker takes for a name. */
function checkQueue(queue = ''): void {
  const bytes = Buffer.byteLength(queue);
  if (bytes > maxStringBytes)
    throw new UsageError(`QUEUE: came ${bytes} bytes; allowed are at most ${maxStringBytes}`);
}

/** A whole number of at least `min`, as the value of a flag. */
export function parseCount(flag: string, text: string, min: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value) && value >= min) return value;
  throw new UsageError(`--${flag}: came ${JSON.stringify(text)}; allowed is a whole number from ${min} on`);
}

/** One of the names, in any case, as the value of a flag. */
export function parseChoice<Name extends string>(flag: string, text: string, names: readonly Name[]): Name {
  const name = names.find((one) => one.toLowerCase() === text.toLowerCase());
  if (name !== undefined) return name;
  const allowed = `allowed is ${names.join(', ')}`;
  throw new UsageError(`--${flag}: came ${JSON.stringify(text)}; ${allowed}${didYouMean(text, names)}`);
}
