// The keys of authentication, a part of the table of keys.ts. Values and words only. Implements AUTH-054 for the two secrets.

import {
  isPassword,
  isUserName,
  MAX_PASSWORD_BYTES,
  MAX_USER_NAME_LENGTH,
} from '../model/credential-rules.ts';
import type { KeyKind } from './key-kinds.ts';

/** The longest value of a header, and so the longest token that a client can send. */
const MAX_TOKEN_LENGTH = 4_096;

export const authenticationKeys = {
  enableAuthentication: {
    kind: 'boolean',
    section: 'Authentication',
    words: ['true', 'false'],
    derived: 'true when authToken, superuserPassword or authDatabasePath is set',
    doc: 'Whether clients need credentials: the token, or the name and password of a user.',
  },
  authToken: {
    kind: 'text',
    section: 'Authentication',
    default: '',
    mayBeEmpty: true,
    secret: true,
    form: {
      isRight: (text) => text.length <= MAX_TOKEN_LENGTH,
      words: `at most ${MAX_TOKEN_LENGTH} characters`,
    },
    doc: 'The token that all clients share; 32 or more random characters are advised. As a flag it shows in the list of processes: prefer authTokenFile.',
  },
  authTokenFile: {
    kind: 'text',
    section: 'Authentication',
    default: '',
    mayBeEmpty: true,
    doc: 'A file that contains authToken. One line break at its end does not count.',
  },
  superuserUsername: {
    kind: 'text',
    section: 'Authentication',
    default: 'vibemq',
    form: {
      isRight: isUserName,
      words: `1 to ${MAX_USER_NAME_LENGTH} letters, digits, -, _ and full stops`,
    },
    doc: 'Name of the superuser that the broker makes at the start, if no user has that name. Does not turn authentication on: without anything that does, the broker refuses it.',
  },
  superuserPassword: {
    kind: 'text',
    section: 'Authentication',
    default: '',
    mayBeEmpty: true,
    secret: true,
    form: { isRight: isPassword, words: `1 to ${MAX_PASSWORD_BYTES} bytes` },
    doc: 'Password of the superuser when the broker makes it; one that exists keeps its own. When it is set, authorization is on. As a flag it shows in the list of processes: prefer superuserPasswordFile.',
  },
  superuserPasswordFile: {
    kind: 'text',
    section: 'Authentication',
    default: '',
    mayBeEmpty: true,
    doc: 'A file that contains superuserPassword. One line break at its end does not count.',
  },
  authDatabasePath: {
    kind: 'text',
    section: 'Authentication',
    derived: 'auth.db when superuserPassword is set or that file exists, else none',
    mayBeEmpty: true,
    doc: 'The file of users and access lists; the broker creates it if it does not exist. When it is set, authorization is on. :memory: keeps users until the broker stops.',
  },
  passwordCost: {
    kind: 'count',
    section: 'Authentication',
    default: 12,
    min: 4,
    max: 15,
    doc: 'Cost of the bcrypt hash of a new password; one more doubles the time of a check.',
  },
  authConcurrency: {
    kind: 'count',
    section: 'Authentication',
    derived: 'one less than the number of processor cores, but at least 1',
    min: 1,
    max: 1_024,
    doc: 'Maximum number of passwords that are checked in parallel, each by a thread of its own; 32 more may wait.',
  },
} as const satisfies Record<string, KeyKind>;
