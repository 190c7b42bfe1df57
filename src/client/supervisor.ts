// Keeps a client connected: opens a connection, renews on it what the client wants, and opens the next one when it is lost. Each connection is
// used once. What is wanted belongs to others (Renewable). Implements CLIENT-010, CLIENT-014 and CLIENT-039.

import type { Duplex } from 'node:stream';
import { ErrorCode } from '../model/error-code.ts';
import type { Message } from '../protocol/message.ts';
import { type CallOptions, orAborted } from './abort.ts';
import { ClientConnection, type ClosedReason } from './client-connection.ts';
import type { EventListeners } from './client-events.ts';
import { ConnectionWaiters } from './connection-waiters.ts';
import { type ClientError, CommandError, ConnectionError } from './errors.ts';
import { keepAlive } from './keep-alive.ts';
import type { ClientSettings } from './options.ts';
import { type ReconnectSettings, reconnectDelayMs } from './reconnect-schedule.ts';

/** Something that a client wants, and that each connection to the broker needs anew. */
export type Renewable = {
  /** After each handshake, before other commands are sent. A rejection makes the attempt to connect fail. */
  renew(connection: ClientConnection, isReconnect: boolean): void | Promise<void>;
  /** The connection is lost; another may follow. */
  suspend?(): void;
  /** No other connection follows. */
  end(error: ClientError): void;
};

export type SupervisorOptions = {
  readonly settings: ClientSettings;
  readonly openStream: (signal: AbortSignal) => Promise<Duplex>;
  readonly onDeliver: (message: Message, connection: ClientConnection) => void;
  readonly onUndeliverable: (queue: string, error: ConnectionError) => void;
  /** In the order in which they are renewed. */
  readonly wanted: readonly Renewable[];
  readonly events: EventListeners;
};

/** Refusals that another attempt with the same credentials meets too. */
const FINAL_REFUSALS: readonly string[] = [ErrorCode.AuthRequired, ErrorCode.AuthFailed];

export class Supervisor {
  /** Resolves when the client has ended, with the reason; never rejects. */
  readonly closed: Promise<ClosedReason>;
  readonly #options: SupervisorOptions;
  readonly #waiters = new ConnectionWaiters();
  /** Aborted by `close`: ends a wait between two attempts, and an attempt. */
  readonly #stop = new AbortController();
  #resolveClosed: (reason: ClosedReason) => void = () => undefined;
  #connection: ClientConnection | undefined;
  #ended: ClientError | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
  }

  /** The first connection. @throws what opening the stream, the handshake or the renewals throw: it is not tried again */
  async start({ signal }: CallOptions): Promise<void> {
    const signals = signal === undefined ? [this.#stop.signal] : [this.#stop.signal, signal];
    await this.#connect(false, AbortSignal.any(signals));
  }

  /** The connection, if there is one on which commands can be sent. */
  get connection(): ClientConnection | undefined {
    return this.#connection?.isOpen === true ? this.#connection : undefined;
  }

  /** Whether nothing is sent any more. */
  get isClosing(): boolean {
    return this.#stop.signal.aborted;
  }

  /** The connection, as soon as there is one. `what` names the command that waits, for the error. @throws ConnectionError */
  async waitForConnection(what: string, { signal }: CallOptions = {}): Promise<ClientConnection> {
    signal?.throwIfAborted();
    if (this.#ended !== undefined || this.isClosing) throw this.#ended ?? closedError();
    return this.connection ?? this.#waiters.wait(what, this.#options.settings.commandTimeoutMs, signal);
  }

  /** Sends Disconnect and ends everything, also a wait between two attempts to connect. */
  async close(): Promise<void> {
    const connection = this.#connection;
    this.#stop.abort(closedError());
    if (connection !== undefined) await connection.close();
    await this.closed;
  }

  async #connect(isReconnect: boolean, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { settings, openStream, onDeliver, onUndeliverable } = this.#options;
    const stream = await openStream(signal);
    const connection = new ClientConnection({ stream, settings, onDeliver, onUndeliverable });
    const abandon = () => connection.abandon('the client does not want the connection any more');
    try {
      await orAborted(this.#renewAll(connection, isReconnect), signal, abandon);
    } catch (error) {
      void connection.close();
      for (const part of this.#options.wanted) part.suspend?.();
      throw error;
    }
    this.#connection = connection;
    keepAlive(connection, settings);
    this.#waiters.resolve(connection);
    void connection.closed.then((reason) => this.#handleLost(reason));
  }

  async #renewAll(connection: ClientConnection, isReconnect: boolean): Promise<void> {
    await connection.open();
    for (const part of this.#options.wanted) await part.renew(connection, isReconnect);
  }

  async #handleLost(reason: ClosedReason): Promise<void> {
    this.#connection = undefined;
    for (const part of this.#options.wanted) part.suspend?.();
    this.#options.events.emit('disconnected', reason);
    const { reconnect } = this.#options.settings;
    if (this.isClosing || reconnect === undefined) this.#end(reason);
    else await this.#reconnect(reconnect, reason);
  }

  /** Tries until there is a connection, or until it makes no sense any more: then the client has ended. */
  async #reconnect(reconnect: ReconnectSettings, lost: ClosedReason): Promise<void> {
    let error: unknown =
      lost.error ?? new ConnectionError('CONNECTION_ENDED', 'the broker ended the connection');
    for (let attempt = 1; attempt <= reconnect.maxAttempts; attempt += 1) {
      const delayMs = reconnectDelayMs(reconnect, attempt, Math.random());
      this.#options.events.emit('reconnecting', { attempt, delayMs, error });
      try {
        await delay(delayMs, this.#stop.signal);
        await this.#connect(true, this.#stop.signal);
        this.#options.events.emit('reconnected', { attempt });
        return;
      } catch (failure) {
        error = failure;
      }
      if (this.isClosing) return this.#end({ error: undefined, reason: undefined });
      if (isFinal(error)) return this.#end({ error, reason: undefined });
    }
    this.#end({ error: gaveUp(reconnect.maxAttempts, error), reason: lost.reason });
  }

  #end(reason: ClosedReason): void {
    const error = this.isClosing ? closedError() : (reason.error ?? closedError());
    this.#waiters.reject(error);
    for (const part of this.#options.wanted) part.end(error);
    this.#ended = error;
    this.#options.events.emit('closed', reason);
    this.#resolveClosed(reason);
  }
}

function isFinal(error: unknown): error is CommandError {
  return error instanceof CommandError && FINAL_REFUSALS.includes(error.code);
}

function gaveUp(attemptCount: number, cause: unknown): ConnectionError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const text = `no connection after ${attemptCount} attempts: ${why}`;
  return new ConnectionError('RECONNECT_FAILED', text, { cause });
}

function closedError(): ConnectionError {
  return new ConnectionError('CONNECTION_ENDED', 'the client has closed its connection to the broker');
}

/** @throws the signal's reason */
function delay(durationMs: number, signal: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout;
  const passed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, durationMs);
  });
  return orAborted(passed, signal, () => clearTimeout(timer));
}
