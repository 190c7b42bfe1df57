// The publishes of a client, across all its connections: sends them in order within the window, keeps those that wait, and sends again those
// that a lost connection interrupted, with the same id, so that the broker stores them once. Implements CLIENT-042, CLIENT-043 and CLIENT-045.

import { ErrorCode } from '../model/error-code.ts';
import type { ClientConnection } from './client-connection.ts';
import {
  type ClientError,
  CommandError,
  ConnectionError,
  ProtocolError,
  PublishBufferFullError,
} from './errors.ts';
import { Fifo } from './fifo.ts';
import type { PublishOutcomes, PublishTask } from './publish-task.ts';
import { MessageTally, type PublishWindowOptions } from './publish-window.ts';
import type { Renewable } from './supervisor.ts';

/** Withdrawn publishes that may stay, beside as many as wait. */
const MAX_WITHDRAWN_COUNT = 256;
const MAX_WITHDRAWN_BYTES = 1_048_576;

export type PublisherOptions = {
  readonly window: Required<PublishWindowOptions>;
  /** Whether interrupted publishes are sent again; otherwise they fail. */
  readonly resends: boolean;
};

type RoomListener = (endedBy: ClientError | undefined) => void;

export class Publisher implements Renewable, PublishOutcomes {
  readonly #options: PublisherOptions;
  /** Sent and not confirmed, on this connection. */
  readonly #inFlight = new MessageTally();
  /** Not sent, or to be sent again. */
  readonly #held = new MessageTally();
  readonly #waiting = new Fifo<PublishTask>();
  /** Publishes that nobody waits for any more, and that are not removed from those that wait yet. */
  #withdrawn = new MessageTally();
  /** Sent on a connection that was lost, in this order. The next connection sends them before those that wait. */
  #interrupted: PublishTask[] = [];
  #roomListeners: RoomListener[] = [];
  readonly #endListeners = new Set<(error: ClientError) => void>();
  /** The connection that publishes are sent on; undefined while there is none. */
  #connection: ClientConnection | undefined;
  #endedBy: ClientError | undefined;

  constructor(options: PublisherOptions) {
    this.#options = options;
  }

