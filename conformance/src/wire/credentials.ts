// Adds the credentials of an attached broker to the Connects of a check. A Connect that carries credentials of its own stays as it is.
// Areas: AUTH, CONN.
import { Command } from './command.ts';
import type { FrameFields } from './frame.ts';
import { headerPairs } from './frame.ts';

/** Headers of Connect. */
export type Credentials = {
  readonly authToken?: string;
  readonly authUsername?: string;
  readonly authPassword?: string;
};

const names: readonly string[] = [
  'authToken',
  'authUsername',
  'authPassword',
] satisfies (keyof Credentials)[];

export function withCredentials(fields: FrameFields, credentials: Credentials = {}): FrameFields {
  if (fields.command !== Command.Connect) return fields;
  const pairs = headerPairs(fields.headers);
  if (pairs.some(([name]) => names.includes(name))) return fields;
  const added = Object.entries(credentials);
  return added.length === 0 ? fields : { ...fields, headers: [...pairs, ...added] };
}
