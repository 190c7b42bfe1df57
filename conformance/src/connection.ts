// What a check can do with one TCP connection to the broker. Types only: wire/ implements them. Every wait has a deadline. A wait that
// ends without its frame, at the deadline or because the broker closed the connection, throws an ExpectationFailure with the awaited
// frame and the frames that came instead. Areas: FRAME, BODY, CONN.

import type { AdminCommandName, CommandName } from './wire/command.ts';
import type { Algorithm } from './wire/compression.ts';
import type { FrameFields, ReceivedFrame } from './wire/frame.ts';

export type FrameMatch = {
  readonly command?: CommandName | readonly CommandName[];
  readonly id?: string;
  readonly queue?: string;
};

/** The name of a command, fields that must be equal, or a function that tests the frame. */
export type FramePattern = CommandName | FrameMatch | ((frame: ReceivedFrame) => boolean);

export type WaitOptions = {
  /** Deadline of the wait; `ctx.timing.answerMs` unless given. */
  readonly withinMs?: number;
  /** What the check waits for, in words for the report. */
  readonly what?: string;
  /** The requirement that is broken if it does not come; the check's main one unless given. */
  readonly clause?: string;
};

export type SendOptions = {
  /** Compress the body with this algorithm and set the flags byte. */
  readonly compress?: Algorithm;
};

export type PublishOptions = SendOptions & {
  /** The message id; a fresh one unless given. */
  readonly id?: string;
  readonly headers?: FrameFields['headers'];
};

export type CloseKind = 'end' | 'reset';

export interface Connection {
  /** `A`, `B`, .. in the order in which the connections are opened; traces use this name. */
  readonly name: string;
  /** The answer to the handshake. Throws an ExpectationFailure if the connection has had no handshake. */
  readonly connectAck: ReceivedFrame;
  /** Every frame received so far, in order, including the frames that a wait has taken. */
  readonly received: readonly ReceivedFrame[];
  readonly isClosed: boolean;
  /** The certificate that the broker has shown, as its SHA-256 fingerprint; undefined without TLS. */
  readonly peerCertificate: string | undefined;

  // --- sending: in chunks as --wire says. Frames keep their order, also if the check does not await each of them. ---
  send(fields: FrameFields, options?: SendOptions): Promise<void>;
  /** Any bytes, for example incomplete or invalid frames. */
  sendRaw(bytes: Buffer): Promise<void>;
  /** Sends several frames in one write, whatever --wire says. */
  sendTogether(frames: readonly FrameFields[]): Promise<void>;
  /** Sends exactly these pieces, each in a separate write. */
  sendPieces(pieces: readonly Buffer[]): Promise<void>;

  // --- receiving: each frame can be taken once ---
  /** Takes the first matching frame that is not taken yet; the frames before it stay. Waits if there is none. */
  expect(pattern: FramePattern, options?: WaitOptions): Promise<ReceivedFrame>;
  /** As `expect`, but also accepts that the broker closes the connection: for rules that allow either. */
  expectOrClosed(pattern: FramePattern, options?: WaitOptions): Promise<ReceivedFrame | CloseKind>;
  /** Takes the next frame that is not taken yet, whatever it is. */
  next(options?: WaitOptions): Promise<ReceivedFrame>;
  /** Sends a command, and takes its answer: the first frame with the same id that is not a Deliver, or an Error. */
  request(fields: FrameFields, options?: WaitOptions & SendOptions): Promise<ReceivedFrame>;
  /** Sends Ping and takes its Pong. Everything that the broker sent before the Pong has then arrived. */
  ping(options?: WaitOptions): Promise<ReceivedFrame>;
  /** Proves that no matching frame was sent: sends Ping, and fails if a matching frame that is not taken yet came before the Pong. */
  expectNothingBeforePong(pattern: FramePattern, what: string, clause?: string): Promise<void>;
  /** Fails if a matching frame comes within `forMs`. Use it only where a Ping cannot prove the absence. */
  expectSilence(pattern: FramePattern, forMs: number, what: string, clause?: string): Promise<void>;

  // --- commands; each fails the check if the answer is not the positive answer ---
  /** Publishes and takes PublishAck. `payload`: a text is sent unchanged (it should be JSON); undefined means no payload. */
  publish(queue: string, payload?: string | Buffer, options?: PublishOptions): Promise<ReceivedFrame>;
  subscribe(queue: string, options?: { readonly headers?: FrameFields['headers'] }): Promise<ReceivedFrame>;
  unsubscribe(queue: string): Promise<ReceivedFrame>;
  /** `options`: the queue options as on the wire; undefined sends no payload. */
  createQueue(queue: string, options?: Readonly<Record<string, unknown>>): Promise<ReceivedFrame>;
  deleteQueue(queue: string): Promise<ReceivedFrame>;
  /** The queue info, or undefined when the queue does not exist. */
  queueInfo(queue: string): Promise<Readonly<Record<string, unknown>> | undefined>;
  listQueues(): Promise<readonly string[]>;
  /** Sends an admin command with a payload; returns the payload of its answer. */
  admin(command: AdminCommandName, payload?: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** Takes the next matching Deliver; waits up to `ctx.timing.deliveryMs` unless given. */
  delivery(
    match?: { readonly queue?: string; readonly id?: string },
    options?: WaitOptions,
  ): Promise<ReceivedFrame>;
  /** Acknowledges by id, as existing clients do. `withQueue` also sends the queue. */
  ack(
    delivery: Pick<ReceivedFrame, 'id' | 'queue'>,
    options?: { readonly withQueue?: boolean },
  ): Promise<void>;
  /** Sends Disconnect; does not wait until the connection is closed. */
  disconnect(): Promise<void>;

  // --- the connection itself ---
  /** Waits until the broker has closed the connection. */
  closed(options?: WaitOptions): Promise<CloseKind>;
  /** Resets the connection (RST), without a Disconnect. */
  abort(): Promise<void>;
  /** Ends the sending side in an orderly way (FIN). */
  end(): Promise<void>;
  /** Bytes that the system has not taken yet, because the broker does not read. */
  readonly unsentBytes: number;
  /** Stops and resumes reading from the socket, as a subscriber that does not drain. */
  pauseReading(): void;
  resumeReading(): void;
}
