// Parses command lines strictly: every flag is in a table, an unknown flag is refused with a hint, a wrong value is refused with the
// allowed values. The help texts come from the same tables.
import { didYouMean, UsageError } from '../usage-error.ts';

export type Flag = {
  readonly name: string;
  /** `boolean` flags take no value; `many` may be given several times or hold a comma-separated list. */
  readonly kind: 'text' | 'many' | 'boolean';
  /** The value in help texts: `PATH`. */
  readonly value?: string;
  readonly help: string;
};

export type ParsedFlags = {
  readonly positionals: readonly string[];
  text(name: string): string | undefined;
  many(name: string): readonly string[];
  boolean(name: string): boolean;
};

/** Throws a UsageError. `--name value` and `--name=value` are the same. */
export function parseFlags(args: readonly string[], flags: readonly Flag[]): ParsedFlags {
  const given = new Map<string, string[]>();
  const positionals: string[] = [];
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (!arg.startsWith('-')) positionals.push(arg);
    else addFlag(arg, rest, flags, given);
  }
  return {
    positionals,
    text: (name) => given.get(name)?.at(-1),
    many: (name) =>
      (given.get(name) ?? [])
        .flatMap((list) => list.split(','))
        .map((item) => item.trim())
        .filter((item) => item !== ''),
    boolean: (name) => given.has(name),
  };
}

function addFlag(arg: string, rest: string[], flags: readonly Flag[], given: Map<string, string[]>): void {
  const [name = arg, inline] = splitOnce(arg);
  const flag = flags.find((candidate) => `--${candidate.name}` === name);
  if (flag === undefined) {
    const known = flags.map((candidate) => `--${candidate.name}`);
    throw new UsageError(didYouMean(`unknown flag ${name}`, name, known));
  }
  const values = given.get(flag.name) ?? [];
  if (flag.kind === 'text' && values.length > 0) throw new UsageError(`${name} was given twice`);
  given.set(flag.name, [...values, valueFor(flag, inline, rest)]);
}

function valueFor(flag: Flag, inline: string | undefined, rest: string[]): string {
  if (flag.kind === 'boolean') {
    if (inline !== undefined) throw new UsageError(`--${flag.name} takes no value, ${inline} came`);
    return '';
  }
  const value = inline ?? rest.shift();
  const isEmpty = value === undefined || (flag.kind === 'many' ? /^[\s,]*$/ : /^$/).test(value);
  if (isEmpty || (inline === undefined && value.startsWith('--'))) {
    throw new UsageError(`--${flag.name} needs a value: --${flag.name} ${flag.value ?? 'VALUE'}`);
  }
  return value;
}

function splitOnce(arg: string): readonly string[] {
  const at = arg.indexOf('=');
  return at < 0 ? [arg] : [arg.slice(0, at), arg.slice(at + 1)];
}

/** One of a closed list; the default when nothing was given. */
export function oneOf<T extends string>(
  flag: string,
  value: string | undefined,
  allowed: readonly T[],
  otherwise: T,
): T {
  if (value === undefined) return otherwise;
  const found = allowed.find((candidate) => candidate === value);
  if (found !== undefined) return found;
  throw new UsageError(
    didYouMean(`--${flag}: ${value} came, allowed: ${allowed.join(', ')}`, value, allowed),
  );
}

/** A number in a range, both ends allowed. */
export function numberIn(
  flag: string,
  value: string | undefined,
  range: { readonly low: number; readonly high: number; readonly whole: boolean },
  otherwise: number,
): number {
  if (value === undefined) return otherwise;
  const number = Number(value);
  const fits =
    value.trim() !== '' &&
    number >= range.low &&
    number <= range.high &&
    (!range.whole || Number.isInteger(number));
  if (fits) return number;
  const kind = range.whole ? 'a whole number' : 'a number';
  throw new UsageError(`--${flag}: ${value} came, allowed: ${kind} from ${range.low} to ${range.high}`);
}

/** The flags as aligned help lines. */
export function flagLines(flags: readonly Flag[]): readonly string[] {
  const heads = flags.map(
    (flag) => `  --${flag.name}${flag.kind === 'boolean' ? '' : ` ${flag.value ?? 'VALUE'}`}`,
  );
  const width = Math.max(...heads.map((head) => head.length)) + 2;
  return flags.map((flag, index) => `${(heads[index] ?? '').padEnd(width)}${flag.help}`);
}
