// When a client tries to reconnect: the delay before each attempt, and the checks of the options for it. Pure; supervisor.ts waits. Implements
// CLIENT-011 to CLIENT-013.

import { checkKeys, checkNumber, checkType, type KeysOf } from './option-checks.ts';

export type ReconnectOptions = {
  /** Attempts in a row; the connection that succeeds starts the count anew. Default 2,147,483,647. */
  readonly maxAttempts?: number;
  /** The delay before the first attempt. Default 1 s. */
  readonly initialDelayMs?: number;
  /** The longest delay. Default 5 min. */
  readonly maxDelayMs?: number;
  /** Doubles the delay after each attempt. Default true; false waits `initialDelayMs` before every attempt. */
  readonly exponentialBackoff?: boolean;
  /** Shortens each delay by a random part of at most half, so that many clients do not reconnect together. Default false. */
  readonly jitter?: boolean;
};

export type ReconnectSettings = Required<ReconnectOptions>;

/** The largest number of attempts, and the longest delay of a timer of Node.js. */
export const MAX_INT32 = 2_147_483_647;

const optionKeys: KeysOf<ReconnectOptions> = {
  maxAttempts: true,
  initialDelayMs: true,
  maxDelayMs: true,
  exponentialBackoff: true,
  jitter: true,
};

/** @throws TypeError for an unknown option or a value of another type; RangeError when a number is not in its range */
export function toReconnectSettings(options: ReconnectOptions): ReconnectSettings {
  checkKeys('reconnect', options, optionKeys);
  checkType('reconnect.exponentialBackoff', options.exponentialBackoff, 'boolean');
  checkType('reconnect.jitter', options.jitter, 'boolean');
  return {
    maxAttempts: checked('maxAttempts', options.maxAttempts ?? MAX_INT32),
    initialDelayMs: checked('initialDelayMs', options.initialDelayMs ?? 1_000),
    maxDelayMs: checked('maxDelayMs', options.maxDelayMs ?? 300_000),
    exponentialBackoff: options.exponentialBackoff ?? true,
    jitter: options.jitter ?? false,
  };
}

/** The delay before attempt `attempt`, which counts from 1. `random` is at least 0 and less than 1, and used for jitter only. */
export function reconnectDelayMs(settings: ReconnectSettings, attempt: number, random: number): number {
  const { initialDelayMs, maxDelayMs, exponentialBackoff, jitter } = settings;
  // 2 ** 1024 is Infinity, and 0 * Infinity is NaN, which is not a time.
  const doubles = exponentialBackoff && initialDelayMs > 0;
  const delayMs = doubles ? Math.min(initialDelayMs * 2 ** (attempt - 1), maxDelayMs) : initialDelayMs;
  return jitter ? delayMs * (1 - random / 2) : delayMs;
}

function checked(name: string, value: number): number {
  checkNumber(`reconnect.${name}`, value, 0, MAX_INT32);
  return value;
}
