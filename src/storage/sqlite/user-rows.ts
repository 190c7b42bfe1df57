// Rows of the user database as values. Existing brokers may have written them, so times are Unix seconds or texts, and nothing is believed
// that was not checked: a row that cannot be right throws an error that says what is wrong with it.

import type { StoredUser } from '../../auth/user-store.ts';
import { type AccessEntry, QueueOperation } from '../../model/access.ts';

export type UserRow = {
  readonly username: unknown;
  readonly password_hash: unknown;
  readonly is_superuser: unknown;
  readonly created_at: unknown;
  readonly updated_at: unknown;
};

export type PermissionRow = {
  readonly username: unknown;
  readonly queue_pattern: unknown;
  readonly operations: unknown;
};

const knownOperations: readonly unknown[] = Object.values(QueueOperation);

/** Throws an Error whose message names the user and the column. */
export function userOf(row: UserRow): StoredUser {
  const username = textOf(row.username, 'a user name');
  const of = `of user ${username}`;
  return {
    username,
    passwordHash: textOf(row.password_hash, `password_hash ${of}`),
    isSuperuser: flagOf(row.is_superuser, `is_superuser ${of}`),
    createdAt: secondsOf(row.created_at, `created_at ${of}`),
    updatedAt: secondsOf(row.updated_at, `updated_at ${of}`),
  };
}

/** Throws an Error whose message names the user, the pattern and the column. */
export function accessEntryOf(row: PermissionRow): AccessEntry {
  const username = textOf(row.username, 'the user name of an access list');
  const queuePattern = textOf(row.queue_pattern, `a queue_pattern of user ${username}`);
  const what = `operations of user ${username} on ${JSON.stringify(queuePattern)}`;
  return { queuePattern, operations: operationsOf(textOf(row.operations, what), what) };
}

export function operationsText(operations: readonly QueueOperation[]): string {
  return JSON.stringify(operations);
}

function operationsOf(text: string, what: string): readonly QueueOperation[] {
  const numbers = parseJson(text);
  const isRight = Array.isArray(numbers) && numbers.every((number) => knownOperations.includes(number));
  if (!isRight)
    throw new Error(`${what} is not a JSON array of numbers from 0 to ${knownOperations.length - 1}`);
  return numbers;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function textOf(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new Error(`${what} is not a text`);
  return value;
}

function flagOf(value: unknown, what: string): boolean {
  if (value !== 0 && value !== 1) throw new Error(`${what} is neither 0 nor 1`);
  return value === 1;
}

function secondsOf(value: unknown, what: string): number {
  const seconds = typeof value === 'string' ? secondsOfText(value) : value;
  if (typeof seconds !== 'number' || !Number.isFinite(seconds)) throw new Error(`${what} is not a time`);
  return Math.floor(seconds);
}

/** `1795213571`, `2026-11-20 22:26:11` or a form of ISO 8601; without a zone it is UTC, as SQLite writes it. */
function secondsOfText(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  const hasZone = /(Z|[+-]\d\d:?\d\d)$/i.test(text);
  return Date.parse(`${text.replace(' ', 'T')}${hasZone ? '' : 'Z'}`) / 1_000;
}
