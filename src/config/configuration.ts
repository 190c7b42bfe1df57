// The effective configuration, which the rest of the broker reads. Its type is derived from the table of keys; property names are the keys,
// with the unit at the end of durations (`Ms`) and sizes (`Bytes`). Types and naming only. Implements CONFIG-007 and CONFIG-013.

import type { ConfigurationKey, configurationKeys } from './keys.ts';

type Table = typeof configurationKeys;

type Property<Key extends ConfigurationKey> = Table[Key]['kind'] extends 'duration'
  ? `${Key}Ms`
  : Table[Key]['kind'] extends 'size'
    ? Key extends `${string}Bytes`
      ? Key
      : `${Key}Bytes`
    : Key;

type Value<Kind> = Kind extends { readonly kind: 'text' }
  ? string
  : Kind extends { readonly kind: 'boolean' }
    ? boolean
    : Kind extends { readonly kind: 'choice'; readonly choices: readonly (infer Choice)[] }
      ? Choice
      : Kind extends { readonly kind: 'list'; readonly choices: readonly (infer Choice)[] }
        ? readonly Choice[]
        : Kind extends { readonly kind: 'list' }
          ? readonly string[]
          : number;

/** The typed values of every key, e.g. `port: number`, `ackTimeoutMs: number`, `maxMessageSizeBytes: number`. */
export type Configuration = { readonly [Key in ConfigurationKey as Property<Key>]: Value<Table[Key]> };

/** A value as a program gives it: a duration also in milliseconds, a size also in bytes. */
type GivenValue<Kind> = Kind extends { readonly kind: 'duration' | 'size' } ? number | string : Value<Kind>;

/**
 * The keys as a program gives them, under the names of the reference: `ackTimeout: '5s'` or `ackTimeout: 5_000`. Without the keys of the log,
 * because such a program brings its own.
 */
export type ConfigurationOptions = {
  readonly [Key in Exclude<ConfigurationKey, LogKey>]?: GivenValue<Table[Key]> | undefined;
};

type LogKey = 'logLevel' | 'logFormat';

/** The origin of a value; later kinds take precedence over earlier ones. */
export type Origin =
  | { readonly kind: 'default' }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'environment'; readonly variable: string }
  | { readonly kind: 'flag'; readonly flag: string }
  /** Given by the program that contains the broker. */
  | { readonly kind: 'option' };

export type Chosen = { readonly value: unknown; readonly origin: Origin };

/** The value of every key so far; a key without a value gets a derived default. */
export type Choices = Map<ConfigurationKey, Chosen>;

/** One key with its value as text and its origin, for `truemq config`. */
export type Setting = { readonly key: ConfigurationKey; readonly text: string; readonly origin: Origin };

export type LoadedConfiguration = {
  readonly configuration: Configuration;
  /** Every key, in the order of the table. */
  readonly settings: readonly Setting[];
  /** Warnings, one sentence each. */
  readonly warnings: readonly string[];
};

/** The facts that derived defaults depend on. */
export type Machine = {
  /** The container's memory, else the machine's. */
  readonly memoryBytes: number;
  /** What the JavaScript heap may grow to. */
  readonly heapLimitBytes: number;
  /** How many files and connections the process may have open. Absent: that is not known here. */
  readonly openFileLimit?: number;
  /** Whether stderr is a terminal. */
  readonly isTerminal: boolean;
  /** Processor cores that the broker may use. Absent: one. */
  readonly coreCount?: number;
  /** Whether the file of users that is used by default exists. Absent: no. */
  readonly hasUserDatabase?: boolean;
};

/** One or more invalid settings. `problems` has one sentence for each: key, origin, value, and what is allowed. */
export class ConfigurationError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigurationError';
    this.problems = problems;
  }
}

/** `flag --port`, `environment TRUEMQ_PORT`, `file truemq.yaml`, `option` or `default`. */
export function describeOrigin(origin: Origin): string {
  switch (origin.kind) {
    case 'default':
      return 'default';
    case 'file':
      return `file ${origin.path}`;
    case 'environment':
      return `environment ${origin.variable}`;
    case 'flag':
      return `flag ${origin.flag}`;
    case 'option':
      return 'option';
  }
}
