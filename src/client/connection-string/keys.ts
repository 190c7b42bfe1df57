// The keys of connection strings: a table of their names, of what each allows, and of the options that their values stand for. Both forms
// of connection strings share it. Implements CLIENT-032.

import { isIP } from 'node:net';
import { isQueueName } from '../../model/queue-name.ts';
import type { Algorithm } from '../../protocol/compression.ts';
import type { ConnectionStringOptions } from './connection-string-options.ts';

export type Key = {
  /** The first is the one that messages show; compared without regard to case. */
  readonly names: readonly [string, ...string[]];
  /** What the value must be, for messages. */
  readonly allowed: string;
  /** The options that the value stands for; undefined when it is not valid. */
  readonly read: (value: string) => Partial<ConnectionStringOptions> | undefined;
};

const MAX_COUNT = 2_147_483_647;
/** The longest duration that a timer of Node.js can wait for, in whole seconds. */
const MAX_SECONDS = 2_147_483;

const seconds = `seconds from 0.001 to ${MAX_SECONDS}, with at most three decimals`;

export const keys: readonly Key[] = [
  { names: ['Host'], allowed: 'a host name or an IP address', read: optional('host', readHost) },
  { names: ['Port'], allowed: 'a number from 1 to 65535', read: optional('port', wholeNumber(1, 65_535)) },
  { names: ['Username'], allowed: 'a text that is not empty', read: optional('username', readText) },
  { names: ['Password'], allowed: 'a text that is not empty', read: optional('password', readText) },
  { names: ['tls', 'useTls'], allowed: 'true or false', read: optional('useTls', readSwitch) },
  {
    names: ['skipCertValidation'],
    allowed: 'true or false',
    read: optional('skipCertificateValidation', readSwitch),
  },
  { names: ['keepAlive'], allowed: seconds, read: optional('keepAliveIntervalMs', readSeconds) },
  { names: ['commandTimeout'], allowed: seconds, read: optional('commandTimeoutMs', readSeconds) },
  {
    names: ['compression'],
    allowed: 'none, or brotli and gzip separated by a comma',
    read: optional('compressions', readAlgorithms),
  },
  {
    names: ['compressionThreshold'],
    allowed: `bytes from 0 to ${MAX_COUNT}`,
    read: optional('compressionThresholdBytes', wholeNumber(0, MAX_COUNT)),
  },
  {
    names: ['reconnectMaxAttempts'],
    allowed: `a number from 0 to ${MAX_COUNT}`,
    read: reconnect('maxAttempts', wholeNumber(0, MAX_COUNT)),
  },
  { names: ['reconnectInitialDelay'], allowed: seconds, read: reconnect('initialDelayMs', readSeconds) },
  { names: ['reconnectMaxDelay'], allowed: seconds, read: reconnect('maxDelayMs', readSeconds) },
  {
    names: ['reconnectExponentialBackoff'],
    allowed: 'true or false',
    read: reconnect('exponentialBackoff', readSwitch),
  },
  {
    names: ['queues'],
    allowed: 'different queue names separated by commas, each 1 to 256 letters, digits, "-", "_" or "."',
    read: optional('queues', readQueueNames),
  },
];

export function findKey(name: string): Key | undefined {
  const folded = name.toLowerCase();
  return keys.find(({ names }) => names.some((candidate) => candidate.toLowerCase() === folded));
}

type Read<Value> = (value: string) => Value | undefined;
type Options = ConnectionStringOptions;
type Reconnect = NonNullable<Options['reconnect']>;

function optional<Name extends keyof Options>(
  name: Name,
  read: Read<NonNullable<Options[Name]>>,
): Key['read'] {
  return (text) => {
    const value = read(text);
    return value === undefined ? undefined : { [name]: value };
  };
}

function reconnect<Name extends keyof Reconnect>(
  name: Name,
  read: Read<NonNullable<Reconnect[Name]>>,
): Key['read'] {
  return (text) => {
    const value = read(text);
    return value === undefined ? undefined : { reconnect: { [name]: value } };
  };
}

/** Names as DNS has them, and underscores, which some networks use; an IPv6 address with or without brackets. */
function readHost(text: string): string | undefined {
  const bare = /^\[(.*)\]$/.exec(text)?.[1];
  if (bare !== undefined) return isIP(bare) === 6 ? bare : undefined;
  return isIP(text) !== 0 || /^[\p{L}\p{Nd}_-]+(\.[\p{L}\p{Nd}_-]+)*\.?$/u.test(text) ? text : undefined;
}

function readText(text: string): string | undefined {
  return text === '' ? undefined : text;
}

function readSwitch(text: string): boolean | undefined {
  const folded = text.toLowerCase();
  if (folded === 'true') return true;
  return folded === 'false' ? false : undefined;
}

function wholeNumber(min: number, max: number): Read<number> {
  return (text) => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? value : undefined;
  };
}

/** Milliseconds. */
function readSeconds(text: string): number | undefined {
  const value = /^\d{1,10}(\.\d{1,3})?$/.test(text) ? Math.round(Number(text) * 1000) : 0;
  return value >= 1 && value <= MAX_SECONDS * 1000 ? value : undefined;
}

function readAlgorithms(text: string): readonly Algorithm[] | undefined {
  if (text.toLowerCase() === 'none') return [];
  const names = readList(text.toLowerCase());
  return names.every((name) => name === 'brotli' || name === 'gzip') && isDistinct(names) ? names : undefined;
}

function readQueueNames(text: string): readonly string[] | undefined {
  const names = readList(text);
  return names.every(isQueueName) && isDistinct(names) ? names : undefined;
}

function readList(text: string): readonly string[] {
  return text.split(',').map((name) => name.trim());
}

function isDistinct(names: readonly string[]): boolean {
  return new Set(names).size === names.length;
}
