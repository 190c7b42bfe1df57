// One client connection: its stream, its session and its unsent output. Turns bytes into arrivals for the engine, in order. Pauses
// reading when pending input or unsent output exceeds its limit.
// Implements CONN (lifecycle of a connection) and LIMIT (input and output of a connection).

import type { Duplex } from 'node:stream';
import type { EngineOptions } from '../backend/local/engine-options.ts';
import type { ConnectionId } from '../broker/interface/input.ts';
import type { Environment } from '../model/environment.ts';
import { ErrorCode } from '../model/error-code.ts';
import type { Logger } from '../model/logger.ts';
import { Command, commandsOfClient } from '../protocol/command.ts';
import type { Algorithm, Compressor } from '../protocol/compression.ts';
import type { ProtocolFault } from '../protocol/fault.ts';
import type { Message, MessageFields } from '../protocol/message.ts';
import { ServerSession, type SessionEvent } from '../session/server-session.ts';
import type { Arrival } from './arrival.ts';
import { connectAckHeaders } from './connection-frames.ts';
import { ConnectionTimeouts } from './connection-timeouts.ts';
import { Outbound, type OutboundFrame } from './outbound.ts';
import { RateLimit } from './rate-limit.ts';
import { translateCommand } from './translate/commands.ts';
import { truncateToFit } from './truncate-to-fit.ts';

/** How long a client may take to close its side before the stream is destroyed. */
const CLOSING_GRACE_MS = 5_000;

/** Added to the bytes of each arrival in the limit on pending input: even an empty arrival takes memory. */
const ARRIVAL_OVERHEAD_BYTES = 256;

export type ConnectionParts = {
  readonly options: EngineOptions;
  readonly environment: Environment;
  readonly logger: Logger;
  readonly compressor: Compressor;
  readonly compress: (algorithm: Algorithm, body: Buffer) => Buffer | Promise<Buffer>;
  /** Passes an arrival to the engine, with the bytes that it takes. */
  readonly arrive: (arrival: Arrival, bytes: number) => void;
  readonly countError: () => void;
  /** Why Connect is refused; undefined: it is accepted. */
  readonly outOfServiceReason: string | undefined;
};

export class ServerConnection {
  readonly id: ConnectionId;
  readonly #stream: Duplex;
  readonly #parts: ConnectionParts;
  readonly #session: ServerSession;
  readonly #outbound: Outbound;
  readonly #messageRate: RateLimit | undefined;
  #timeouts: ConnectionTimeouts | undefined;
  /** Bytes of arrivals that the engine has not processed yet. */
  #pendingBytes = 0;
  /** Unsent output exceeds its limit. */
  #isCongested = false;
  #isSaturated = false;
  #isInflating = false;
  #isPaused = false;
  #isKnown = false;
  #hasLeft = false;
  #isEnding = false;
  /** The client has ended its side, and the engine was not notified yet. */
  #inputHasEnded = false;

