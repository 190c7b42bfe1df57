// Users and their rights, as the whole broker speaks of them: operations on queues, entries of access lists, and who a connection is.
// Types and data only. Implements the vocabulary of AUTH-016, AUTH-017 and AUTH-034; a test compares the operations with spec/auth.md.

/** The operations on queues, with their numbers in the user store. */
export const QueueOperation = {
  Publish: 0,
  Subscribe: 1,
  CreateQueue: 2,
  DeleteQueue: 3,
  PurgeQueue: 4,
  GetQueueInfo: 5,
  ListQueues: 6,
} as const;
export type QueueOperation = (typeof QueueOperation)[keyof typeof QueueOperation];
export type QueueOperationName = keyof typeof QueueOperation;

/** One entry of an access list: allows its operations on the queues that its pattern matches. Immutable. */
export type AccessEntry = {
  /** `*` stands for any run of characters; everything else for itself, in any case. */
  readonly queuePattern: string;
  readonly operations: readonly QueueOperation[];
};

/** A user of the broker as of one moment: a change of its rights makes a new principal. Immutable. */
export type Principal = {
  readonly username: string;
  /** May do everything; its access list is empty. */
  readonly isSuperuser: boolean;
  readonly accessList: readonly AccessEntry[];
};
