// The protocol state of one connection on the client's side. Uses the same reader and state table as the broker's side. Bytes go in, events
// come out in order. The client library sends, measures time and matches answers to commands. Implements CLIENT-002 to CLIENT-004,
// CLIENT-036 and CLIENT-037.

import { Command } from '../protocol/command.ts';
import { type Algorithm, negotiate } from '../protocol/compression.ts';
import { encodedBodyLength, encodeFrame } from '../protocol/encode.ts';
import type { ProtocolFault } from '../protocol/fault.ts';
import { HeaderName } from '../protocol/header-name.ts';
import type { ProtocolLimits } from '../protocol/limits.ts';
import { type Headers, type Message, type MessageFields, noHeaders } from '../protocol/message.ts';
import { type DecodedMessageEvent, type InflateEvent, MessageReader } from './message-reader.ts';
import { nextSessionState, type SessionOccurrence, type SessionState } from './session-state.ts';

export type ClientEvent =
  /** Decompress the body, then call `handleInflated`; there are no other events until then. */
  | InflateEvent
  /** The handshake succeeded; `message` is the ConnectAck. */
  | { readonly kind: 'connected'; readonly message: Message }
  /** The handshake was refused; `message` is the Error. Another `connect` may follow. */
  | { readonly kind: 'refused'; readonly message: Message }
  | DecodedMessageEvent
  /** The broker violated the protocol. With `closes` it is the last event, else one frame is skipped. */
  | ProtocolFault;

export type ClientSessionOptions = {
  readonly limits: ProtocolLimits;
  /** In descending preference; empty for no compression. */
  readonly compressions: readonly Algorithm[];
  /** Shorter bodies are sent uncompressed. */
  readonly compressionThresholdBytes: number;
};

/** A message of our own is longer than `maxMessageSizeBytes`. */
export class MessageSizeError extends RangeError {
  readonly bodyBytes: number;
  readonly limitBytes: number;

  constructor(bodyBytes: number, limitBytes: number) {
    super(`A message of ${bodyBytes} bytes is over the limit of ${limitBytes}.`);
    this.bodyBytes = bodyBytes;
    this.limitBytes = limitBytes;
  }
}

export class ClientSession {
  readonly #options: ClientSessionOptions;
  readonly #reader: MessageReader;
  #state: SessionState = 'awaiting-connect';
  #negotiated: Algorithm | undefined;

  constructor(options: ClientSessionOptions) {
    this.#options = options;
    this.#reader = new MessageReader(options.limits);
  }

  get state(): SessionState {
    return this.#state;
  }

  /** The algorithm agreed in the handshake. */
  get negotiated(): Algorithm | undefined {
    return this.#negotiated;
  }

  /** The algorithm for a body of this length (uncompressed) that is sent now; undefined: no compression. */
  outboundAlgorithm(bodyLengthBytes: number): Algorithm | undefined {
    return bodyLengthBytes >= this.#options.compressionThresholdBytes ? this.#negotiated : undefined;
  }

  /** The frame of a Connect that offers the compressions. Throws while another is under way, and once connected. */
  connect(fields: { readonly id: string; readonly headers?: Headers }): Buffer {
    this.#move('connect');
    const headers = new Map(fields.headers ?? noHeaders);
    const { compressions } = this.#options;
    if (compressions.length > 0) headers.set(HeaderName.SupportedCompression, compressions.join(','));
    return encodeFrame({ command: Command.Connect, id: fields.id, headers });
  }

  /**
   * The uncompressed frame of any other command. Throws before the handshake, except for Ping and Disconnect. Throws MessageSizeError if the body
   * exceeds `maxMessageSizeBytes`, because the broker would close the connection.
   */
  encodeCommand(fields: MessageFields): Buffer {
    this.bodyBytesOf(fields);
    return encodeFrame(fields);
  }

  /** The length of the uncompressed body of a command, for callers that encode it themselves. Throws as `encodeCommand`. */
  bodyBytesOf(fields: MessageFields): number {
    if (
      this.#state !== 'connected' &&
      fields.command !== Command.Ping &&
      fields.command !== Command.Disconnect
    ) {
      throw new Error(`A session that is ${this.#state} cannot send the command ${fields.command}.`);
    }
    const bodyBytes = encodedBodyLength(fields);
    const limit = this.#options.limits.maxMessageSizeBytes;
    if (bodyBytes <= limit) return bodyBytes;
    throw new MessageSizeError(bodyBytes, limit);
  }

  /** Takes over a chunk, which the caller must not change afterwards. */
  handleBytes(chunk: Buffer): void {
    this.#reader.push(chunk);
  }

  /** The result of the last `inflate`. Throws when no result is awaited. */
  handleInflated(result: Buffer | ProtocolFault): void {
    this.#reader.handleInflated(result);
  }

  /** The connection has ended, on either side. Throws when it had ended before. */
  handleClosed(): void {
    this.#move('close');
    this.#reader.stop();
  }

  /** The next event; undefined when more bytes or a decompressed body are needed, and always after the end. */
  next(): ClientEvent | undefined {
    if (this.#state === 'closed') return undefined;
    // A broker may already compress its ConnectAck, so a client accepts compressed frames from the start.
    const read = this.#reader.next({ compressionAllowed: true });
    if (read?.kind === 'fault' && read.closes) this.handleClosed();
    return read?.kind === 'message' && this.#state === 'connecting' ? this.#handleAnswer(read) : read;
  }

  /** The next ConnectAck or Error answers the handshake, whatever its id: existing brokers use a new id. */
  #handleAnswer(event: DecodedMessageEvent): ClientEvent {
    const { message } = event;
    switch (message.command) {
      case Command.ConnectAck:
        this.#move('accept');
        this.#negotiated = negotiate(
          message.headers.get(HeaderName.NegotiatedCompression),
          this.#options.compressions,
        );
        return { kind: 'connected', message };
      case Command.Error:
        this.#move('refuse');
        return { kind: 'refused', message };
      default:
        return event;
    }
  }

  #move(occurrence: SessionOccurrence): void {
    this.#state = nextSessionState(this.#state, occurrence);
  }
}
