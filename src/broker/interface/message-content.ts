// What a message contains is opaque to the core: it is kept, handed to subscribers and to the store, and never opened.

import type { DeadLetterReason } from '../../model/dead-letter-reason.ts';

export type MessageContent = {
  /** What the content weighs against limits in bytes, the names of queue and id included. */
  readonly byteLength: number;
  /** The bytes, for a store: `byteLength` of them. They must not be changed. The core never asks for them. */
  toBytes(): Uint8Array;
};

/** What a dead letter carries besides the message. Its presence is the mark that it is never dead-lettered again. */
export type DeadLetterFacts = {
  readonly reason: DeadLetterReason;
  /** The queue that gave the message up. */
  readonly source: string;
  /** Attempts that failed there. */
  readonly attempts: number;
  readonly deadLetteredWallAt: number;
};
