// One TCP connection and what goes over it: bytes out as they are told, frames in as they come, each with its time, all of it in
// the trace. It knows frames but no commands; every wait has a deadline. Areas: FRAME, BODY.
import { Socket } from 'node:net';
import type { ClosedHow, SendOptions, WaitOptions } from '../connection.ts';
import type { Evidence } from '../evidence.ts';
import { ExpectationFailure } from '../expectation.ts';
import type { Random } from '../random.ts';
import type { Timing } from '../timing.ts';
import type { Trace } from '../trace.ts';
import { frameText } from '../trace.ts';
import { within } from '../within.ts';
import type { WireMode } from './chunking.ts';
import { Command, commandName } from './command.ts';
import { compressedFrame } from './compression.ts';
import { contentBytes, encodeBody, frameAround } from './encode.ts';
import type { FrameFields, ReceivedFrame } from './frame.ts';
import { headerPairs } from './frame.ts';
import { FrameReader } from './frame-reader.ts';
import type { Wait } from './inbox.ts';
import { Inbox } from './inbox.ts';
import { receivedFrame } from './received-frame.ts';
import type { Reliance } from './reliance.ts';
import { Sender } from './sender.ts';

/** Is told everything that happens on a connection, in order. */
export type WireObserver = {
  sent(connection: string, fields: FrameFields): void;
  received(connection: string, frame: ReceivedFrame): void;
  closed(connection: string, byRunner: boolean): void;
};

export type ConnectionSetting = {
  readonly name: string;
  readonly mode: WireMode;
  readonly random: Random;
  readonly timing: Timing;
  readonly maxMessageSizeBytes: number;
  readonly evidence: Evidence;
  readonly trace: Trace;
  readonly observer?: WireObserver;
  /** Knows by which requirement a delivery is due. */
  readonly reliance?: Reliance;
  readonly now: () => number;
  /** Fresh ids for the commands of this connection. */
  readonly nextId: () => string;
};

/** A connection that goes from one owner to the next. */
export type OpenStream = {
  readonly socket: Socket;
  readonly reader: FrameReader;
  /** What was sent before leaves first, in as many pieces as it takes. */
  readonly sender: Sender;
};

export class Link {
  readonly #setting: ConnectionSetting;
  #socket: Socket;
  #sender: Sender;
  readonly #reader: FrameReader;
  readonly #inbox: Inbox;
  readonly #listeners: (readonly [event: string, listener: (chunk: Buffer) => void])[] = [];
  readonly #sentIds = new Set<string>();
  readonly #closed: Promise<ClosedHow>;
  #isClosed = false;
  /** Whether a Ping can be sent and its Pong be read: the connection has shaken hands and nothing but whole frames went over it. */
  protected mayPing = false;
  #endedByRunner = false;

  /** `past`: frames that came when the connection was another one's, the first of `received`. */
  constructor(from: Socket | OpenStream, setting: ConnectionSetting, past: readonly ReceivedFrame[] = []) {
    const { socket, reader, sender } = 'reader' in from ? from : newStream(from, setting);
    this.#socket = socket;
    this.#setting = setting;
    this.#sender = sender;
    this.#reader = reader;
    this.#inbox = new Inbox(past);
    socket.setNoDelay(true);
    this.#listen('data', (chunk: Buffer) => this.#handleBytes(chunk));
    this.#closed = new Promise((resolve) => this.#watchClosing(resolve));
  }

  get setting(): ConnectionSetting {
    return this.#setting;
  }

  get name(): string {
    return this.setting.name;
  }

