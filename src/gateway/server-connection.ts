// One client connection: its stream, its session and its unsent output. Turns bytes into inputs for the backend, in order. Pauses reading
// when pending input or unsent output exceeds its limit. Implements CONN-014 to CONN-017, CONN-024, CONN-025, CONN-031, CONN-032, LIMIT-001
// to LIMIT-005, LIMIT-015, LIMIT-018 and LIMIT-021.

import type { Duplex } from 'node:stream';
import type { ConnectionId, Input } from '../broker/interface/input.ts';
import type { Environment } from '../model/environment.ts';
import { ErrorCode } from '../model/error-code.ts';
import type { Logger } from '../model/logger.ts';
import { Command, commandsOfClient } from '../protocol/command.ts';
import type { Algorithm, Compressor } from '../protocol/compression.ts';
import type { ProtocolFault } from '../protocol/fault.ts';
import type { Message, MessageFields } from '../protocol/message.ts';
import { ServerSession, type SessionEvent } from '../session/server-session.ts';
import type { ConnectionBudgets } from './buffer-budget.ts';
import { connectAckHeaders } from './connection-frames.ts';
import { ConnectionMemory } from './connection-memory.ts';
import { ConnectionTimeouts } from './connection-timeouts.ts';
import type { GatewayOptions } from './gateway-options.ts';
import type { LimitKind } from './limit-events.ts';
import { type EncodedBody, isEncoded, Outbound, type OutboundFrame } from './outbound.ts';
import { RateLimit } from './rate-limit.ts';
import { translateCommand } from './translate/commands.ts';
import { LAST_ANSWER, readyAnswer } from './translate/tokens.ts';
import { truncateToFit } from './truncate-to-fit.ts';

/** How long a client may take to close its side before the stream is destroyed. */
const CLOSING_GRACE_MS = 5_000;

/** Added to the bytes of each input in the limit on pending input: the memory of a Publish without content. */
const INPUT_OVERHEAD_BYTES = 384;

type InflateEvent = Extract<SessionEvent, { readonly kind: 'inflate' }>;

export type ConnectionParts = {
  readonly options: GatewayOptions;
  readonly environment: Environment;
  readonly logger: Logger;
  readonly compressor: Compressor;
  readonly compress: (algorithm: Algorithm, body: EncodedBody) => Buffer | Promise<Buffer>;
  /** Passes an input to the backend. The owner calls `inputProcessed` when it is processed. */
  readonly submit: (input: Input) => void;
  /** Called when the connection reads nothing more and the backend has nothing to answer: the owner calls `end`. */
  readonly onClosed: () => void;
  readonly countError: (code: string | undefined, connection: ConnectionId) => void;
  readonly limitReached: (kind: LimitKind, connection: ConnectionId) => void;
  /** Shared by all connections. */
  readonly budgets: ConnectionBudgets;
  /** Why a Connect is refused now; undefined if it is accepted. */
  readonly outOfServiceReason: () => string | undefined;
};

export class ServerConnection {
  readonly id: ConnectionId;
  readonly #stream: Duplex;
  readonly #parts: ConnectionParts;
  readonly #session: ServerSession;
  readonly #outbound: Outbound;
  readonly #memory: ConnectionMemory;
  readonly #messageRate: RateLimit | undefined;
  #timeouts: ConnectionTimeouts | undefined;
  /** Bytes of inputs that the backend has not processed yet. */
  #pendingBytes = 0;
  /** Unsent output exceeds its limit. */
  #isCongested = false;
  #isSaturated = false;
  #isInflating = false;
  /** False after the end: remaining input is discarded. */
  #hasInput = true;
  /** A compressed body that waits for the budget. */
  #unopened: InflateEvent | undefined;
  #isPaused = false;
  /** The input `connected` was submitted. */
  #isKnown = false;
  /** No input is read; answers are still sent. */
  #isClosing = false;
  #isEnding = false;
  /** The client has ended its side, and not all of its input is handled. */
  #inputHasEnded = false;

