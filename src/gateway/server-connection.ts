// One client: its stream, its session and what is to be sent to it. Turns bytes into arrivals for the engine, in order, and
// stops reading when more has come than is worked off, or more is to be sent than is taken.
// Implements CONN (one connection's course) and LIMIT (input and output of a connection).

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
import { fittingFields } from './truncate-to-fit.ts';

/** How long a client may take to close its side before the connection is cut. */
const CLOSING_GRACE_MS = 5_000;

/** What an arrival counts for in the limit on pending input besides its bytes: it takes memory however short it is. */
const ARRIVAL_OVERHEAD_BYTES = 256;

export type ConnectionParts = {
  readonly options: EngineOptions;
  readonly environment: Environment;
  readonly logger: Logger;
  readonly compressor: Compressor;
  readonly compress: (algorithm: Algorithm, body: Buffer) => Buffer | Promise<Buffer>;
  /** Hands over what has arrived, with the bytes that it came in. */
  readonly arrive: (arrival: Arrival, bytes: number) => void;
  readonly countError: () => void;
  /** Why no client is taken; undefined: clients are welcome. */
  readonly outOfServiceReason: string | undefined;
};

export class ClientConnection {
  readonly id: ConnectionId;
  readonly #stream: Duplex;
  readonly #parts: ConnectionParts;
  readonly #session: ServerSession;
  readonly #outbound: Outbound;
  readonly #messageRate: RateLimit | undefined;
  #timeouts: ConnectionTimeouts | undefined;
  /** What has been handed over and not been worked off. */
  #pendingBytes = 0;
  /** More is to be sent than the client takes. */
  #isCongested = false;
  #isSaturated = false;
  #isInflating = false;
  #isPaused = false;
  #isKnown = false;
  #hasLeft = false;
  #isEnding = false;
  /** The client has ended its side, and the engine was not told yet. */
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

  /** Begins to read. */
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

  /** A frame for the next flush; what comes of a connection that has ended meanwhile has nobody to go to. */
  send(frame: OutboundFrame): void {
    if (this.#isEnding || this.#stream.destroyed) return;
    if (Buffer.isBuffer(frame)) {
      this.#outbound.push(frame);
      return;
    }
    if (frame.command === Command.Error) this.#parts.countError();
    const { options, environment } = this.#parts;
    this.#outbound.push(fittingFields(frame, options.limits.maxMessageSizeBytes, environment.freshId));
  }

  /** A frame that is sent at once, before whatever is still being worked on. */
  notify(fields: MessageFields): void {
    this.send(fields);
    this.#outbound.flush();
  }

  /** The core sends nothing more until it is told that the connection takes more. */
  saturated(): void {
    this.#isSaturated = true;
  }

  flush(): void {
    this.#outbound.flush();
    const wasSaturated = this.#isSaturated;
    this.#isSaturated = false;
    if (this.#isCongested) return;
    if (this.#outbound.unsentBytes <= this.#parts.options.maxOutboundBytes) {
      if (wasSaturated) this.#tellWritable(true);
      return;
    }
    this.#isCongested = true;
    this.#tellWritable(false);
    this.#regulate();
  }

  /** An arrival that was handed over with this many bytes has been worked off. */
  settled(bytes: number): void {
    this.#pendingBytes -= bytes;
    if (this.#isPaused) this.#pump();
  }

  /** The connection takes no further part; tells whether the core has to be told. */
  leave(): boolean {
    this.#timeouts?.stop();
    this.#hasLeft = true;
    const wasKnown = this.#isKnown;
    this.#isKnown = false;
    return wasKnown;
  }

  /** Closes after everything that was sent before; nothing is read any more. */
  end(): void {
    if (this.#isEnding || this.#stream.destroyed) return;
    this.#isEnding = true;
    this.#outbound.end();
    this.#stream.removeAllListeners('data');
    // What still comes is thrown away: a reset would take our last frames from the client.
    this.#stream.resume();
    const cancel = this.#parts.environment.scheduler.after(CLOSING_GRACE_MS, () => this.#stream.destroy());
    this.#stream.once('close', cancel);
  }

  #receive(chunk: Buffer): void {
    this.#timeouts?.received();
    this.#session.handleBytes(chunk);
    this.#pump();
  }

  /** Takes from the session what it has to say, as long as the connection may bring more. */
  #pump(): void {
    while (!this.#mustWait()) {
      const event = this.#session.next();
      if (event === undefined) break;
      this.#handle(event);
    }
    this.#leaveAtTheEnd();
    this.#regulate();
    if (!this.#isPaused && !this.#hasLeft) this.#timeouts?.workedOff(this.#session);
  }

  /**
   * The end of what the client sends may come while the last of it still waits here, also when reading was stopped. Only a client that does
   * not read is not waited for: it might never.
   */
  #leaveAtTheEnd(): void {
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

  /** While a body is inflated elsewhere nothing is read: what follows it has to wait anyway, and would pile up. */
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

  /** Reads or stops reading, by what waits on either side. */
  #regulate(): void {
    const pause = this.#mustWait();
    if (pause === this.#isPaused || this.#isEnding || this.#hasLeft) return;
    this.#isPaused = pause;
    if (pause) {
      this.#timeouts?.readingPaused();
      this.#stream.pause();
    } else this.#stream.resume();
  }

  /** Half of the limit has to be free again, so that a slow reader does not switch to and fro with every frame. */
  #decongest(): void {
    const { maxOutboundBytes } = this.#parts.options;
    if (!this.#isCongested || this.#outbound.unsentBytes > maxOutboundBytes / 2) return;
    this.#isCongested = false;
    this.#tellWritable(true);
    this.#pump();
  }

  #tellWritable(writable: boolean): void {
    if (!this.#isKnown) return;
    this.#parts.arrive({ kind: 'input', input: { kind: 'writable', connection: this.id, writable } }, 0);
  }

  /** Our own fault, on this connection alone: it ends, the others go on. */
  #abandon(error: unknown): void {
    const { message } = error instanceof Error ? error : new Error(String(error));
    this.#parts.logger.error('connection abandoned', { connection: this.id, error: message });
    this.#stream.destroy();
  }
}
