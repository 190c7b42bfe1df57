// A client's connection: the session between a duplex stream and the caller that awaits answers and messages. Owns the stream from the
// first byte to the last, and reports once why it ended. The commands themselves are in client.ts. Implements CLIENT-009, CLIENT-035 to
// CLIENT-038, CLIENT-041 and CLIENT-048.

import type { Duplex } from 'node:stream';
import { ErrorCode } from '../model/error-code.ts';
import { Command, type CommandNumber, commandName } from '../protocol/command.ts';
import { type Algorithm, flagsOf } from '../protocol/compression.ts';
import { framingFault, isFault, type OversizedFrame, type ProtocolFault } from '../protocol/fault.ts';
import { HeaderName } from '../protocol/header-name.ts';
import type { Message, MessageFields } from '../protocol/message.ts';
import { type ClientEvent, ClientSession, MessageSizeError } from '../session/client-session.ts';
import { type CallOptions, orAborted } from './abort.ts';
import {
  type ClientError,
  CommandError,
  CommandTimeoutError,
  ConnectionError,
  MessageTooLargeError,
  ProtocolError,
} from './errors.ts';
import { FrameSender } from './frame-sender.ts';
import type { ClientSettings } from './options.ts';
import { isPlausible, oversizedError, readFrameStart, strangerAt } from './oversized-frame.ts';
import { type PendingCommand, PendingCommands } from './pending-commands.ts';
import { warn } from './process-warning.ts';
import { tlsFailure } from './tls-failure.ts';

/** Why a connection ended; without an error the client closed it. */
export type ClosedReason = {
  readonly error: ClientError | undefined;
  /** The reason that the broker gave, e.g. `server_shutdown`. */
  readonly reason: string | undefined;
};

export type ConnectionOptions = {
  readonly stream: Duplex;
  readonly settings: ClientSettings;
  readonly onDeliver: (message: Message, connection: ClientConnection) => void;
  /** A message of this queue is too long for the client; the connection is about to end. */
  readonly onUndeliverable: (queue: string, error: ConnectionError) => void;
};

/** A command with an answer: its fields, and what to do when its wait is over. */
export type SentCommand = PendingCommand & MessageFields;

export type CommandRequest = {
  readonly command: CommandNumber;
  /** The command that a positive answer has. */
  readonly answer: CommandNumber;
  readonly queue?: string;
  readonly payload?: Buffer;
  readonly headers?: ReadonlyMap<string, string>;
};

/** Codes of the Error that a broker sends before it closes the connection because of a frame that it cannot read. */
const FRAME_FAULTS: readonly string[] = [ErrorCode.InvalidMessage, ErrorCode.MessageTooLarge];

type InflateEvent = Extract<ClientEvent, { readonly kind: 'inflate' }>;

export class ClientConnection {
  /** Resolves when the connection has ended, for whatever reason; never rejects. */
  readonly closed: Promise<ClosedReason>;
  readonly #options: ConnectionOptions;
  readonly #session: ClientSession;
  readonly #sender: FrameSender;
  readonly #pending: PendingCommands;
  #connectId = '';
  /** New commands are refused. */
  #isClosing = false;
  /** No more frames are sent. */
  #isSilent = false;
  /** The broker has accepted the Connect. */
  #isWelcome = false;
  /** Nothing is read unless an answer is awaited. */
  #isHeldBack = false;
  #capabilities: ReadonlySet<string> = new Set();
  #error: ClientError | undefined;
  #reason: string | undefined;
  /** An Error that answered no command. */
  #refusal: CommandError | undefined;

  constructor(options: ConnectionOptions) {
    const { stream, settings } = options;
    this.#options = options;
    this.#session = new ClientSession(settings);
    this.#sender = new FrameSender(stream, this.#session, settings.compressor);
    this.#pending = new PendingCommands(settings.commandTimeoutMs);
    this.closed = this.#listen(stream);
  }

  /** Connects and learns what the broker can do. Ends the connection if that fails. */
  async open(): Promise<void> {
    try {
      const welcome = await this.#shakeHands(this.#options.settings);
      this.#isWelcome = true;
      const names = welcome.headers.get(HeaderName.Capabilities) ?? '';
      this.#capabilities = new Set(names.split(',').map((name) => name.trim()));
    } catch (error) {
      this.#fail(error instanceof CommandTimeoutError ? error : undefined);
      throw error;
    }
  }

