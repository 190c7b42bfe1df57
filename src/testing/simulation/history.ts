// What a simulation writes down about a run, and all that its checkers are given: what was handed to the broker and what it wrote,
// at the broker's end of each connection, with the figures that it publishes about itself. Types only; nothing of the core.

import type { BrokerStats } from '../../broker/interface/stats.ts';
import type { QueueInfo } from '../../model/queue-info.ts';
import type { QueueOptions } from '../../model/queue-options.ts';
import type { Message } from '../../protocol/message.ts';

/** What a simulated client says that it published. `number` is different for every publish, repeats included. */
export type Published = {
  readonly number: number;
  /** 0 (Low) to 3 (Critical). */
  readonly priority: number;
  readonly payload: Buffer;
  readonly headers: ReadonlyMap<string, string>;
};

/** A whole frame of a client, as the client means it. */
export type SentCommand = {
  readonly command: number;
  /** For an Ack: of the message it names. */
  readonly id: string;
  /** Empty when absent. */
  readonly queue: string;
  readonly published?: Published;
  readonly maxInFlight?: number;
  /** Of a CreateQueue; absent: the broker's defaults. */
  readonly options?: QueueOptions;
  /** Makes an Ack a negative one. */
  readonly failureReason?: 'HandlerException' | 'DeserializationError';
  /** Broken on purpose: inside its frame, or in the frame itself, which ends the connection. */
  readonly fault?: 'body' | 'frame';
};

export type Figures = BrokerStats & { readonly errorsCount: number };

/** The process has ended in good order, or died; or its store has failed, and it drops what it knew. */
export type LifeEnd = 'exit' | 'crash' | 'storeFailed';

export type Observation =
  /** A client that means to stay silent is bound to be closed. */
  | { readonly kind: 'opened'; readonly connection: number; readonly isSilent: boolean }
  /** The last byte of the command has been handed to the broker. */
  | {
      readonly kind: 'command';
      readonly connection: number;
      readonly command: SentCommand;
      readonly at: number;
    }
  /** The client's end of its side, or its loss, has been handed to the broker. */
  | { readonly kind: 'clientGone'; readonly connection: number }
  /** The batch that has just begun carries out everything that was handed over on this connection before. */
  | { readonly kind: 'taken'; readonly connection: number }
  /** A batch of inputs is about to be stepped. */
  | { readonly kind: 'batchBegan'; readonly at: number; readonly wallAt: number }
  /** It was stepped, and these are the broker's figures now; its frames may come later. */
  | {
      readonly kind: 'batchStepped';
      readonly figures: Figures;
      readonly queues: ReadonlyMap<string, QueueInfo>;
    }
  /** The broker has written a whole frame. It arose in the batch `sinceEpoch` (counted from 1) or a later one. */
  | {
      readonly kind: 'frame';
      readonly connection: number;
      readonly message: Message;
      readonly sinceEpoch: number;
    }
  /** The broker has written more than the client takes for now, or no longer has. */
  | { readonly kind: 'congestion'; readonly connection: number; readonly isCongested: boolean }
  /** The broker has ended its side, or the connection is lost. */
  | { readonly kind: 'brokerEnded'; readonly connection: number }
  /** Nothing is under way in the broker: every batch is committed and sent. `restful`: connections with nothing unread or unsent. */
  | {
      readonly kind: 'idle';
      readonly at: number;
      readonly figures: Figures;
      readonly restful: ReadonlySet<number>;
    }
  /** The operator has asked for everything that waits in the queue to be taken out. */
  | { readonly kind: 'purgeAsked'; readonly queue: string }
  /** The operator was told what came of it. */
  | { readonly kind: 'purgeEnded'; readonly queue: string }
  /** The broker was told to end in good order. */
  | { readonly kind: 'draining'; readonly at: number }
  /** The broker has ended. */
  | { readonly kind: 'ended'; readonly at: number }
  /** What was in memory is gone, and so are all connections, or will be. */
  | { readonly kind: 'lifeEnded'; readonly how: LifeEnd; readonly at: number }
  /** The broker takes clients, with what it has recovered; no batch of this life has begun. */
  | {
      readonly kind: 'serving';
      readonly at: number;
      readonly figures: Figures;
      readonly queues: ReadonlyMap<string, QueueInfo>;
    }
  /** From here on nobody misbehaves, and every queue has a subscriber that acknowledges at once. */
  | { readonly kind: 'faultsStopped' }
  /** Everything should have come to its end. */
  | { readonly kind: 'finished' };
