// How messages that will wait for long are kept: many together, in one piece of memory that is no object of the JavaScript heap. A queue of a
// million messages then costs the garbage collector nothing. Implemented outside, where it is known what a content is. Types only.

import type { MessageContent } from './message-content.ts';

export type PackableMessage = { readonly id: string; readonly content: MessageContent };

/** Ids and contents of messages that were packed together. */
export type PackedContents = {
  /** How many messages there are: those from the first on that fitted. */
  readonly count: number;
  /** The id of one of them; `index` from 0 to `count` - 1. */
  idAt(index: number): string;
  /** The content of one of them, equal to the one that was packed. */
  contentAt(index: number): MessageContent;
  /** Frees the memory. Nothing may be asked afterwards; what was returned stays valid. */
  free(): void;
};

export type MessagePacking = {
  /** From this many waiting messages on, those that come are packed; at least 1. */
  readonly minWaiting: number;
  /** So many messages are packed together at most; at least 1. */
  readonly maxCount: number;
  /** So many bytes of contents are packed together, if the messages are not larger. */
  readonly maxBytes: number;
  /** Packs messages from the first on, at least one of them. */
  pack(messages: readonly PackableMessage[]): PackedContents;
};
