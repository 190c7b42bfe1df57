// What both forms of a connection string consist of: keys with values, each with its place in the text.

export type Entry = {
  readonly key: string;
  readonly value: string;
  /** Where the entry begins in the text, in UTF-16 units from 1. */
  readonly position: number;
  /** May contain a part of a password, so that no message shows it. */
  readonly isSecret: boolean;
};
