// The error of a connection string that is not valid. Its message says what is wrong, where, and what is allowed. Must never contain a
// password: `quoted` decides which texts a message may show.

import { ClientError } from '../errors.ts';

/** A connection string is not valid. `code` is `INVALID_CONNECTION_STRING`. The message never contains the password. */
export class ConnectionStringError extends ClientError {
  /** Where the faulty part begins, in UTF-16 units from 1. */
  readonly position: number;

  constructor(position: number, problem: string) {
    super('INVALID_CONNECTION_STRING', `connection string, character ${position}: ${problem}`);
    this.position = position;
  }
}

// Without `:`, `@`, `=` and spaces, so that a part that was cut in the wrong place cannot contain a password.
const harmless = /^[\w.,+-]{1,40}$/;

/** The text in quotes, or `otherwise` if it may contain a part of a password. */
export function quoted(text: string, isSecret: boolean, otherwise: string): string {
  return !isSecret && harmless.test(text) ? JSON.stringify(text) : otherwise;
}