  get received(): readonly ReceivedFrame[] {
    return this.#inbox.received;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Frames that no wait has taken yet. */
  get untaken(): readonly ReceivedFrame[] {
    return this.#inbox.untaken;
  }

  /** What a check waits for on this connection, and by which requirement it should come; undefined while it waits for nothing. */
  get openWait(): Pick<Wait, 'what' | 'reliesOn'> | undefined {
    return this.#inbox.openWait;
  }

  /** Whether a command with this id was ever sent here. */
  hasSent(id: string): boolean {
    return this.#sentIds.has(id);
  }

  send(fields: FrameFields, options: SendOptions = {}): Promise<void> {
    const body = encodeBody(fields);
    const bytes =
      options.compress === undefined ? frameAround(body) : compressedFrame(body, options.compress);
    this.#noteSent(fields, bytes);
    return this.#sender.send(bytes);
  }

  sendRaw(bytes: Buffer): Promise<void> {
    this.mayPing = false;
    this.setting.reliance?.sentBytes(this.name, bytes);
    this.#trace('sent', `${bytes.length} raw bytes`, bytes);
    return this.#sender.send(bytes);
  }

  sendTogether(frames: readonly FrameFields[]): Promise<void> {
    const bytes = frames.map((fields) => frameAround(encodeBody(fields)));
    for (const [index, fields] of frames.entries()) this.#noteSent(fields, bytes[index] ?? Buffer.alloc(0));
    return this.#sender.sendPieces([Buffer.concat(bytes)]);
  }

  sendPieces(pieces: readonly Buffer[]): Promise<void> {
    this.mayPing = false;
    this.setting.reliance?.sentBytes(this.name, Buffer.concat(pieces));
    this.#trace('sent', `${pieces.length} pieces`, Buffer.concat(pieces));
    return this.#sender.sendPieces(pieces);
  }

  /** Takes the first frame not yet taken that matches; an ExpectationFailure at the deadline. */
  async take(
    matches: (frame: ReceivedFrame) => boolean,
    options: WaitOptions & Pick<Wait, 'what' | 'reliesOn'>,
  ): Promise<ReceivedFrame> {
    const withinMs = options.withinMs ?? this.setting.timing.answerMs;
    const { what, clause, reliesOn } = options;
    this.setting.evidence.window(withinMs);
    try {
      return await this.#inbox.take({ matches, what, withinMs, clause, reliesOn });
    } catch (error) {
      await this.#lookForLateness(withinMs);
      throw error;
    }
  }

  /** That something does not come is believed of a broker that has caught up: one that answers a Ping soon. */
  async #lookForLateness(windowMs: number): Promise<void> {
    if (this.#isClosed || !this.mayPing) return;
    const { nextId, now, evidence } = this.setting;
    const id = nextId();
    const matches = ({ command, id: of }: ReceivedFrame): boolean => command === Command.Pong && of === id;
    const startedAt = now();
    const pong = this.#inbox.take({ matches, what: 'Pong', withinMs: windowMs });
    await Promise.all([pong, this.send({ command: Command.Ping, id })])
      .then(() => evidence.answeredAfterWait(now() - startedAt, windowMs))
      // It answers nothing at all: that is a failure whatever the machine does.
      .catch(() => {});
  }

  /** As `take`, but the end of the connection is a result and no failure. */
  async takeOrClosed(
    matches: (frame: ReceivedFrame) => boolean,
    options: WaitOptions & Pick<Wait, 'what' | 'reliesOn'>,
  ): Promise<ReceivedFrame | ClosedHow> {
    try {
      return await this.take(matches, options);
    } catch (error) {
      if (this.#isClosed) return this.#closed;
      throw error;
    }
  }

  async closed(options: WaitOptions = {}): Promise<ClosedHow> {
    const withinMs = options.withinMs ?? this.setting.timing.closeMs;
    this.setting.evidence.window(withinMs);
    const how = await within(this.#closed, withinMs);
    this.setting.evidence.assertion(options.clause);
    if (how !== undefined) return how;
    throw new ExpectationFailure(options.what ?? 'the broker closes the connection', {
      expected: `closed within ${withinMs} ms`,
      actual: 'still open',
      clause: options.clause,
    });
  }

  /** Waits for `forMs`, or until the connection is closed. */
  async quiet(forMs: number): Promise<void> {
    this.setting.evidence.window(forMs);
    await within(this.#closed, forMs);
  }

  async abort(): Promise<void> {
    this.#noteEnding('reset', 'reset by the runner');
    this.#socket.resetAndDestroy();
    await this.#closed;
  }

  async end(): Promise<void> {
    this.#noteEnding('end', 'ended by the runner');
    this.#socket.end();
  }

  pauseReading(): void {
    this.mayPing = false;
    this.#socket.pause();
  }

  resumeReading(): void {
    this.#socket.resume();
  }

  /** No frame has begun and not ended: the stream can be handed to another check. */
  get isBetweenFrames(): boolean {
    return this.#reader.partial.length === 0;
  }

  /** Gives the socket away: nothing that is sent or done here afterwards reaches the broker. */
  protected release(): OpenStream {
    const stream = { socket: this.#socket, reader: this.#reader, sender: this.#sender };
    for (const [event, listener] of this.#listeners) stream.socket.off(event, listener);
    this.#socket = new Socket();
    this.#sender = new Sender({ write: () => {} }, this.#setting.mode, this.#setting.random);
    this.#inbox.end('the check had ended');
    return stream;
  }

  /** Ends the connection without ceremony; the engine does so after each check. */
  destroy(): void {
    this.#socket.destroy();
  }

  #handleBytes(chunk: Buffer): void {
    this.#reader.push(chunk);
    try {
      this.#readFrames();
    } catch (error) {
      this.#trace('undecodable', String(error), this.#reader.partial);
      this.setting.reliance?.receivedUndecodable();
      this.#inbox.end(`the broker sent bytes that are no frame: ${String(error)}`);
      this.#socket.pause();
    }
  }

  #readFrames(): void {
    for (let raw = this.#reader.next(); raw !== undefined; raw = this.#reader.next()) {
      const frame = receivedFrame(raw, this.setting.now(), this.#inbox.received.length);
      this.#trace('received', frameText(frame), raw.wireBytes);
      this.setting.evidence.count('frames');
      if (frame.command === Command.Deliver) this.setting.evidence.count('messages');
      this.#tell((observer) => observer.received(this.name, frame));
      this.#inbox.offer(frame);
    }
  }

  #listen(event: string, listener: (chunk: Buffer) => void): void {
    this.#listeners.push([event, listener]);
    this.#socket.on(event, listener);
  }

  #watchClosing(resolve: (how: ClosedHow) => void): void {
    const closed = (how: ClosedHow): void => {
      if (this.#isClosed) return;
      this.#isClosed = true;
      this.#trace('closed', how === 'end' ? 'the connection ended' : 'the connection was reset');
      if (!this.#endedByRunner) this.#tell((observer) => observer.closed(this.name, false));
      this.#inbox.end('the connection was closed');
      resolve(how);
    };
    this.#listen('end', () => closed('end'));
    this.#listen('error', () => closed('reset'));
    this.#listen('close', () => closed('end'));
  }

  #noteSent(fields: FrameFields, bytes: Buffer): void {
    this.#sentIds.add(fields.id);
    this.#tell((observer) => observer.sent(this.name, fields));
    this.setting.reliance?.sentFrame(bytes.length);
    const shown = {
      commandName: commandName(fields.command),
      id: fields.id,
      queue: fields.queue ?? '',
      headers: headerPairs(fields.headers),
      payload: contentBytes(fields.payload),
      errorCode: fields.errorCode ?? '',
      errorMessage: fields.errorMessage ?? '',
    };
    this.#trace('sent', frameText(shown), bytes);
  }

  #tell(what: (observer: WireObserver) => void): void {
    const { observer, reliance } = this.setting;
    for (const one of [observer, reliance]) if (one !== undefined) what(one);
  }

  #noteEnding(byRunner: 'end' | 'reset', text: string): void {
    const { trace, now } = this.setting;
    if (!this.#isClosed && !this.#endedByRunner) this.#tell((observer) => observer.closed(this.name, true));
    this.#endedByRunner = true;
    trace.add({ atMs: now(), connection: this.name, kind: 'closed', text, byRunner });
  }

  #trace(kind: 'sent' | 'received' | 'closed' | 'undecodable', text: string, bytes?: Buffer): void {
    this.setting.trace.add({ atMs: this.setting.now(), connection: this.name, kind, text }, bytes);
  }
}

function newStream(socket: Socket, { maxMessageSizeBytes, mode, random }: ConnectionSetting): OpenStream {
  return { socket, reader: new FrameReader(maxMessageSizeBytes), sender: new Sender(socket, mode, random) };
}
