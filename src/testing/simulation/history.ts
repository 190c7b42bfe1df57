// The history of a simulated run, the only input of its checkers: what was passed to the broker and what it wrote, at the broker's end of
// each connection, with the statistics that it publishes. Types only, none of them the core's.

import type { BrokerStats } from '../../broker/interface/stats.ts';
import type { QueueInfo } from '../../model/queue-info.ts';
import type { QueueOptions } from '../../model/queue-options.ts';
import type { Message } from '../../protocol/message.ts';

/** A publish as the simulated client made it. `number` is different for every publish, repeats included. */
export type Published = {
  readonly number: number;
  /** 0 (Low) to 3 (Critical). */
  readonly priority: number;
  readonly payload: Buffer;
  readonly headers: ReadonlyMap<string, string>;
};

/** A whole frame of a client, as values. */
export type SentCommand = {
  readonly command: number;
  /** For an Ack: the id of its message. */
  readonly id: string;
  /** Empty when absent. */
  readonly queue: string;
  readonly published?: Published;
  readonly maxInFlight?: number;
  /** For a CreateQueue; undefined: the broker's defaults. */
  readonly options?: QueueOptions;
  /** Makes an Ack a negative one. */
  readonly failureReason?: 'HandlerException' | 'DeserializationError';
  /** Broken on purpose: inside its frame, or in the frame itself, which ends the connection. */
  readonly fault?: 'body' | 'frame';
};

export type Figures = BrokerStats & { readonly errorsCount: number };

/** How a life ended: the process ended in good order, or crashed; or its store failed, and it dropped its state. */
export type LifeEnd = 'exit' | 'crash' | 'storeFailed';

export type Observation =
  /** A client that sends nothing will be closed. */
  | { readonly kind: 'opened'; readonly connection: number; readonly isSilent: boolean }
  /** The last byte of the command was passed to the broker. */
  | {
      readonly kind: 'command';
      readonly connection: number;
      readonly command: SentCommand;
      readonly at: number;
    }
  /** The end or the loss of the client's side was passed to the broker. */
  | { readonly kind: 'clientGone'; readonly connection: number }
  /** The new batch processes everything that was passed on this connection before. */
  | { readonly kind: 'taken'; readonly connection: number }
  /** A batch of inputs begins. */
  | { readonly kind: 'batchBegan'; readonly at: number; readonly wallAt: number }
  /** The batch was stepped, with the broker's statistics after it; its frames may follow later. */
  | {
      readonly kind: 'batchStepped';
      readonly figures: Figures;
      readonly queues: ReadonlyMap<string, QueueInfo>;
    }
  /** The broker has written a whole frame, caused by the batch `sinceEpoch` (counted from 1) or a later one. */
  | {
      readonly kind: 'frame';
      readonly connection: number;
      readonly message: Message;
      readonly sinceEpoch: number;
    }
  /** Unsent output began or ceased to exceed its limit. */
  | { readonly kind: 'congestion'; readonly connection: number; readonly isCongested: boolean }
  /** The broker has ended its side, or the connection is lost. */
  | { readonly kind: 'brokerEnded'; readonly connection: number }
  /** The broker is idle: every batch is committed and sent. `restful`: connections with nothing unread or unsent. */
  | {
      readonly kind: 'idle';
      readonly at: number;
      readonly figures: Figures;
      readonly restful: ReadonlySet<number>;
    }
  /** The operator has requested a purge of the queue. */
  | { readonly kind: 'purgeAsked'; readonly queue: string }
  /** The purge was answered. */
  | { readonly kind: 'purgeEnded'; readonly queue: string }
  /** The broker was told to shut down. */
  | { readonly kind: 'draining'; readonly at: number }
  /** The broker has ended. */
  | { readonly kind: 'ended'; readonly at: number }
  /** The state in memory is lost; the connections are closed or will be. */
  | { readonly kind: 'lifeEnded'; readonly how: LifeEnd; readonly at: number }
  /** The broker serves, with the recovered state; no batch of this life has begun. */
  | {
      readonly kind: 'serving';
      readonly at: number;
      readonly figures: Figures;
      readonly queues: ReadonlyMap<string, QueueInfo>;
    }
  /** From here on there are no faults, and every queue has a subscriber that acknowledges immediately. */
  | { readonly kind: 'faultsStopped' }
  /** All messages should have ended. */
  | { readonly kind: 'finished' };
