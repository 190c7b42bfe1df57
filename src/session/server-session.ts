// The protocol state of one connection on the broker's side. Bytes and outcomes go in, events come out, in the order in which they must
// take effect; it sends nothing, measures no time and looks nothing up. The owner drains `next` after every input, carries out each event
// before it takes the next, and stops reading after `close`. Implements CONN-001 to CONN-013, CONN-018 to CONN-020, CONN-024 to CONN-032,
// COMPRESS-004 to COMPRESS-015 and ERROR-006 to ERROR-012.

import type { ErrorCode } from '../model/error-code.ts';
import { Command, commandsOfClient } from '../protocol/command.ts';
import { type Algorithm, negotiate } from '../protocol/compression.ts';
import type { DecodedMessage } from '../protocol/decode.ts';
import type { ProtocolFault } from '../protocol/fault.ts';
import { noCheckedQueueName } from '../protocol/field-rules.ts';
import { HeaderName } from '../protocol/header-name.ts';
import type { ProtocolLimits } from '../protocol/limits.ts';
import type { Headers, Message, MessageFields } from '../protocol/message.ts';
import { type DecodedMessageEvent, type InflateEvent, MessageReader } from './message-reader.ts';
import { firstFault, type PrecedenceContext } from './precedence.ts';
import { nextSessionState, type SessionOccurrence, type SessionState } from './session-state.ts';

export type SessionEvent =
  /** Decompress the body, then call `handleInflated`; there are no other events until then. */
  | InflateEvent
  /** Check the credentials, then call `handleConnectOutcome`; there are no other events until then. */
  | { readonly kind: 'connect'; readonly message: Message }
  /** A command that is valid as far as the protocol goes, with its uncompressed body (a view). */
  | DecodedMessageEvent
  /** To be sent after the answers to all earlier commands. */
  | { readonly kind: 'answer'; readonly fields: MessageFields }
  /** To be done once all earlier answers are written. The last event. */
  | { readonly kind: 'close'; readonly cause: CloseCause };

/** Why a session ended itself: the client's Disconnect, a fault that ends the stream, or too many refused Connects. */
export type CloseCause = 'disconnect' | 'fault' | 'failed-connects';

export type ConnectOutcome =
  | { readonly kind: 'accept'; readonly serverHeaders: Headers }
  | { readonly kind: 'refuse'; readonly code: ErrorCode; readonly text: string; readonly closes: boolean };

export type ServerSessionOptions = {
  readonly limits: ProtocolLimits;
  readonly supportedCompressions: readonly Algorithm[];
  /** Shorter bodies are sent uncompressed. */
  readonly compressionThresholdBytes: number;
  /** An id for an answer whose command's id is missing or cannot be read. */
  readonly freshId: () => string;
  /** Default: `commandsOfClient`. */
  readonly servedCommands?: ReadonlySet<number>;
  /** The rate limit's place in the precedence: a fault refuses the command. Default: everything is admitted. */
  readonly admit?: (message: DecodedMessage) => ProtocolFault | undefined;
  /** The refused Connect that ends the connection. Default 3. */
  readonly maxFailedConnects?: number;
};

export class ServerSession {
  readonly #options: ServerSessionOptions;
  readonly #reader: MessageReader;
  readonly #queued: SessionEvent[] = [];
  #context: PrecedenceContext;
  #state: SessionState = 'awaiting-connect';
  #connect: Message | undefined;
  #connectHasArrived = false;
  #failedConnectCount = 0;
  #negotiated: Algorithm | undefined;

  constructor(options: ServerSessionOptions) {
    const { limits, servedCommands = commandsOfClient, admit = () => undefined } = options;
    this.#options = options;
    this.#reader = new MessageReader(limits);
    const checkedQueueName = noCheckedQueueName();
    this.#context = { connected: false, limits, checkedQueueName, servedCommands, admit };
  }

  get state(): SessionState {
    return this.#state;
  }

  /** True from the first Connect on, also when it was refused. For the handshake timeout. */
  get connectHasArrived(): boolean {
    return this.#connectHasArrived;
  }

  /** The algorithm agreed in the handshake. */
  get negotiated(): Algorithm | undefined {
    return this.#negotiated;
  }

  /** True while a frame has arrived in part, for the frame timeout. Reliable after `next` returned undefined. */
  get hasPartialFrame(): boolean {
    return this.#reader.hasPartialFrame;
  }

  /** Whole frames read so far. Lets the owner see whether a partial frame is still the same one. */
  get frameCount(): number {
    return this.#reader.frameCount;
  }

  /** The length of the frame that has arrived in part; 0 until its header is complete. */
  get announcedBytes(): number {
    return this.#reader.announcedBytes;
  }

  /** See `MessageReader.inflatedBytes`; of an answer by which the session refuses a command, it is the body of that command. */
  get inflatedBytes(): number {
    return this.#reader.inflatedBytes;
  }

