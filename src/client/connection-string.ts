// Reads connection strings, in both forms: vibemq://[user:password@]host[:port][?key=value&..] and Host=..;Port=..;key=value. Pure: opens
// nothing. Implements CLIENT-030 to CLIENT-032.

import { ConnectionStringError, quoted } from './connection-string/connection-string-error.ts';
import type { ConnectionStringOptions } from './connection-string/connection-string-options.ts';
import type { Entry } from './connection-string/entry.ts';
import { findKey, type Key, keys } from './connection-string/keys.ts';
import { splitKeys } from './connection-string/keys-form.ts';
import { isUrl, splitUrl } from './connection-string/url-form.ts';
import { checkArgument } from './option-checks.ts';

export { ConnectionStringError } from './connection-string/connection-string-error.ts';
export type { ConnectionStringOptions } from './connection-string/connection-string-options.ts';

/**
 * The options of a connection string; what it does not set is absent. Keys are compared without regard to case.
 * @throws ConnectionStringError that says what is wrong, where, and what is allowed; it never contains the password
 */
export function parseConnectionString(text: string): ConnectionStringOptions {
  checkArgument('the connection string', text, 'string');
  const entries = isUrl(text) ? splitUrl(text) : splitKeys(text);
  const seen = new Set<Key>();
  let options: Partial<ConnectionStringOptions> = {};
  for (const entry of entries) {
    const key = knownKey(entry);
    if (seen.has(key))
      throw new ConnectionStringError(entry.position, `${key.names.join(' or ')} is set twice`);
    seen.add(key);
    options = merge(options, readValue(key, entry));
  }
  return complete(options);
}

function knownKey({ key, position, isSecret }: Entry): Key {
  const found = findKey(key);
  if (found !== undefined) return found;
  const names = keys.map((known) => known.names.join(' or ')).join(', ');
  throw new ConnectionStringError(
    position,
    `the key ${quoted(key, isSecret, 'here')} is unknown; keys are ${names}`,
  );
}

function readValue(key: Key, { value, position, isSecret }: Entry): Partial<ConnectionStringOptions> {
  const options = key.read(value);
  if (options !== undefined) return options;
  const shown = value === '' ? 'an empty text' : quoted(value, isSecret, hidden(value));
  throw new ConnectionStringError(position, `${key.names[0]} must be ${key.allowed}; it is ${shown}`);
}

/** What may be a part of a password is not shown, but a port must not be called a text. */
function hidden(value: string): string {
  return /^-?\d+(\.\d+)?$/.test(value) ? 'another number' : 'another text';
}

function merge(
  one: Partial<ConnectionStringOptions>,
  other: Partial<ConnectionStringOptions>,
): Partial<ConnectionStringOptions> {
  const reconnect = { ...one.reconnect, ...other.reconnect };
  return { ...one, ...other, ...(Object.keys(reconnect).length > 0 && { reconnect }) };
}

function complete(options: Partial<ConnectionStringOptions>): ConnectionStringOptions {
  const { host, username, password } = options;
  if (host === undefined) {
    const forms = 'vibemq://[user:password@]host[:port][?key=value&..] or Host=..;Port=..;key=value';
    throw new ConnectionStringError(1, `the host is missing; a connection string is ${forms}`);
  }
  if (password !== undefined && username === undefined) {
    throw new ConnectionStringError(1, 'a password needs a username');
  }
  return { ...options, host };
}
