// The rules for user names, passwords and patterns of access lists, for broker, configuration and tools. Implements AUTH-051, AUTH-052 and
// AUTH-053; a test compares the limits with spec/tables/limits.yaml.

import { isQueueName } from './queue-name.ts';

/** The longest user name, in UTF-16 units. */
export const MAX_USER_NAME_LENGTH = 64;
/** The longest password, in bytes of UTF-8: bcrypt reads no further. */
export const MAX_PASSWORD_BYTES = 72;
/** The longest pattern of an access list, in UTF-16 units; a pattern without `*` can then be any queue name. */
export const MAX_PATTERN_LENGTH = 256;

const utf8 = new TextEncoder();
const unpairedSurrogate = /\p{Surrogate}/u;

/** Whether the text is a user name: 1 to 64 of the characters that queue names may contain. */
export function isUserName(text: string): boolean {
  return text.length <= MAX_USER_NAME_LENGTH && isQueueName(text);
}

/** Whether the text is a password: 1 to 72 bytes. Half of a surrogate pair has no bytes, so that others would be the same password. */
export function isPassword(text: string): boolean {
  // A unit has at least one byte: a long text need not be encoded.
  if (text === '' || text.length > MAX_PASSWORD_BYTES || unpairedSurrogate.test(text)) return false;
  return utf8.encode(text).length <= MAX_PASSWORD_BYTES;
}

/** Whether the text is a pattern: 1 to 256 characters of any kind, whether or not queue names may contain them. */
export function isQueuePattern(text: string): boolean {
  return text !== '' && text.length <= MAX_PATTERN_LENGTH && !unpairedSurrogate.test(text);
}