  constructor(id: ConnectionId, stream: Duplex, parts: ConnectionParts) {
    this.id = id;
    this.#stream = stream;
    this.#parts = parts;
    const { options, environment } = parts;
    const perSecond = options.rateLimit?.maxMessagesPerClientPerSecond;
    this.#messageRate = perSecond === undefined ? undefined : new RateLimit(perSecond, 1000);
    this.#session = new ServerSession({
      limits: options.limits,
      supportedCompressions: options.supportedCompressions,
      compressionThresholdBytes: options.compressionThresholdBytes,
      freshId: environment.freshId,
      servedCommands: commandsOfClient,
      admit: (message) => this.#admit(message),
    });
    this.#outbound = new Outbound(stream, {
      algorithmFor: (bodyLength) => this.#session.outboundAlgorithm(bodyLength),
      compress: parts.compress,
      onProgress: () => this.#decongest(),
      onFailure: (error) => this.#abandon(error),
    });
    stream.on('error', () => undefined);
  }

  get isConnected(): boolean {
    return this.#session.state === 'connected';
  }

  /** Whether the core knows the connection: from its Connect until it leaves. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Starts reading. */
  serve(): void {
    const { environment, options } = this.#parts;
    this.#timeouts = new ConnectionTimeouts(environment, options.timeouts, (reason) => {
      this.#parts.logger.debug('connection timed out', { connection: this.id, reason });
      this.#parts.arrive({ kind: 'close' }, 0);
    });
    this.#stream.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.#stream.on('end', () => {
      this.#inputHasEnded = true;
      this.#pump();
    });
    this.#stream.on('close', () => this.#parts.arrive({ kind: 'gone' }, 0));
  }

  /** Sends one frame and closes, without ever having read. */
  refuse(fields: MessageFields): void {
    this.notify(fields);
    this.end();
    this.flush();
  }

  /** Queues a frame for the next flush; dropped if the connection is closing. */
  send(frame: OutboundFrame): void {
    if (this.#isEnding || this.#stream.destroyed) return;
    if (Buffer.isBuffer(frame)) {
      this.#outbound.push(frame);
      return;
    }
    if (frame.command === Command.Error) this.#parts.countError();
    const { options, environment } = this.#parts;
    this.#outbound.push(truncateToFit(frame, options.limits.maxMessageSizeBytes, environment.freshId));
  }

  /** Sends a frame immediately, before the answers to pending input. */
  notify(fields: MessageFields): void {
    this.send(fields);
    this.#outbound.flush();
  }

  /** The core waits for a `writable` input before it sends more; `flush` provides it. */
  saturated(): void {
    this.#isSaturated = true;
  }

  flush(): void {
    this.#outbound.flush();
    const wasSaturated = this.#isSaturated;
    this.#isSaturated = false;
    if (this.#isCongested) return;
    if (this.#outbound.unsentBytes <= this.#parts.options.maxOutboundBytes) {
      if (wasSaturated) this.#notifyWritable(true);
      return;
    }
    this.#isCongested = true;
    this.#notifyWritable(false);
    this.#updateReadState();
  }

  /** The engine has processed an arrival of this many bytes. */
  inputProcessed(bytes: number): void {
    this.#pendingBytes -= bytes;
    if (this.#isPaused) this.#pump();
  }

  /** Stops all input of the connection. Returns whether the core knows the connection, and must be notified. */
  leave(): boolean {
    this.#timeouts?.stop();
    this.#hasLeft = true;
    const wasKnown = this.#isKnown;
    this.#isKnown = false;
    return wasKnown;
  }

  /** Closes the stream after all queued frames were sent; reads nothing more. */
  end(): void {
    if (this.#isEnding || this.#stream.destroyed) return;
    this.#isEnding = true;
    this.#outbound.end();
    this.#stream.removeAllListeners('data');
    // Received bytes are discarded: a TCP reset could lose the last frames that were sent.
    this.#stream.resume();
    const cancel = this.#parts.environment.scheduler.after(CLOSING_GRACE_MS, () => this.#stream.destroy());
    this.#stream.once('close', cancel);
  }

  #receive(chunk: Buffer): void {
    this.#timeouts?.received();
    this.#session.handleBytes(chunk);
    this.#pump();
  }

  /** Handles the events of the session until input must wait. */
  #pump(): void {
    while (!this.#mustWait()) {
      const event = this.#session.next();
      if (event === undefined) break;
      this.#handle(event);
    }
    this.#closeOnInputEnd();
    this.#updateReadState();
    if (!this.#isPaused && !this.#hasLeft) this.#timeouts?.inputDrained(this.#session);
  }

  /**
   * Closes the connection when the client has ended its side and all its input was handled. Does not wait for a client that does not
   * read: it may never do so.
   */
  #closeOnInputEnd(): void {
    if (!this.#inputHasEnded || (this.#mustWait() && !this.#isCongested)) return;
    this.#inputHasEnded = false;
    this.#parts.arrive({ kind: 'close' }, 0);
  }

  #mustWait(): boolean {
    const { maxPendingInputBytes } = this.#parts.options;
    return (
      this.#isCongested || this.#isInflating || this.#hasLeft || this.#pendingBytes > maxPendingInputBytes
    );
  }

  #handle(event: SessionEvent): void {
    switch (event.kind) {
      case 'command':
        return this.#handleCommand(event.message, event.body);
      case 'answer':
        return this.#arrive({ kind: 'answer', fields: event.fields }, 0);
      case 'close':
        return this.#arrive({ kind: 'close' }, 0);
      case 'connect':
        return this.#handleConnect();
      case 'inflate':
        return this.#inflate(event);
    }
  }

  #handleCommand(message: Message, body: Buffer): void {
    const { options } = this.#parts;
    const translated = translateCommand(this.id, message, body, options);
    // The one answer that may be far longer than its command.
    const answerBytes = message.command === Command.ListQueues ? options.limits.maxMessageSizeBytes : 0;
    const bytes = body.length + answerBytes;
    if (translated.kind === 'input') this.#arrive({ kind: 'input', input: translated.input }, bytes);
    else this.#arrive({ kind: 'answer', fields: translated.fields }, bytes);
  }

  #handleConnect(): void {
    this.#timeouts?.connectArrived();
    const { outOfServiceReason } = this.#parts;
    if (outOfServiceReason !== undefined) {
      const refusal = { code: ErrorCode.StorageError, text: outOfServiceReason, closes: true };
      return this.#session.handleConnectOutcome({ kind: 'refuse', ...refusal });
    }
    const serverHeaders = connectAckHeaders(this.id, this.#parts.options.serverVersion);
    this.#session.handleConnectOutcome({ kind: 'accept', serverHeaders });
    this.#isKnown = true;
    this.#arrive({ kind: 'input', input: { kind: 'connected', connection: this.id } }, 0);
  }

  /** Reading pauses while a body is decompressed in a worker: the commands that follow must wait anyway. */
  #inflate(event: Extract<SessionEvent, { kind: 'inflate' }>): void {
    const result = this.#parts.compressor.decompress(event.algorithm, event.body, event.limitBytes);
    if (!(result instanceof Promise)) {
      this.#session.handleInflated(result);
      return;
    }
    this.#isInflating = true;
    result.then(
      (inflated) => {
        this.#isInflating = false;
        this.#session.handleInflated(inflated);
        this.#pump();
      },
      (error: unknown) => this.#abandon(error),
    );
  }

  #arrive(arrival: Arrival, bytes: number): void {
    const counted = bytes + ARRIVAL_OVERHEAD_BYTES;
    this.#pendingBytes += counted;
    this.#parts.arrive(arrival, counted);
  }

  #admit(message: Message): ProtocolFault | undefined {
    if (message.command !== Command.Publish || this.#messageRate === undefined) return undefined;
    if (this.#messageRate.admit(this.#parts.environment.clock.now())) return undefined;
    const text = 'More messages a second than the broker takes from one client.';
    return { kind: 'fault', code: ErrorCode.RateLimited, text, closes: false, id: message.id };
  }

  /** Pauses or resumes reading. */
  #updateReadState(): void {
    const pause = this.#mustWait();
    if (pause === this.#isPaused || this.#isEnding || this.#hasLeft) return;
    this.#isPaused = pause;
    if (pause) {
      this.#timeouts?.readingPaused();
      this.#stream.pause();
    } else this.#stream.resume();
  }

  /** Resumes when half of the limit is free, so that a slow reader does not toggle the state with every frame. */
  #decongest(): void {
    const { maxOutboundBytes } = this.#parts.options;
    if (!this.#isCongested || this.#outbound.unsentBytes > maxOutboundBytes / 2) return;
    this.#isCongested = false;
    this.#notifyWritable(true);
    this.#pump();
  }

  #notifyWritable(writable: boolean): void {
    if (!this.#isKnown) return;
    this.#parts.arrive({ kind: 'input', input: { kind: 'writable', connection: this.id, writable } }, 0);
  }

  /** An internal error of this connection: destroys it, and no other. */
  #abandon(error: unknown): void {
    const { message } = error instanceof Error ? error : new Error(String(error));
    this.#parts.logger.error('connection abandoned', { connection: this.id, error: message });
    this.#stream.destroy();
  }
}
