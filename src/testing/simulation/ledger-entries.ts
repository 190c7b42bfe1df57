// The entries of the ledger. Epochs are numbers of batches, from 1; a fact of epoch n was caused by batch n. "Certain" means: true for
// every possible order inside a batch.

import type { QueueInfo } from '../../model/queue-info.ts';
import type { QueueOptions } from '../../model/queue-options.ts';
import type { Published, SentCommand } from './history.ts';

export type SeenCommand = {
  readonly connection: SeenConnection;
  readonly sent: SentCommand;
  /** The last batch that had begun when it was handed over: it was stepped in a later one. */
  readonly afterEpoch: number;
  readonly handedOverAt: number;
  /** Counts the commands of a connection. */
  readonly order: number;
  /** The batch by which it was certainly stepped. */
  takenEpoch: number | undefined;
  /** For a publish that certainly waited for room: how many messages the broker had accepted when that was seen last. */
  blockedAtCount: number | undefined;
};

export type SeenConnection = {
  readonly number: number;
  /** Commands that are owed an answer, in the order sent. */
  open: SeenCommand[];
  /** Handed over, not certainly stepped. */
  untaken: SeenCommand[];
  /** Acks that may be stepped in the present batch: they may be for what is only delivered in it. */
  recentAcks: SeenCommand[];
  /** Acks for which no delivery had been seen. */
  strayAckCount: number;
  readonly subscriptions: Map<string, SeenSubscription>;
  /** By number of the message and queue. */
  readonly copies: Map<string, Copy>;
  /** The last batch before it may have ended; undefined while it certainly goes on. */
  leavingSince: number | undefined;
  /** Why the connection may end; undefined: no known reason. */
  hasReasonToEnd: boolean;
  wasToldOfEnd: boolean;
  isConnected: boolean;
  /** The broker reads no more input of the connection. */
  isPastReading: boolean;
  commandCount: number;
  hasEnded: boolean;
  wasCongested: boolean;
  /** The batch after which the broker was seen to have more to write than the client takes, while it has. */
  congestedSince: number | undefined;
  /** The last batch that had begun when the broker had ended it. */
  endedEpoch: number | undefined;
  owesFaultAnswer: boolean;
  /** The broker lost its store before or during the connection: it gets Disconnect and is not served. */
  isUnserved: boolean;
  /** It was opened while the broker had no store: it is refused or, if its Connect comes when the broker serves again, served. */
  mayBeServed: boolean;
};

export type SeenSubscription = {
  readonly connection: SeenConnection;
  readonly queue: string;
  readonly maxInFlight: number | undefined;
  readonly startedEpoch: number;
  /** An Unsubscribe was handed over. */
  isEnding: boolean;
  hasEnded: boolean;
  readonly copies: Set<Copy>;
};

/** One message from one queue to one subscription. */
export type Copy = {
  readonly message: SeenMessage;
  readonly subscription: SeenSubscription;
  readonly queue: string;
  readonly isDeadLetter: boolean;
  readonly sends: Send[];
  /** Acks that may have been for it, positive and negative ones, by when they were handed over. */
  readonly possibleAcks: PossibleAck[];
  /** The batch in which an ack, or a refusal for good, certainly ended it. */
  settledEpoch: number | undefined;
  wasRefusedForGood: boolean;
};

export type Send = {
  /** The first and the last batch in which it may have arisen, and when those began. */
  readonly epoch: number;
  readonly byEpoch: number;
  readonly at: number;
  readonly byAt: number;
  /** The header `deliveryAttempts`, 1 when absent. */
  readonly attempt: number;
};

export type PossibleAck = {
  readonly command: SeenCommand;
  readonly failureReason: SentCommand['failureReason'];
  /** No other delivery could be meant. */
  readonly isCertain: boolean;
};

export type SeenMessage = {
  readonly published: Published;
  readonly id: string;
  readonly queue: string;
  readonly command: SeenCommand;
  state: 'open' | 'accepted' | 'refused' | 'unanswered';
  /** Published in an earlier life of the broker: whether it is there, these books do not say. */
  isInherited: boolean;
  /** Two publishes with its id waited for their answers on one connection: the answers cannot be assigned. */
  isAmbiguous: boolean;
  /** Its publisher left before there was room; a repeat by another publisher may still be accepted. */
  isWithdrawn: boolean;
  /** The first and the last batch in which its answer may have arisen, and when the last one began. */
  acceptedEpoch: number;
  acceptedByEpoch: number;
  acceptedAt: number;
  /** Counts the answers to publishes. */
  acceptedOrder: number;
  /** Of its queue when it was accepted, where that is certain. */
  options: QueueOptions | undefined;
  /** From its own queue; those of the dead letter queue are in `letter`. */
  copies: Copy[];
  sendCount: number;
  /** Known from the first delivery as a dead letter. */
  letter: SeenLetter | undefined;
};

export type SeenLetter = {
  readonly queue: string;
  readonly reason: string;
  readonly source: string;
  readonly attempts: number;
  readonly wallAt: number;
  readonly copies: Copy[];
  sendCount: number;
};

export type SeenQueue = {
  readonly name: string;
  info: QueueInfo | undefined;
  /** Maximum of waiting messages observed. */
  peakCount: number;
  /** DeleteQueues handed over whose outcome is not certain yet. */
  openDeletions: number;
  /** Purges that were not answered yet. */
  openPurges: number;
  /** The last batch in which a purge may have taken something; 0 for none. */
  purgedEpoch: number;
  /** The last batch in which it may have been deleted or created anew; 0 for none. */
  disturbedEpoch: number;
  /** The last batch in which it certainly was deleted, with the last batch before that DeleteQueue was handed over. */
  deleted: { readonly epoch: number; readonly afterEpoch: number } | undefined;
};

export function lastSend(copy: Copy): Send {
  const send = copy.sends.at(-1);
  if (send === undefined) throw new Error('A copy is written down when it is sent.');
  return send;
}

/** A client that sends nothing gives a reason to close its connection. */
export function newConnection(connection: number, isSilent: boolean): SeenConnection {
  return {
    number: connection,
    open: [],
    untaken: [],
    recentAcks: [],
    strayAckCount: 0,
    subscriptions: new Map(),
    copies: new Map(),
    leavingSince: undefined,
    hasReasonToEnd: isSilent,
    wasToldOfEnd: false,
    isConnected: false,
    isPastReading: false,
    commandCount: 0,
    hasEnded: false,
    wasCongested: false,
    congestedSince: undefined,
    endedEpoch: undefined,
    owesFaultAnswer: false,
    isUnserved: false,
    mayBeServed: false,
  };
}

export function newSubscription(
  connection: SeenConnection,
  sent: SentCommand,
  startedEpoch: number,
): SeenSubscription {
  return {
    connection,
    queue: sent.queue,
    maxInFlight: sent.maxInFlight,
    startedEpoch,
    isEnding: false,
    hasEnded: false,
    copies: new Set(),
  };
}

export function newMessage(command: SeenCommand): SeenMessage {
  const { published, id, queue } = command.sent;
  if (published === undefined) throw new Error('A publish is written down with what it published.');
  return {
    published,
    id,
    queue,
    command,
    state: 'open',
    isInherited: false,
    isAmbiguous: false,
    isWithdrawn: false,
    acceptedEpoch: 0,
    acceptedByEpoch: 0,
    acceptedAt: 0,
    acceptedOrder: 0,
    options: undefined,
    copies: [],
    sendCount: 0,
    letter: undefined,
  };
}
