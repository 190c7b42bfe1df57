// Splits a connection string of the form vibemq://[user:password@]host[:port][?key=value&..] into its entries. Decodes percent escapes;
// what keys and values mean is in keys.ts. Implements CLIENT-030.

import { ConnectionStringError } from './connection-string-error.ts';
import type { Entry } from './entry.ts';

const SCHEME = 'vibemq://';

/** Whether the text has the form of a URL, of whatever scheme. */
export function isUrl(text: string): boolean {
  return /^\s*[a-z][a-z\d+.-]*:\/\//i.test(text);
}

/** @throws ConnectionStringError */
export function splitUrl(text: string): readonly Entry[] {
  const start = text.search(/\S/);
  if (text.slice(start, start + SCHEME.length).toLowerCase() !== SCHEME) {
    throw new ConnectionStringError(start + 1, `the scheme must be ${SCHEME}`);
  }
  const end = text.trimEnd().length;
  const authorityAt = start + SCHEME.length;
  const queryAt = text.indexOf('?', authorityAt);
  const authorityEnd = queryAt === -1 ? end : queryAt;
  const query = queryAt === -1 ? [] : splitQuery(text.slice(0, end), queryAt + 1);
  return [...splitAuthority(text.slice(0, authorityEnd), authorityAt), ...query];
}

/** Reads `[user[:password]@]host[:port]`, from `at` to the end of the text. Its parts are never shown: any may be a password. */
function splitAuthority(text: string, at: number): readonly Entry[] {
  const end = text.endsWith('/') && text.length > at ? text.length - 1 : text.length;
  const authority = text.slice(at, end);
  const reserved = authority.search(/[/#]/);
  if (reserved !== -1) {
    const problem = 'a path is not allowed; in a name or password write / as %2F, # as %23 and ? as %3F';
    throw new ConnectionStringError(at + reserved + 1, problem);
  }
  const hostAt = authority.lastIndexOf('@') + 1;
  const credentials = hostAt === 0 ? [] : splitCredentials(authority.slice(0, hostAt - 1), at);
  return [...credentials, ...splitHost(authority.slice(hostAt), at + hostAt)];
}

function splitCredentials(text: string, at: number): readonly Entry[] {
  const colon = text.indexOf(':');
  if (colon === -1) return [entry('username', text, at)];
  return [
    entry('username', text.slice(0, colon), at),
    entry('password', text.slice(colon + 1), at + colon + 1),
  ];
}

function splitHost(text: string, at: number): readonly Entry[] {
  const hostEnd = text.startsWith('[') ? text.indexOf(']') + 1 : text.search(/:|$/);
  const rest = text.slice(hostEnd);
  if (text.startsWith('[') && (hostEnd === 0 || !/^(:|$)/.test(rest))) {
    throw new ConnectionStringError(at + 1, 'an IPv6 address must stand in brackets, like [::1]:2925');
  }
  if (rest.lastIndexOf(':') > 0) {
    const problem = 'host:port is expected; an IPv6 address stands in brackets, like [::1]:2925';
    throw new ConnectionStringError(at + 1, problem);
  }
  const host = entry('host', text.slice(0, hostEnd), at);
  return rest === '' ? [host] : [host, entry('port', rest.slice(1), at + hostEnd + 1)];
}

function splitQuery(text: string, at: number): readonly Entry[] {
  // No value needs an `@`. A `?` in a password begins the query too early, and then an `@` follows.
  if (text.includes('@', at)) {
    throw new ConnectionStringError(at, '@ is not allowed after ?; in a name or password write ? as %3F');
  }
  const entries: Entry[] = [];
  let position = at;
  for (const piece of text.slice(at).split('&')) {
    if (piece !== '') entries.push(splitPair(piece, position));
    position += piece.length + 1;
  }
  return entries;
}

function splitPair(piece: string, at: number): Entry {
  const equals = piece.indexOf('=');
  if (equals === -1) {
    throw new ConnectionStringError(at + 1, 'key=value is expected after ?, and & between them');
  }
  const key = decode(piece.slice(0, equals), at);
  if (/^(host|port|username|password)$/i.test(key)) {
    throw new ConnectionStringError(
      at + 1,
      `${key.toLowerCase()} belongs before the ?: ${SCHEME}user:password@host:port`,
    );
  }
  return { key, value: decode(piece.slice(equals + 1), at + equals + 1), position: at + 1, isSecret: false };
}

function entry(key: string, text: string, at: number): Entry {
  return { key, value: decode(text, at), position: at + 1, isSecret: true };
}

function decode(text: string, at: number): string {
  try {
    return decodeURIComponent(text);
  } catch {
    const problem = 'after % two hexadecimal digits are expected, which are UTF-8; write % itself as %25';
    throw new ConnectionStringError(at + text.indexOf('%') + 1, problem);
  }
}
