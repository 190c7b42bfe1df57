// One client connection: its stream, its session and its unsent output. Turns bytes into inputs for the backend, in order. Pauses reading
// when pending input or unsent output exceeds its limit. Implements CONN-014 to CONN-017, CONN-024, CONN-025, CONN-031, CONN-032, CONN-041,
// LIMIT-015, LIMIT-018 and LIMIT-021.

import type { Duplex } from 'node:stream';
import type { UserAdministration } from '../auth/user-administration.ts';
import type { ConnectionId, Input } from '../broker/interface/input.ts';
import type { Principal } from '../model/access.ts';
import { ErrorCode } from '../model/error-code.ts';
import { Command, commandsOfAdministration, commandsOfClient } from '../protocol/command.ts';
import { HeaderName } from '../protocol/header-name.ts';
import type { Message, MessageFields } from '../protocol/message.ts';
import type { DecodedMessageEvent } from '../session/message-reader.ts';
import { ServerSession, type SessionEvent } from '../session/server-session.ts';
import { AdminCommands, withAdminCommands } from './admin-commands.ts';
import type { Arrival } from './arrivals.ts';
import { SHARE_BYTES } from './buffer-budget.ts';
import { ClientRates, wastedMs } from './client-rates.ts';
import { type CheckOutcome, ConnectCheck } from './connect-check.ts';
import { connectAckHeaders, serverErrorFields } from './connection-frames.ts';
import type { ConnectionHost } from './connection-host.ts';
import { ConnectionLog, type EndReason } from './connection-log.ts';
import { ConnectionMemory } from './connection-memory.ts';
import { ConnectionTimeouts, type TimeoutKind } from './connection-timeouts.ts';
import { type InflateEvent, Inflation } from './inflation.ts';
import { Outbound } from './outbound.ts';
import { isEncoded, type OutboundFrame } from './outbound-frame.ts';
import { pendingBytesOf } from './pending-bytes.ts';
import { ReadTurn } from './read-turns.ts';
import { Reading } from './reading.ts';
import { translateCommand } from './translate/commands.ts';
import { type AdminTurn, LAST_ANSWER, readyAnswer } from './translate/tokens.ts';
import { truncateToFit } from './truncate-to-fit.ts';
import type { WriteBatch } from './write-batch.ts';

/** How long it takes at most to see whether a client that was not read has sent something. */
const PROBE_MS = 1_000;
/** While credentials are checked the connection is read, to see that it ends, until so many bytes wait. */
const MAX_BYTES_BEHIND_CONNECT = 65_536;

export class ServerConnection {
  readonly id: ConnectionId;
  /** Of the client, without its port. */
  readonly address: string;
  readonly #stream: Duplex;
  readonly #host: ConnectionHost;
  readonly #session: ServerSession;
  readonly #log: ConnectionLog;
  readonly #outbound: Outbound;
  readonly #memory: ConnectionMemory;
  readonly #reading: Reading;
  /** Absent until something compressed comes: of most clients nothing does. */
  #inflation: Inflation | undefined;
  readonly #turn: ReadTurn;
  /** Absent: rates are not limited. */
  readonly #rates: ClientRates | undefined;
  readonly #connectCheck: ConnectCheck | undefined;
  readonly #adminCommands: AdminCommands | undefined;
  #principal: Principal | undefined;
  #timeouts: ConnectionTimeouts | undefined;
  /** Bytes of inputs that the backend has not processed yet. */
  #pendingBytes = 0;
  /** Unsent output exceeds its limit. */
  #isCongested = false;
  #isSaturated = false;
  /** False after the end: remaining input is discarded. */
  #hasInput = true;
  /** The input `connected` was submitted. */
  #isKnown = false;
  /** No input is read; answers are still sent. */
  #isClosing = false;
  #isEnding = false;
  /** `LAST_ANSWER` tokens that have not come back. */
  #lastAnswerCount = 0;
  /** The client has ended its side, and not all of its input is handled. */
  #inputHasEnded = false;