  async #shakeHands({ createId, connectHeaders: headers }: ClientSettings): Promise<Message> {
    const id = createId();
    // First: what cannot be encoded must leave no command that waits for its answer.
    const frame = this.#session.connect({ id, headers });
    this.#connectId = id;
    const answer = new Promise<Message>((handleAnswer, handleFailure) => {
      const { Connect, ConnectAck } = Command;
      this.#pending.add({ id, command: Connect, answer: ConnectAck, handleAnswer, handleFailure });
    });
    this.#sender.sendFrame(frame);
    return answer;
  }

  /** The optional features that the broker announced. */
  get capabilities(): ReadonlySet<string> {
    return this.#capabilities;
  }

  /** Whether commands can be sent. */
  get isOpen(): boolean {
    return !this.#isClosing;
  }

  /** Whether frames without an answer are still sent: also acks of handlers that finish while it closes. */
  get isAccepting(): boolean {
    return !this.#isSilent;
  }

  /**
   * Sends a command; one of its handlers is called later.
   * @throws ConnectionError when the connection has ended; MessageTooLargeError; RangeError when its id is under way
   */
  start(command: SentCommand): void {
    if (this.#isClosing) throw this.#endedError();
    this.#pending.add(command);
    try {
      this.#sender.send(command);
    } catch (error) {
      this.#pending.remove(command.id);
      throw error instanceof MessageSizeError ? tooLarge(command, error) : error;
    }
    if (this.#isHeldBack) this.#balanceReading();
  }

  /** Ends the wait for an answer, without a call of a handler. */
  forget(id: string): void {
    this.#pending.giveUp(id);
  }

  /**
   * Sends a command and returns its answer.
   * @throws CommandError, CommandTimeoutError, ConnectionError, MessageTooLargeError; RangeError when `createId` gave an id that is under way
   */
  request(request: CommandRequest, { signal }: CallOptions = {}): Promise<Message> {
    const { createId, mayRepeatIds: hasChosenId } = this.#options.settings;
    const id = createId();
    const answer = new Promise<Message>((handleAnswer, handleFailure) =>
      this.start({ ...request, id, hasChosenId, handleAnswer, handleFailure }),
    );
    return orAborted(answer, signal, () => this.forget(id));
  }

  /** Sends a command that has no answer; does nothing when the connection has ended. */
  send(fields: MessageFields): void {
    if (!this.#isSilent) this.#sender.send(fields);
  }

  /** Whether no bytes are read; while they are not, Pongs wait too. */
  get isPaused(): boolean {
    return this.#options.stream.isPaused();
  }

  /** Stops reading, whenever no command waits for its answer. */
  pause(): void {
    this.#isHeldBack = true;
    this.#balanceReading();
  }

  resume(): void {
    this.#isHeldBack = false;
    this.#balanceReading();
  }

  /**
   * An answer comes behind the messages that the broker sent before it. So all is read while one is awaited: the handler that the messages wait for
   * may be what waits for it.
   */
  #balanceReading(): void {
    const { stream } = this.#options;
    if (this.#isHeldBack && this.#pending.isEmpty) stream.pause();
    else if (stream.isPaused()) stream.resume();
  }

  /**
   * Sends Disconnect and resolves when the stream has ended. Acks of handlers that finish in this turn are still sent; the broker
   * redelivers the other messages.
   */
  async close(): Promise<void> {
    if (!this.#isClosing) {
      this.#isClosing = true;
      setImmediate(() => this.#sayGoodbye());
    }
    await this.closed;
  }

  #sayGoodbye(): void {
    try {
      this.send({ command: Command.Disconnect, id: this.#options.settings.createId() });
    } catch (error) {
      warn('the client closes without a Disconnect, which cannot be sent', error);
    }
    this.#isSilent = true;
    this.#sender.end();
    this.resume();
    this.#destroyLater();
  }

  /** Ends the connection without a word to the broker, e.g. because it does not answer. */
  abandon(why = 'the broker does not answer any more'): void {
    if (!this.#isClosing) this.#fail(new ConnectionError('CONNECTION_ENDED', why));
  }

  /** Destroys the stream if the broker does not close its side in time. */
  #destroyLater(): void {
    const timer = setTimeout(() => this.#options.stream.destroy(), this.#options.settings.commandTimeoutMs);
    void this.closed.then(() => clearTimeout(timer));
  }

  /** Ends the connection because of an error; without one, because the handshake was refused. */
  #fail(error: ClientError | undefined): void {
    this.#error ??= error;
    this.#isClosing = true;
    this.#isSilent = true;
    this.#options.stream.destroy();
  }

  #listen(stream: Duplex): Promise<ClosedReason> {
    return new Promise((resolve) => {
      stream.on('data', (chunk: Buffer) => this.#handleBytes(chunk));
      stream.on('end', () => stream.end());
      stream.on('error', (error) => {
        const reason = tlsFailure(error) ?? error.message;
        this.#error ??= new ConnectionError('CONNECTION_ENDED', `the connection ended: ${reason}`, {
          cause: error,
        });
      });
      stream.on('close', () => resolve(this.#handleClosed()));
    });
  }

  #handleClosed(): ClosedReason {
    if (!this.#isClosing) this.#error ??= this.#endedError();
    this.#isClosing = true;
    this.#isSilent = true;
    if (this.#session.state !== 'closed') this.#session.handleClosed();
    this.#pending.failAll(this.#frameRefusal() ?? this.#error ?? this.#endedError());
    return { error: this.#error, reason: this.#reason };
  }

  /** The broker ended the connection because of a frame of the client: the command in it would end every other connection too. */
  #frameRefusal(): ClientError | undefined {
    const isFaultOfFrame = this.#refusal !== undefined && FRAME_FAULTS.includes(this.#refusal.code);
    return isFaultOfFrame ? this.#refusal : undefined;
  }

  #endedError(): ClientError {
    const why = this.#reason === undefined ? '' : `: ${this.#reason}`;
    return (
      this.#error ?? new ConnectionError('CONNECTION_ENDED', `the connection to the broker has ended${why}`)
    );
  }

  #handleBytes(chunk: Buffer): void {
    if (this.#session.state === 'closed') return;
    this.#session.handleBytes(chunk);
    this.#drain();
  }

  #drain(): void {
    for (let event = this.#session.next(); event !== undefined; event = this.#session.next()) {
      this.#handleEvent(event);
    }
    if (this.#isHeldBack) this.#balanceReading();
  }

  #handleEvent(event: ClientEvent): void {
    switch (event.kind) {
      case 'inflate':
        this.#inflate(event);
        return;
      case 'connected':
      case 'refused':
        // Existing brokers answer Connect with another id.
        this.#pending.settle(event.message, this.#connectId);
        return;
      case 'fault':
        this.#handleFault(event);
        return;
      case 'message':
        this.#handleMessage(event.message);
    }
  }

  #handleFault({ code, text, oversized }: ProtocolFault): void {
    // Before the welcome it is no broker, but e.g. a web server.
    if (oversized !== undefined && this.#isWelcome && isPlausible(oversized)) {
      void this.#leaveOversized(oversized);
      return;
    }
    const stranger = oversized === undefined || this.#isWelcome ? undefined : strangerAt(oversized);
    this.#fail(new ProtocolError(code, stranger ?? `the broker broke the protocol: ${text}`));
  }

  /** Nothing is read any more; the connection ends when it is known whose message is too long. */
  async #leaveOversized(frame: OversizedFrame): Promise<void> {
    const start = await readFrameStart(frame);
    const queue = start?.command === Command.Deliver ? start.queue : undefined;
    const { maxMessageSizeBytes } = this.#options.settings.limits;
    const error = oversizedError(frame, maxMessageSizeBytes, queue);
    if (queue !== undefined) this.#options.onUndeliverable(queue, error);
    this.#fail(error);
  }

  #handleMessage(message: Message): void {
    if (message.command === Command.Deliver) {
      this.#options.onDeliver(message, this);
      return;
    }
    if (message.command === Command.Disconnect) {
      this.#reason = message.headers.get(HeaderName.Reason);
      return;
    }
    if (this.#pending.settle(message) || message.command !== Command.Error) return;
    // An Error that answers no command is the last frame before the broker closes the connection.
    this.#refusal = new CommandError(message.errorCode, message.errorMessage);
    this.#reason = this.#refusal.message;
  }

  #inflate({ algorithm, body, limitBytes }: InflateEvent): void {
    const { compressor, compressions } = this.#options.settings;
    const isAgreed = compressions.length > 0;
    const inflated = isAgreed ? compressor.decompress(algorithm, body, limitBytes) : notAgreed();
    if (!(inflated instanceof Promise)) {
      this.#session.handleInflated(withStart(inflated, algorithm, body));
      return;
    }
    inflated.then(
      (result) => {
        if (this.#session.state === 'closed') return;
        this.#session.handleInflated(withStart(result, algorithm, body));
        this.#drain();
      },
      (error: Error) => this.#options.stream.destroy(error),
    );
  }
}

function tooLarge(
  { command, queue = '' }: SentCommand,
  { bodyBytes, limitBytes }: MessageSizeError,
): MessageTooLargeError {
  const name = commandName(command) ?? String(command);
  const what = queue === '' ? `a ${name}` : `a ${name} for queue ${JSON.stringify(queue)}`;
  return new MessageTooLargeError(what, bodyBytes, limitBytes);
}

/** A body that is too long when decompressed is told as a frame that is too long. */
function withStart(
  result: Buffer | ProtocolFault,
  algorithm: Algorithm,
  body: Buffer,
): Buffer | ProtocolFault {
  if (!isFault(result) || result.code !== ErrorCode.MessageTooLarge) return result;
  return { ...result, oversized: { bodyBytes: body.length, flags: flagsOf(algorithm), start: body } };
}

function notAgreed(): ProtocolFault {
  return framingFault(ErrorCode.InvalidMessage, 'a compressed frame, though no compression was agreed');
}