  constructor(id: ConnectionId, stream: Duplex, parts: ConnectionParts) {
    this.id = id;
    this.#stream = stream;
    this.#parts = parts;
    const { options, environment } = parts;
    this.#memory = new ConnectionMemory(parts.budgets, () => this.#pump());
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

  /** Starts reading. */
  serve(): void {
    const { environment, options } = this.#parts;
    this.#timeouts = new ConnectionTimeouts(environment, options.timeouts, (kind) => {
      this.#parts.limitReached(kind, this.id);
      this.close();
    });
    this.#stream.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.#stream.on('end', () => {
      this.#inputHasEnded = true;
      this.#pump();
    });
    this.#stream.on('close', () => {
      this.close();
      this.#count();
    });
  }

  /** Sends one frame and ends the connection. Pending answers are dropped. */
  terminate(fields: MessageFields): void {
    this.#stopInput();
    this.notify(fields);
    this.end();
  }

  /** Stops reading, and ends the connection when all commands received so far are answered. */
  close(): void {
    if (this.#isClosing) return;
    this.#stopInput();
    if (!this.#isKnown) return this.#parts.onClosed();
    this.#submit({ kind: 'disconnected', connection: this.id });
    this.#submit({ kind: 'barrier', connection: this.id, token: LAST_ANSWER });
  }

  /** Queues a frame for the next flush; dropped if the connection is closing. */
  send(frame: OutboundFrame): void {
    if (this.#isEnding || this.#stream.destroyed) return;
    if (isEncoded(frame)) {
      this.#outbound.push(frame);
      return;
    }
    if (frame.command === Command.Error) this.#parts.countError(frame.errorCode, this.id);
    const { options, environment } = this.#parts;
    this.#outbound.push(truncateToFit(frame, options.limits.maxMessageSizeBytes, environment.freshId));
  }

  /** Sends a frame immediately, before the answers to pending input. */
  notify(fields: MessageFields): void {
    this.send(fields);
    this.#outbound.flush();
  }

  /** The core waits for a `writable` input before it sends more; `flush` submits it. */
  saturated(): void {
    this.#isSaturated = true;
  }

  flush(): void {
    this.#outbound.flush();
    this.#count();
    const wasSaturated = this.#isSaturated;
    this.#isSaturated = false;
    if (this.#isCongested) return;
    if (!this.#exceedsOutput(1)) {
      if (wasSaturated) this.#notifyWritable(true);
      return;
    }
    this.#isCongested = true;
    this.#parts.limitReached('unsentOutput', this.id);
    this.#notifyWritable(false);
    this.#updateReadState();
  }

  /** The backend has processed this input of the connection. */
  inputProcessed(input: Input): void {
    this.#pendingBytes -= this.#pendingBytesOf(input);
    if (this.#isPaused) this.#pump();
    else this.#count();
  }

  /** Stops reading, and closes the stream after all queued frames were sent. */
  end(): void {
    this.#hasInput = false;
    this.#count();
    if (this.#isEnding || this.#stream.destroyed) return;
    this.#isEnding = true;
    this.#outbound.end();
    this.#outbound.flush();
    this.#count();
    this.#stream.removeAllListeners('data');
    // Received bytes are discarded: a TCP reset could lose the last frames that were sent.
    this.#stream.resume();
    const cancel = this.#parts.environment.scheduler.after(CLOSING_GRACE_MS, () => this.#stream.destroy());
    this.#stream.once('close', () => {
      cancel();
      this.#count();
    });
  }

  #receive(chunk: Buffer): void {
    this.#timeouts?.received();
    this.#session.handleBytes(chunk);
    this.#pump();
  }

  /** Handles the events of the session until input must wait. */
  #pump(): void {
    while (!this.#mustWait()) {
      const event = this.#unopened ?? this.#session.next();
      if (event === undefined) break;
      this.#handle(event);
    }
    this.#stopHandshakeTimeout();
    this.#count();
    if (!this.#isInflating && !this.#isClosing && !this.#memory.isWaiting) {
      this.#memory.reserveFrame(this.#session);
      this.#count();
    }
    this.#closeOnInputEnd();
    this.#updateReadState();
    if (!this.#isPaused && !this.#isClosing) this.#timeouts?.inputDrained(this.#session);
  }

  /**
   * Closes the connection when the client has ended its side and all its input was handled. Does not wait for a client that does not
   * read: it may never do so.
   */
  #closeOnInputEnd(): void {
    if (!this.#inputHasEnded || (this.#mustWait() && !this.#isCongested)) return;
    this.#inputHasEnded = false;
    this.close();
  }

  #mustWait(): boolean {
    const mayBePending = this.#memory.isInputShort ? 0 : this.#parts.options.maxPendingInputBytes;
    const isBusy = this.#isCongested || this.#isInflating || this.#isClosing || this.#memory.isWaiting;
    return isBusy || this.#pendingBytes > mayBePending;
  }

  /** A Connect stops the handshake timeout whether it is accepted or refused. */
  #stopHandshakeTimeout(): void {
    if (!this.#session.connectHasArrived) return;
    this.#timeouts?.connectArrived();
  }

  /** Updates the bytes of this connection in the budgets. */
  #count(): void {
    const unsentBytes = this.#stream.destroyed ? 0 : this.#outbound.heldBytes;
    if (this.#hasInput) this.#memory.count(this.#session.pendingBytes, this.#pendingBytes, unsentBytes);
    else this.#memory.count(0, 0, unsentBytes);
  }

  /** Whether unsent output exceeds `part` of its limit. While memory for output is short, the limit is the share of each connection. */
  #exceedsOutput(part: number): boolean {
    const { unsentBytes, heldBytes } = this.#outbound;
    return (
      unsentBytes > this.#parts.options.maxOutboundBytes * part || this.#memory.exceedsShare(heldBytes, part)
    );
  }

  #handle(event: SessionEvent): void {
    switch (event.kind) {
      case 'command': {
        const { message, body } = event;
        return this.#submit(translateCommand(this.id, message, body, this.#parts.options));
      }
      case 'answer':
        return this.#answer(event.fields);
      case 'close':
        return this.close();
      case 'connect':
        return this.#handleConnect();
      case 'inflate':
        return this.#inflate(event);
    }
  }

  /** Sends an answer that needs no queue, after the answers to earlier commands. */
  #answer(fields: MessageFields): void {
    if (this.#isKnown) return this.#submit(readyAnswer(this.id, fields));
    this.send(fields);
    this.flush();
  }

  #handleConnect(): void {
    const text = this.#parts.outOfServiceReason();
    if (text !== undefined) {
      const refusal = { code: ErrorCode.StorageError, text, closes: true };
      return this.#session.handleConnectOutcome({ kind: 'refuse', ...refusal });
    }
    const serverHeaders = connectAckHeaders(this.id, this.#parts.options.serverVersion);
    this.#session.handleConnectOutcome({ kind: 'accept', serverHeaders });
    this.#isKnown = true;
    this.#submit({ kind: 'connected', connection: this.id });
  }

  /** Reading pauses while a body is decompressed in a worker: the commands that follow must wait anyway. */
  #inflate(event: InflateEvent): void {
    this.#unopened = undefined;
    if (!this.#memory.reserve(event.limitBytes)) {
      this.#unopened = event;
      return;
    }
    const result = this.#parts.compressor.decompress(event.algorithm, event.body, event.limitBytes);
    if (!(result instanceof Promise)) {
      this.#memory.release();
      this.#session.handleInflated(result);
      return;
    }
    this.#isInflating = true;
    result.then(
      (inflated) => {
        this.#isInflating = false;
        this.#memory.release();
        this.#session.handleInflated(inflated);
        this.#pump();
      },
      (error: unknown) => this.#abandon(error),
    );
  }

  #submit(input: Input): void {
    this.#pendingBytes += this.#pendingBytesOf(input);
    this.#parts.submit(input);
  }

  /** The bytes that the input counts in the limit on pending input. */
  #pendingBytesOf(input: Input): number {
    switch (input.kind) {
      case 'publish':
        return input.content.byteLength + INPUT_OVERHEAD_BYTES;
      case 'listQueues':
        // The only answer that may be much longer than its command.
        return this.#parts.options.limits.maxMessageSizeBytes + INPUT_OVERHEAD_BYTES;
      default:
        return INPUT_OVERHEAD_BYTES;
    }
  }

  #stopInput(): void {
    this.#timeouts?.stop();
    this.#isClosing = true;
    this.#memory.stopInput();
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
    if (pause === this.#isPaused || this.#isEnding || this.#isClosing) return;
    this.#isPaused = pause;
    if (pause) {
      if (this.#pendingBytes > this.#parts.options.maxPendingInputBytes)
        this.#parts.limitReached('pendingInput', this.id);
      this.#timeouts?.readingPaused();
      this.#stream.pause();
    } else this.#stream.resume();
  }

  /** Resumes when half of the limit is free, so that a slow reader does not toggle the state with every frame. */
  #decongest(): void {
    this.#count();
    if (this.#isCongested && !this.#exceedsOutput(1 / 2)) {
      this.#isCongested = false;
      this.#notifyWritable(true);
      this.#pump();
    }
  }

  #notifyWritable(writable: boolean): void {
    if (!this.#isKnown || this.#isClosing) return;
    this.#submit({ kind: 'writable', connection: this.id, writable });
  }

  /** An internal error of this connection: destroys it, and no other. */
  #abandon(error: unknown): void {
    const { message } = error instanceof Error ? error : new Error(String(error));
    this.#parts.logger.error('connection abandoned', { connection: this.id, error: message });
    this.#stream.destroy();
  }
}