  /** Sends a publish or lets it wait; its promise fails if neither is possible. */
  publish(task: PublishTask): void {
    if (this.#endedBy !== undefined) task.reject(this.#endedBy);
    else if (this.#held.count === 0 && this.#canSend(task)) this.#send(task);
    else this.#hold(task);
  }

  /** Whether a small publish would be sent, after those that are held. */
  get hasRoom(): boolean {
    const { maxCount, maxBytes } = this.#options.window;
    const { count, bytes } = this.#inFlight;
    return count + this.#held.count < maxCount && bytes + this.#held.bytes < maxBytes;
  }

  /** Calls back once, when there is room or, with the reason, when nothing is sent any more; never after the returned function was called. */
  onRoom(listener: RoomListener): () => void {
    this.#roomListeners.push(listener);
    this.#announceRoom();
    return () => {
      this.#roomListeners = this.#roomListeners.filter((other) => other !== listener);
    };
  }

  /** Calls back, at once or later, when nothing is sent any more; never after the returned function was called. */
  onEnd(listener: (error: ClientError) => void): () => void {
    if (this.#endedBy !== undefined) listener(this.#endedBy);
    else this.#endListeners.add(listener);
    return () => void this.#endListeners.delete(listener);
  }

  /** Ends a publish whose caller does not wait any more: it is not sent, or not sent again. */
  withdraw(task: PublishTask): void {
    const wasHeld = task.phase === 'held';
    if (wasHeld) this.#held.remove(task.sizeBytes);
    else if (task.phase === 'in flight') {
      this.#connection?.forget(task.id);
      this.#inFlight.remove(task.sizeBytes);
    }
    task.phase = 'ended';
    if (wasHeld) this.#forgetWithdrawn(task);
    this.#sendHeld();
  }

  renew(connection: ClientConnection): void {
    this.#connection = connection;
    this.#waiting.prepend(this.#interrupted);
    this.#interrupted = [];
    this.#sendHeld();
  }

  suspend(): void {
    this.#connection = undefined;
  }

  end(error: ClientError): void {
    this.#endedBy = error;
    this.#waiting.prepend(this.#interrupted);
    this.#interrupted = [];
    for (let task = this.#waiting.shift(); task !== undefined; task = this.#waiting.shift()) {
      if (task.phase === 'held') this.#reject(task, error);
    }
    this.#announceRoom();
    for (const listener of [...this.#endListeners]) listener(error);
  }

  handleConfirmed(task: PublishTask): void {
    if (task.phase !== 'in flight') return;
    this.#inFlight.remove(task.sizeBytes);
    task.phase = 'ended';
    task.resolve(task.id);
    this.#sendHeld();
  }

  handleFailed(task: PublishTask, error: ClientError): void {
    if (task.phase !== 'in flight') return;
    this.#inFlight.remove(task.sizeBytes);
    const mayBeResent = this.#options.resends && this.#endedBy === undefined;
    if (mayBeResent && isInterruption(error)) this.#interrupt(task);
    else this.#reject(task, error);
    this.#sendHeld();
  }

  /** Nothing more is sent on this connection: it has ended, or the broker is about to end it. */
  #interrupt(task: PublishTask): void {
    this.#connection = undefined;
    task.phase = 'held';
    this.#held.add(task.sizeBytes);
    this.#interrupted.push(task);
  }

  /** Removes withdrawn publishes when they take more than those that wait: also behind one that waits for long. */
  #forgetWithdrawn({ sizeBytes }: PublishTask): void {
    this.#withdrawn.add(sizeBytes);
    const { count, bytes } = this.#held;
    if (this.#withdrawn.hasRoom(0, count + MAX_WITHDRAWN_COUNT, bytes + MAX_WITHDRAWN_BYTES)) return;
    this.#withdrawn = new MessageTally();
    this.#waiting.keep(({ phase }) => phase === 'held');
    this.#interrupted = this.#interrupted.filter(({ phase }) => phase === 'held');
  }

  #hold(task: PublishTask): void {
    const { maxWaitingCount, maxWaitingBytes } = this.#options.window;
    if (!this.#held.hasRoom(task.sizeBytes, maxWaitingCount, maxWaitingBytes)) {
      this.#reject(task, new PublishBufferFullError(task.queue, this.#held));
      return;
    }
    task.phase = 'held';
    this.#held.add(task.sizeBytes);
    this.#waiting.push(task);
  }

  #sendHeld(): void {
    let task = this.#waiting.first;
    while (task !== undefined && (task.phase === 'ended' || this.#canSend(task))) {
      this.#waiting.shift();
      if (task.phase === 'held') {
        this.#held.remove(task.sizeBytes);
        this.#send(task);
      }
      task = this.#waiting.first;
    }
    if (this.#roomListeners.length > 0) this.#announceRoom();
  }

  #canSend(task: PublishTask): boolean {
    const { maxCount, maxBytes } = this.#options.window;
    return this.#connection?.isOpen === true && this.#inFlight.hasRoom(task.sizeBytes, maxCount, maxBytes);
  }

  #send(task: PublishTask): void {
    try {
      this.#connection?.start(task);
      task.phase = 'in flight';
      this.#inFlight.add(task.sizeBytes);
    } catch (error) {
      this.#reject(task, error);
    }
  }

  #reject(task: PublishTask, error: unknown): void {
    task.phase = 'ended';
    task.reject(error);
  }

  #announceRoom(): void {
    if (!this.hasRoom && this.#endedBy === undefined) return;
    const listeners = this.#roomListeners;
    this.#roomListeners = [];
    for (const listener of listeners) listener(this.#endedBy);
  }
}

/** The connection has ended, or the broker stops and has not stored the message. */
function isInterruption(error: ClientError): boolean {
  if (error instanceof CommandError) return error.code === ErrorCode.ShuttingDown;
  return error instanceof ConnectionError || error instanceof ProtocolError;
}