  /** Received bytes that are not yet part of a returned frame, for the owner's limit on pending input. */
  get pendingBytes(): number {
    return this.#reader.pendingBytes;
  }

  /** The algorithm for a body of this length (uncompressed) that is sent now; undefined: no compression. */
  outboundAlgorithm(bodyLengthBytes: number): Algorithm | undefined {
    return bodyLengthBytes >= this.#options.compressionThresholdBytes ? this.#negotiated : undefined;
  }

  /** Takes over a chunk, which the caller must not change before `releaseChunk`. Discards it after `close`. */
  handleBytes(chunk: Buffer): void {
    this.#reader.push(chunk);
  }

  /** From now on the caller may change the chunks, and with them all bodies of events. What was not read yet is copied. */
  releaseChunk(): void {
    this.#reader.releaseChunk();
  }

  /** The result of the last `inflate`. Throws when no result is awaited. */
  handleInflated(result: Buffer | ProtocolFault): void {
    this.#reader.handleInflated(result);
  }

  /** The outcome of the last `connect`. Throws when none is awaited. */
  handleConnectOutcome(outcome: ConnectOutcome): void {
    const connect = this.#connect;
    if (connect === undefined) throw new Error('No outcome of a Connect was asked for.');
    if (outcome.kind === 'accept') this.#accept(connect, outcome.serverHeaders);
    else this.#refuseConnect(connect, { ...outcome, kind: 'fault' });
    this.#connect = undefined;
  }

  /** The next event; undefined when more bytes or an outcome are needed, and always after `close`. */
  next(): SessionEvent | undefined {
    if (this.#queued.length > 0) return this.#queued.shift();
    if (this.#state === 'closed' || this.#state === 'connecting') return undefined;
    const read = this.#reader.next({ compressionAllowed: this.#context.connected });
    switch (read?.kind) {
      case undefined:
      case 'inflate':
        return read;
      case 'fault':
        return this.#answerFault(read, '');
      case 'message':
        return this.#handleMessage(read);
    }
  }

  #handleMessage(read: DecodedMessageEvent): SessionEvent | undefined {
    const { message } = read;
    if (message.command === Command.Connect) this.#connectHasArrived = true;
    const fault = firstFault(message, this.#context);
    if (fault !== undefined) return this.#refuse(message, fault);
    switch (message.command) {
      case Command.Ping:
        return { kind: 'answer', fields: { command: Command.Pong, id: message.id } };
      case Command.Connect:
        this.#move('connect');
        this.#connect = message;
        return { kind: 'connect', message };
      case Command.Disconnect:
        return this.#close('disconnect');
      default:
        return read;
    }
  }

  #accept(connect: Message, serverHeaders: Headers): void {
    this.#move('accept');
    this.#context = { ...this.#context, connected: true };
    const offered = connect.headers.get(HeaderName.SupportedCompression);
    this.#negotiated = negotiate(offered, this.#options.supportedCompressions);
    const headers = new Map(serverHeaders);
    if (this.#negotiated !== undefined) headers.set(HeaderName.NegotiatedCompression, this.#negotiated);
    this.#queued.push({ kind: 'answer', fields: { command: Command.ConnectAck, id: connect.id, headers } });
  }

  #refuse(message: Message, fault: ProtocolFault): SessionEvent | undefined {
    if (message.command !== Command.Connect || this.#context.connected)
      return this.#answerFault(fault, message.id);
    this.#move('connect');
    this.#refuseConnect(message, fault);
    return this.#queued.shift();
  }

  #refuseConnect(connect: Message, fault: ProtocolFault): void {
    this.#failedConnectCount += 1;
    const isLast = this.#failedConnectCount >= (this.#options.maxFailedConnects ?? 3);
    this.#queued.push({ kind: 'answer', fields: this.#errorFields(fault, connect.id) });
    if (fault.closes || isLast) this.#queued.push(this.#close(fault.closes ? 'fault' : 'failed-connects'));
    else this.#move('refuse');
  }

  #answerFault(fault: ProtocolFault, id: string): SessionEvent {
    if (fault.closes) this.#queued.push(this.#close('fault'));
    return { kind: 'answer', fields: this.#errorFields(fault, id) };
  }

  #errorFields(fault: ProtocolFault, commandId: string): MessageFields {
    const id = (fault.id ?? commandId) || this.#options.freshId();
    return { command: Command.Error, id, errorCode: fault.code, errorMessage: fault.text };
  }

  #close(cause: CloseCause): SessionEvent {
    this.#move('close');
    this.#reader.stop();
    return { kind: 'close', cause };
  }

  #move(occurrence: SessionOccurrence): void {
    this.#state = nextSessionState(this.#state, occurrence);
  }
}
