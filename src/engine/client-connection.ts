// One client: its stream, its session and what is to be sent to it. Turns bytes into arrivals for the engine, in order, and
// stops reading when more has come than is worked off, or more is to be sent than is taken.
// Implements CONN (one connection's course) and LIMIT (input and output of a connection).

import type { Duplex } from 'node:stream';
import type { ConnectionId } from '../broker/input.ts';
import { RateLimit } from '../broker/rate-limit.ts';
import { Command, commandsOfClient } from '../protocol/command.ts';
import type { Algorithm, Compressor } from '../protocol/compression.ts';
import { ErrorCode } from '../protocol/error-code.ts';
import type { ProtocolFault } from '../protocol/fault.ts';
import type { Message, MessageFields } from '../protocol/message.ts';
import { ServerSession, type SessionEvent } from '../session/server-session.ts';
import type { Arrival } from './arrival.ts';
import { connectAckHeaders } from './connection-frames.ts';
import { ConnectionTimeouts } from './connection-timeouts.ts';
import type { EngineOptions } from './engine-options.ts';
import type { Environment } from './environment.ts';
import type { Logger } from './logger.ts';
import { Outbound, type OutboundFrame } from './outbound.ts';
import { translateCommand } from './translate/commands.ts';

/** How long a client may take to close its side before the connection is cut. */
const CLOSING_GRACE_MS = 5_000;

export type ConnectionParts = {
  readonly options: EngineOptions;
  readonly environment: Environment;
  readonly logger: Logger;
  readonly compressor: Compressor;
  readonly compress: (algorithm: Algorithm, body: Buffer) => Buffer | Promise<Buffer>;
  /** Hands over what has arrived, with the bytes that it came in. */
  readonly arrive: (arrival: Arrival, bytes: number) => void;
  readonly countError: () => void;
};

export class ClientConnection {
  readonly id: ConnectionId;
  readonly #stream: Duplex;
  readonly #parts: ConnectionParts;
  readonly #session: ServerSession;
  readonly #outbound: Outbound;
  readonly #messageRate: RateLimit | undefined;
  #timeouts: ConnectionTimeouts | undefined;
  #pendingBytes = 0;
  #isCongested = false;
  #isPaused = false;
  #isKnown = false;
  #isEnding = false;

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
    this.#stream.on('end', () => this.#parts.arrive({ kind: 'close' }, 0));
    this.#stream.on('close', () => this.#parts.arrive({ kind: 'gone' }, 0));
    this.#stream.on('drain', () => this.#decongest());
  }

  /** Sends one frame and closes, without ever having read. */
  refuse(fields: MessageFields): void {
    this.notify(fields);
    this.end();
    this.flush();
  }

  /** A frame for the next flush. */
  send(frame: OutboundFrame): void {
    if (!Buffer.isBuffer(frame) && frame.command === Command.Error) this.#parts.countError();
    this.#outbound.push(frame);
  }

  /** A frame that is sent at once, before whatever is still being worked on. */
  notify(fields: MessageFields): void {
    this.send(fields);
    this.#outbound.flush();
  }

  flush(): void {
    this.#outbound.flush();
    const congested = this.#outbound.unsentBytes > this.#parts.options.maxOutboundBytes;
    if (!congested || this.#isCongested) return;
    this.#isCongested = true;
    this.#tellWritable(false);
    this.#regulate();
  }

  /** Bytes of input that have been worked off. */
  settled(bytes: number): void {
    this.#pendingBytes -= bytes;
    this.#regulate();
  }

  /** The connection takes no further part; tells whether the core has to be told. */
  leave(): boolean {
    this.#timeouts?.stop();
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
    this.#session.handleBytes(chunk);
    this.#pump();
    this.#timeouts?.received(this.#session);
  }

  /** Takes everything from the session that it has to say now. */
  #pump(): void {
    for (let event = this.#session.next(); event !== undefined; event = this.#session.next()) {
      if (!this.#handle(event)) return;
    }
  }

  /** Tells whether the session can go on at once. */
  #handle(event: SessionEvent): boolean {
    switch (event.kind) {
      case 'command':
        this.#handleCommand(event.message, event.body);
        return true;
      case 'answer':
        this.#arrive({ kind: 'answer', fields: event.fields }, 0);
        return true;
      case 'close':
        this.#arrive({ kind: 'close' }, 0);
        return true;
      case 'connect':
        this.#handleConnect();
        return true;
      case 'inflate':
        return this.#inflate(event);
    }
  }

  #handleCommand(message: Message, body: Buffer): void {
    const translated = translateCommand(this.id, message, body, this.#parts.options);
    if (translated.kind === 'input') this.#arrive({ kind: 'input', input: translated.input }, body.length);
    else this.#arrive({ kind: 'answer', fields: translated.fields }, body.length);
  }

  #handleConnect(): void {
    this.#timeouts?.connectArrived();
    const serverHeaders = connectAckHeaders(this.id, this.#parts.options.serverVersion);
    this.#session.handleConnectOutcome({ kind: 'accept', serverHeaders });
    this.#isKnown = true;
    this.#arrive({ kind: 'input', input: { kind: 'connected', connection: this.id } }, 0);
    if (this.#isCongested) this.#tellWritable(false);
  }

  #inflate(event: Extract<SessionEvent, { kind: 'inflate' }>): boolean {
    const result = this.#parts.compressor.decompress(event.algorithm, event.body, event.limitBytes);
    if (!(result instanceof Promise)) {
      this.#session.handleInflated(result);
      return true;
    }
    result.then(
      (inflated) => {
        this.#session.handleInflated(inflated);
        this.#pump();
      },
      (error: unknown) => this.#abandon(error),
    );
    return false;
  }

  #arrive(arrival: Arrival, bytes: number): void {
    this.#pendingBytes += bytes;
    this.#parts.arrive(arrival, bytes);
    this.#regulate();
  }

  #admit(message: Message): ProtocolFault | undefined {
    if (message.command !== Command.Publish || this.#messageRate === undefined) return undefined;
    if (this.#messageRate.admit(this.#parts.environment.clock.now())) return undefined;
    const text = 'More messages a second than the broker takes from one client.';
    return { kind: 'fault', code: ErrorCode.RateLimited, text, closes: false, id: message.id };
  }

  /** Reads or stops reading, by what waits on either side. */
  #regulate(): void {
    const pause = this.#isCongested || this.#pendingBytes > this.#parts.options.maxPendingInputBytes;
    if (pause === this.#isPaused || this.#isEnding) return;
    this.#isPaused = pause;
    if (pause) this.#stream.pause();
    else this.#stream.resume();
  }

  #decongest(): void {
    if (!this.#isCongested) return;
    this.#isCongested = false;
    this.#tellWritable(true);
    this.#regulate();
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