  constructor(id: ConnectionId, { stream, address, releasesWrites }: Arrival, host: ConnectionHost) {
    this.id = id;
    this.address = address;
    this.#stream = stream;
    this.#host = host;
    const { options, environment, logger, authenticator, administration } = host;
    this.#log = new ConnectionLog({ connection: id, address }, { logger, clock: environment.clock });
    this.#reading = new Reading(stream);
    const pump = () => this.#pump();
    this.#memory = new ConnectionMemory(host.budgets, pump);
    this.#turn = new ReadTurn(host.turns, pump);
    const perSecond = options.rateLimit?.maxMessagesPerClientPerSecond;
    this.#rates = perSecond === undefined ? undefined : new ClientRates(perSecond, environment.clock);
    this.#session = new ServerSession({
      limits: options.limits,
      supportedCompressions: options.supportedCompressions,
      compressionThresholdBytes: options.compressionThresholdBytes,
      freshId: environment.freshId,
      servedCommands: host.administration === undefined ? commandsOfClient : withAdminCommands,
      admit: (message) => {
        const fault = this.#rates?.admit(message, this.#turn);
        if (fault !== undefined) host.limitReached('messageRate', this, fault.code);
        return fault;
      },
    });
    const onFault = (error: unknown) => this.#log.commandFailed(error);
    this.#connectCheck = authenticator && new ConnectCheck({ authenticator, address, onFault });
    this.#adminCommands = administration && this.#newAdminCommands(administration);
    this.#outbound = new Outbound(stream, {
      releasesWrites,
      buffers: host.writeBuffers,
      algorithmFor: (bodyLength) => this.#session.outboundAlgorithm(bodyLength),
      compress: host.compress,
      onProgress: () => this.#decongest(),
      onFailure: (error) => this.#abandon(error),
    });
    stream.on('error', ({ message }) => this.#log.ending('lost', message));
    stream.on('close', () => this.#streamClosed());
  }

  get isConnected(): boolean {
    return this.#session.state === 'connected';
  }

  /** Whose connection it is; undefined: nobody's, or it is not connected. */
  get username(): string | undefined {
    return this.#principal?.username;
  }

  /** Starts reading. */
  serve(): void {
    const { environment, options } = this.#host;
    this.#timeouts = new ConnectionTimeouts(environment, options.timeouts, (kind) => this.#timedOut(kind));
    this.#stream.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.#stream.on('end', () => {
      this.#inputHasEnded = true;
      this.#pump();
    });
  }

  /** Sends one frame and ends the connection. Pending answers are dropped. */
  terminate(fields: MessageFields, reason: EndReason): void {
    this.#log.ending(reason);
    this.#stopInput();
    this.notify(fields);
    this.end();
  }

  /** Stops reading, and ends the connection when all commands received so far are answered. */
  close(reason: EndReason): void {
    if (this.#isClosing) return;
    this.#log.ending(reason);
    this.#stopInput();
    if (!this.#isKnown) return this.#host.onClosed(this);
    this.#submit({ kind: 'disconnected', connection: this.id });
    this.#askForLastAnswer();
  }

  /** The turn of an admin command has come. */
  administer(turn: AdminTurn): void {
    this.#adminCommands?.carryOut(turn);
  }

  /** All answers that the backend had to give were given. An admin command may still be under way, whose answer follows. */
  lastAnswer(): void {
    this.#lastAnswerCount -= 1;
    if (this.#lastAnswerCount === 0 && this.#adminCommands?.isBusy !== true) this.#host.onClosed(this);
  }

  /** Queues a frame for the next flush; dropped if the connection is closing. */
  send(frame: OutboundFrame): void {
    if (this.#isEnding || this.#stream.destroyed) return;
    this.#log.sent(isEncoded(frame) ? undefined : frame.errorCode);
    if (isEncoded(frame)) {
      this.#rates?.delivered();
      return void this.#outbound.push(frame);
    }
    if (frame.command === Command.Error) this.#refused(frame.errorCode);
    const { options, environment } = this.#host;
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

  /** The client is ahead of subscribers: nothing is read of it for a moment, or for so many milliseconds. */
  holdBack(forMs?: number): void {
    this.#turn.holdBack(forMs);
    this.#updateReadState();
  }

  /** Writes what was queued; connections with the same `writes` share the bytes of the same frames. */
  flush(writes?: WriteBatch): void {
    this.#outbound.flush(writes);
    this.#count();
    const wasSaturated = this.#isSaturated;
    this.#isSaturated = false;
    if (this.#isCongested) return;
    if (!this.#exceedsOutput(1)) {
      if (wasSaturated) this.#notifyWritable(true);
      return;
    }
    this.#isCongested = true;
    const isOwn = this.#outbound.unsentBytes > this.#host.options.maxOutboundBytes;
    this.#host.limitReached(isOwn ? 'unsentOutput' : 'bufferedBytes', this);
    this.#notifyWritable(false);
    this.#updateReadState();
  }

  /** The backend has processed this input of the connection. */
  inputProcessed(input: Input): void {
    this.#pendingBytes -= pendingBytesOf(input, this.#host.options.limits.maxMessageSizeBytes);
    if (this.#reading.isPaused) this.#pump();
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
    const cancel = this.#host.environment.scheduler.after(this.#host.closingGraceMs(), () =>
      this.#stream.destroy(),
    );
    this.#stream.once('close', cancel);
  }

  /**
   * A client that the broker itself did not read may have sent something: the broker looks. Where much waits to be handled it does not look: the
   * client has sent that, and stays, unless it is what does not read.
   */
  #timedOut(kind: TimeoutKind): void {
    const mayProbe = this.#session.pendingBytes <= SHARE_BYTES;
    const isUnread = kind === 'idleTimeout' && this.#reading.isPaused && !this.#reading.isProbing;
    if (!isUnread || (this.#isCongested && !mayProbe)) {
      this.#host.limitReached(kind, this);
      return this.close(kind);
    }
    if (mayProbe) this.#reading.probe();
    this.#timeouts?.idleIn(mayProbe ? PROBE_MS : this.#host.options.timeouts.idleTimeoutMs);
  }

  #streamClosed(): void {
    this.#log.closed(this.#session.frameCount);
    this.close('lost');
    this.#count();
  }

  #receive(chunk: Buffer): void {
    this.#timeouts?.received();
    this.#reading.received();
    this.#log.received(chunk.length);
    this.#turn.received(chunk.length);
    this.#session.handleBytes(chunk);
    this.#pump();
    this.#session.releaseChunk();
  }

  /** Handles the events of the session until input must wait. */
  #pump(): void {
    let mayHaveMore: boolean;
    do {
      mayHaveMore = this.#handleEvents();
      // A Connect stops the handshake timeout, whether it is accepted or refused.
      if (this.#session.connectHasArrived) this.#timeouts?.connectArrived();
      this.#count();
      if (this.#inflation?.isRunning !== true && !this.#isClosing && !this.#memory.isWaiting) {
        this.#memory.reserveFrame(this.#session);
        this.#count();
      }
      // When all is counted, the connection may take less than before: then it goes on, because nobody would call again.
    } while (mayHaveMore && !this.#mustWait());
    this.#closeOnInputEnd();
    this.#updateReadState();
    if (this.#connectCheck?.isRunning) this.#timeouts?.readingPaused();
    else if (!this.#reading.isPaused && !this.#isClosing) this.#timeouts?.inputDrained(this.#session);
  }

  /** Returns whether there may be more events, which must wait. */
  #handleEvents(): boolean {
    while (!this.#mustWait()) {
      const event = this.#inflation?.waiting ?? this.#session.next();
      if (event === undefined) return false;
      this.#turn.handled();
      this.#handle(event);
    }
    return true;
  }

  /** Closes the connection when the client has ended its side and all its input was handled. */
  #closeOnInputEnd(): void {
    if (!this.#inputHasEnded || this.#mustWait()) return;
    this.#inputHasEnded = false;
    this.close('inputEnd');
  }

  #mustWait(): boolean {
    const mayBePending = this.#memory.isInputShort ? 0 : this.#host.options.maxPendingInputBytes;
    const isBusy = this.#isCongested || this.#isClosing || this.#memory.isWaiting;
    return isBusy || this.#turn.isOver || this.#isAsking || this.#pendingBytes > mayBePending;
  }

  /** What follows must wait for a body to be decompressed, or for the outcome of a Connect or an admin command. */
  get #isAsking(): boolean {
    if (this.#inflation?.isRunning) return true;
    return this.#connectCheck?.isRunning === true || this.#adminCommands?.isBusy === true;
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
      unsentBytes > this.#host.options.maxOutboundBytes * part || this.#memory.exceedsShare(heldBytes, part)
    );
  }

  #handle(event: SessionEvent): void {
    switch (event.kind) {
      case 'message':
        return this.#handleCommand(event);
      case 'answer':
        return this.#answer(event.fields);
      case 'close':
        return this.close(event.cause);
      case 'connect':
        return this.#handleConnect(event.message);
      case 'inflate':
        return this.#inflate(event);
    }
  }

  #handleCommand({ message, frame }: DecodedMessageEvent): void {
    if (this.#adminCommands !== undefined && commandsOfAdministration.has(message.command)) {
      const issuer = { principal: this.#principal, connection: this.id, address: this.address };
      return this.#adminCommands.begin(message, issuer);
    }
    try {
      this.#submit(translateCommand(this.id, message, frame, this.#host.options));
    } catch (error) {
      this.#log.commandFailed(error);
      this.#submit(readyAnswer(this.id, serverErrorFields(message)));
    }
  }

  /** Sends an answer that needs no queue, after the answers to earlier commands. */
  #answer(fields: MessageFields): void {
    const isRefused = fields.errorCode !== undefined;
    if (isRefused && this.#rates !== undefined) this.#turn.holdBack(wastedMs(this.#session.inflatedBytes));
    if (this.#isKnown) return this.#submit(readyAnswer(this.id, fields));
    this.send(fields);
    this.flush();
  }

  #handleConnect({ headers }: Message): void {
    this.#log.connectArrived(headers.get(HeaderName.ClientVersion));
    if (this.#refusesOutOfService()) return;
    if (this.#connectCheck === undefined) return this.#accept(undefined);
    const outcome = this.#connectCheck.begin(headers, (later) => {
      this.#handleOutcome(later);
      this.#pump();
    });
    if (outcome !== undefined) this.#handleOutcome(outcome);
  }

  /** The backend may have gone out of service during a check. */
  #handleOutcome(outcome: CheckOutcome): void {
    if (this.#refusesOutOfService()) return;
    if (outcome.kind === 'accepted') return this.#accept(outcome.principal);
    const { code, text, closes } = outcome;
    if (code === ErrorCode.RateLimited) this.#host.limitReached('passwordChecks', this, code);
    this.#log.connectRefused(code);
    this.#session.handleConnectOutcome({ kind: 'refuse', code, text, closes });
  }

  #refusesOutOfService(): boolean {
    const text = this.#host.outOfServiceReason();
    if (text === undefined) return false;
    this.#log.connectRefused(ErrorCode.StorageError);
    this.#session.handleConnectOutcome({ kind: 'refuse', code: ErrorCode.StorageError, text, closes: true });
    return true;
  }

  #accept(principal: Principal | undefined): void {
    this.#principal = principal;
    this.#log.connected(principal?.username);
    const serverHeaders = connectAckHeaders(this.id, this.#host.options.serverVersion);
    this.#session.handleConnectOutcome({ kind: 'accept', serverHeaders });
    this.#isKnown = true;
    const input = { kind: 'connected', connection: this.id } as const;
    this.#submit(principal === undefined ? input : { ...input, principal });
  }

  #submit(input: Input): void {
    this.#pendingBytes += pendingBytesOf(input, this.#host.options.limits.maxMessageSizeBytes);
    this.#host.submit(input);
  }

  #stopInput(): void {
    this.#timeouts?.stop();
    this.#connectCheck?.cancel();
    this.#isClosing = true;
    this.#memory.stopInput();
  }

  /** Counts a refusal. A client that is refused too much waits. */
  #refused(code: string | undefined): void {
    this.#host.countError(code, this);
    const waitMs = this.#rates?.refused() ?? 0;
    if (waitMs === 0) return;
    this.#host.limitReached('refusals', this);
    this.holdBack(waitMs);
  }

  /** Pauses or resumes reading. */
  #updateReadState(): void {
    const isChecking = this.#connectCheck?.isRunning === true;
    const pause = isChecking ? this.#session.pendingBytes > MAX_BYTES_BEHIND_CONNECT : this.#mustWait();
    if (pause === this.#reading.isPaused || this.#isEnding || this.#isClosing) return;
    if (pause) {
      if (this.#pendingBytes > this.#host.options.maxPendingInputBytes)
        this.#host.limitReached('pendingInput', this);
      else if (this.#memory.isWaiting || (this.#memory.isInputShort && this.#pendingBytes > 0))
        this.#host.limitReached('bufferedBytes', this);
      this.#timeouts?.readingPaused();
      this.#reading.pause();
    } else this.#reading.resume();
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

  #inflate(event: InflateEvent): void {
    this.#inflation ??= new Inflation({
      compressor: this.#host.compressor,
      memory: this.#memory,
      session: this.#session,
      onInflated: () => this.#pump(),
      onFailure: (error) => this.#abandon(error),
    });
    this.#inflation.begin(event);
  }

  #newAdminCommands(administration: UserAdministration): AdminCommands {
    return new AdminCommands(this.id, {
      administration,
      maxMessageSizeBytes: this.#host.options.limits.maxMessageSizeBytes,
      submit: (input) => this.#submit(input),
      shutdownReason: this.#host.shutdownReason,
      onLimit: (kind, code) => this.#host.limitReached(kind, this, code),
      onFault: (error) => this.#log.commandFailed(error),
      onDone: () => {
        // The answer comes behind the last one that was asked for before.
        if (this.#isClosing) this.#askForLastAnswer();
        this.#pump();
      },
    });
  }

  #askForLastAnswer(): void {
    this.#lastAnswerCount += 1;
    this.#submit({ kind: 'barrier', connection: this.id, token: LAST_ANSWER });
  }

  #notifyWritable(writable: boolean): void {
    if (!this.#isKnown || this.#isClosing) return;
    this.#submit({ kind: 'writable', connection: this.id, writable });
  }

  /** An internal error of this connection: destroys it, and no other. */
  #abandon(error: unknown): void {
    this.#log.abandoned(error);
    this.#stream.destroy();
  }
}
