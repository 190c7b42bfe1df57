// What a check can do with one TCP connection to the broker. Only types: the connection itself is made in wire/. Every wait
// has a deadline; a wait that ends without its frame, because the time is over or the broker closed, is an
// ExpectationFailure that says what was awaited and what came instead. Areas: FRAME, BODY, CONN.

import type { CommandName } from './wire/command.ts';
import type { Algorithm } from './wire/compression.ts';
import type { FrameFields, ReceivedFrame } from './wire/frame.ts';

export type FrameMatch = {
  readonly command?: CommandName | readonly CommandName[];
  readonly id?: string;
  readonly queue?: string;
};

/** A command's name, fields that must be equal, or any test of the frame. */
export type FramePattern = CommandName | FrameMatch | ((frame: ReceivedFrame) => boolean);

export type WaitOptions = {
  /** Deadline of the wait; `ctx.timing.answerMs` unless given. */
  readonly withinMs?: number;
  /** The awaited thing in words, for the report. */
  readonly what?: string;
  /** The requirement broken when it does not come; the check's main one unless given. */
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

export type ClosedHow = 'end' | 'reset';

export interface Connection {
  /** `A`, `B`, .. in the order of opening: the name in traces. */
  readonly name: string;
  /** The handshake's answer; an expectation failure on a connection without a handshake. */
  readonly connectAck: ReceivedFrame;
  /** Every frame that has come so far, taken or not, in order. */
  readonly received: readonly ReceivedFrame[];
  readonly isClosed: boolean;

  // --- sending: chunked as --wire says. Frames sent without awaiting anything between keep their order. ---
  send(fields: FrameFields, options?: SendOptions): Promise<void>;
  /** Any bytes: half frames, wrong frames. */
  sendRaw(bytes: Buffer): Promise<void>;
  /** Several frames in one write, whatever --wire says. */
  sendTogether(frames: readonly FrameFields[]): Promise<void>;
  /** Exactly these pieces, each a write of its own. */
  sendPieces(pieces: readonly Buffer[]): Promise<void>;

  // --- receiving: each frame is taken once ---
  /** Takes the first frame not yet taken that matches; frames before it stay. Waits when there is none. */
  expect(pattern: FramePattern, options?: WaitOptions): Promise<ReceivedFrame>;
  /** As `expect`, but a closing by the broker is an answer too: where the specification allows either. */
  expectOrClosed(pattern: FramePattern, options?: WaitOptions): Promise<ReceivedFrame | ClosedHow>;
  /** Takes the very next frame not yet taken, whatever it is. */
  next(options?: WaitOptions): Promise<ReceivedFrame>;
  /** Sends, and takes the first frame with the same id that is no Deliver: the answer, or Error. */
  request(fields: FrameFields, options?: WaitOptions & SendOptions): Promise<ReceivedFrame>;
  /** Sends Ping and takes its Pong: everything that the broker sent before has then arrived. */
  ping(options?: WaitOptions): Promise<ReceivedFrame>;
  /** Proves an absence: pings, and fails when a frame that matches, not yet taken, came before the Pong. */
  expectNothingBeforePong(pattern: FramePattern, what: string, clause?: string): Promise<void>;
  /** Proves an absence by silence for `forMs`: only where no sentinel can be had. */
  expectSilence(pattern: FramePattern, forMs: number, what: string, clause?: string): Promise<void>;

  // --- commands; each fails the check when the answer is not the positive one ---
  /** Publishes and takes PublishAck. `payload`: text is sent as it is (it should be JSON), undefined is no payload. */
  publish(queue: string, payload?: string | Buffer, options?: PublishOptions): Promise<ReceivedFrame>;
  subscribe(queue: string, options?: { readonly headers?: FrameFields['headers'] }): Promise<ReceivedFrame>;
  unsubscribe(queue: string): Promise<ReceivedFrame>;
  /** `options`: the queue options as they travel; undefined sends no payload. */
  createQueue(queue: string, options?: Readonly<Record<string, unknown>>): Promise<ReceivedFrame>;
  deleteQueue(queue: string): Promise<ReceivedFrame>;
  /** The queue info, or undefined when the queue does not exist. */
  queueInfo(queue: string): Promise<Readonly<Record<string, unknown>> | undefined>;
  listQueues(): Promise<readonly string[]>;
  /** Takes the next Deliver that matches; waits `ctx.timing.deliveryMs` unless told otherwise. */
  delivery(
    match?: { readonly queue?: string; readonly id?: string },
    options?: WaitOptions,
  ): Promise<ReceivedFrame>;
  /** Acknowledges by id, as existing clients do; the queue travels along when asked for. */
  ack(
    delivery: Pick<ReceivedFrame, 'id' | 'queue'>,
    options?: { readonly withQueue?: boolean },
  ): Promise<void>;
  /** Sends Disconnect; does not wait for the closing. */
  disconnect(): Promise<void>;

  // --- the connection itself ---
  /** Waits until the broker has closed the connection. */
  closed(options?: WaitOptions): Promise<ClosedHow>;
  /** Resets the connection (RST): the broker reads no goodbye. */
  abort(): Promise<void>;
  /** Closes our side in an orderly way (FIN). */
  end(): Promise<void>;
  /** Stops and resumes reading from the socket: a subscriber that does not drain. */
  pauseReading(): void;
  resumeReading(): void;
}
