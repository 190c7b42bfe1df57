// One TCP connection to the broker. Sends bytes, reads frames with their arrival times, and records both in the trace. Knows frames but
// no commands. Every wait has a deadline. Areas: FRAME, BODY.
import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { BusyTime } from '../busy-time.ts';
import type { CloseKind, SendOptions, WaitOptions } from '../connection.ts';
import type { Evidence } from '../evidence.ts';
import { ExpectationFailure } from '../expectation.ts';
import type { Random } from '../random.ts';
import type { Timing } from '../timing.ts';
import type { Trace } from '../trace.ts';
import { frameText } from '../trace.ts';
import type { CheckWatch } from '../watch/check-watch.ts';
import { within } from '../within.ts';
import type { CheckTraffic } from './check-traffic.ts';
import type { WireMode } from './chunking.ts';
import { Command, commandName } from './command.ts';
import { compressedFrame } from './compression.ts';
import type { Credentials } from './credentials.ts';
import { withCredentials } from './credentials.ts';
import { WireFault } from './decode.ts';
import { contentBytes, encodeBody, frameAround } from './encode.ts';
import type { FrameFields, ReceivedFrame } from './frame.ts';
import { headerPairs } from './frame.ts';
import { FrameReader } from './frame-reader.ts';
import type { Wait } from './inbox.ts';
import { Inbox } from './inbox.ts';
import type { LoginTurns } from './login-turns.ts';
import { receivedFrame } from './received-frame.ts';
import { Sender } from './sender.ts';

/** Receives all events of a connection, in order. */
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
  /** Determines the requirement by which a delivery must come. */
  readonly traffic?: CheckTraffic;
  /** Judges every frame of the check. */
  readonly watch?: CheckWatch;
  readonly now: () => number;
  /** Called for each received frame. */
  readonly onFrame?: () => void;
  /** Returns a new id for a command of this connection. */
  readonly nextId: () => string;
  /** Headers for each Connect that carries no credentials. Traces do not show them. */
  readonly credentials?: Credentials;
  /** For the Connects that get a password from `credentials`. */
  readonly loginTurns?: LoginTurns;
};

/** An open connection on which no frame was sent. */
export type NewStream = {
  readonly socket: Socket;
  /** The TCP connection; with TLS another socket than `socket`. */
  readonly resettable: Socket;
};

/** A connection with its state, while it moves from one Link to another. */
export type OpenStream = NewStream & {
  readonly reader: FrameReader;
  /** Still writes the frames sent before, in all their pieces, before later frames. */
  readonly sender: Sender;
};

export class Link {
  readonly #setting: ConnectionSetting;
  #socket: Socket;
  #resettable: Socket;
  #sender: Sender;
  readonly #reader: FrameReader;
  readonly #inbox: Inbox;
  readonly #listeners: (readonly [event: string, listener: (chunk: Buffer) => void])[] = [];
  readonly #sentIds = new Set<string>();
  readonly #sending = new BusyTime();
  /** The turn of the last Connect that needs one; later frames go out behind it. */
  #loginTurn: Promise<() => void> | undefined;
  readonly #closed: Promise<CloseKind>;
  #isClosed = false;
  #isUndecodable = false;
  /** True if a Ping can be sent and its Pong read: the handshake is complete and only complete frames were sent. */
  protected canPing = false;
  #endedByRunner = false;

  /** `past`: frames that an earlier owner of the connection received; `received` starts with them. */
  constructor(from: NewStream | OpenStream, setting: ConnectionSetting, past: readonly ReceivedFrame[] = []) {
    const { socket, resettable, reader, sender } = 'reader' in from ? from : openStreamOn(from, setting);
    this.#socket = socket;
    this.#resettable = resettable;
    this.#setting = setting;
    this.#sender = sender;
    this.#reader = reader;
    this.#inbox = new Inbox(past);
    if (!('reader' in from)) setting.watch?.opened(setting.name);
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

  get peerCertificate(): string | undefined {
    return this.#socket instanceof TLSSocket ? this.#socket.getPeerCertificate().fingerprint256 : undefined;
  }

  /** The frames that no wait has taken yet. */
  get untaken(): readonly ReceivedFrame[] {
    return this.#inbox.untaken;
  }

  /** The frame that the check waits for, and the requirement by which it must come; undefined while there is no wait. */
  get openWait(): Pick<Wait, 'what' | 'reliesOn'> | undefined {
    return this.#inbox.openWait;
  }

  /**
   * How long it took to send, in milliseconds. The broker does not influence it: thousands of single bytes take as long as the event loop of
   * the runner needs for as many turns.
   */
  get sendingMs(): number {
    return this.#sending.ms;
  }

  /** True if a command with this id was sent on this connection. */
  hasSent(id: string): boolean {
    return this.#sentIds.has(id);
  }

  send(fields: FrameFields, options: SendOptions = {}): Promise<void> {
    const framed = (sent: FrameFields): Buffer => {
      const body = encodeBody(sent);
      return options.compress === undefined ? frameAround(body) : compressedFrame(body, options.compress);
    };
    return this.#sendInTurn([fields], ([sent = fields]) => {
      this.#recordSent(fields, framed(fields));
      return this.#sender.send(framed(sent));
    });
  }

  sendRaw(bytes: Buffer): Promise<void> {
    this.canPing = false;
    return this.#sendInTurn([], () => {
      this.setting.traffic?.sentBytes(this.name, bytes);
      this.setting.watch?.sentBytes(this.name);
      this.#trace('sent', `${bytes.length} raw bytes`, bytes);
      return this.#sender.send(bytes);
    });
  }

  sendTogether(frames: readonly FrameFields[]): Promise<void> {
    return this.#sendInTurn(frames, (sent) => {
      for (const fields of frames) this.#recordSent(fields, frameAround(encodeBody(fields)));
      this.setting.traffic?.sentTogether();
      const bytes = Buffer.concat(sent.map((fields) => frameAround(encodeBody(fields))));
      return this.#sender.sendPieces([bytes]);
    });
  }

  sendPieces(pieces: readonly Buffer[]): Promise<void> {
    this.canPing = false;
    return this.#sendInTurn([], () => {
      this.setting.traffic?.sentBytes(this.name, Buffer.concat(pieces));
      this.setting.watch?.sentBytes(this.name);
      this.#trace('sent', `${pieces.length} pieces`, Buffer.concat(pieces));
      return this.#sender.sendPieces(pieces);
    });
  }

  /** Sends at once unless a Connect has to wait for its turn to log in. `send` gets the frames with the credentials. */
  #sendInTurn(
    frames: readonly FrameFields[],
    send: (frames: readonly FrameFields[]) => Promise<void>,
  ): Promise<void> {
    const { credentials, loginTurns } = this.setting;
    const sent = frames.map((fields) => withCredentials(fields, credentials));
    const isLogin = credentials?.authPassword !== undefined && sent.some((one, at) => one !== frames[at]);
    if (isLogin && loginTurns !== undefined) this.#loginTurn = this.#nextLoginTurn(loginTurns);
    const sending = this.#loginTurn === undefined ? send(sent) : this.#loginTurn.then(() => send(sent));
    this.#sending.begin();
    return sending.finally(() => this.#sending.end());
  }

  async #nextLoginTurn(turns: LoginTurns): Promise<() => void> {
    this.#endLoginTurn();
    const end = await turns.take();
    if (this.#isClosed) end();
    return end;
  }

  /** The Connect is answered, or will not be. */
  #endLoginTurn(): void {
    void this.#loginTurn?.then((end) => end());
  }

  /** Takes the first matching frame that is not taken yet; throws an ExpectationFailure at the deadline. */
  async take(
    matches: (frame: ReceivedFrame) => boolean,
    options: WaitOptions & Pick<Wait, 'what' | 'reliesOn'>,
  ): Promise<ReceivedFrame> {
    const withinMs = options.withinMs ?? this.setting.timing.answerMs;
    const { what, clause, reliesOn } = options;
    this.setting.evidence.addWait(withinMs);
    try {
      return await this.#inbox.take({ matches, what, withinMs, clause, reliesOn });
    } catch (error) {
      await this.#measureLateness(withinMs);
      throw error;
    }
  }

  /** Measures how soon the broker answers a Ping: only if it is fast, a missing frame proves that the broker did not send it. */
  async #measureLateness(waitMs: number): Promise<void> {
    if (this.#isClosed || !this.canPing) return;
    const { nextId, now, evidence } = this.setting;
    const id = nextId();
    const matches = (frame: ReceivedFrame): boolean => frame.command === Command.Pong && frame.id === id;
    const startedAt = now();
    const pong = this.#inbox.take({ matches, what: 'Pong', withinMs: waitMs });
    await Promise.all([pong, this.send({ command: Command.Ping, id })])
      .then(() => evidence.addPingAfterWait(now() - startedAt, waitMs))
      // Without any answer the check fails, however slow the machine is.
      .catch(() => {});
  }

  /** As `take`, but the end of the connection is a result instead of a failure. */
  async takeOrClosed(
    matches: (frame: ReceivedFrame) => boolean,
    options: WaitOptions & Pick<Wait, 'what' | 'reliesOn'>,
  ): Promise<ReceivedFrame | CloseKind> {
    try {
      return await this.take(matches, options);
    } catch (error) {
      if (this.#isClosed) return this.#closed;
      throw error;
    }
  }

  async closed(options: WaitOptions = {}): Promise<CloseKind> {
    const withinMs = options.withinMs ?? this.setting.timing.closeMs;
    this.setting.evidence.addWait(withinMs);
    const how = await within(this.#closed, withinMs);
    this.setting.evidence.addAssertion(options.clause);
    if (how !== undefined) return how;
    throw new ExpectationFailure(options.what ?? 'the broker closes the connection', {
      expected: `closed within ${withinMs} ms`,
      actual: 'still open',
      clause: options.clause,
    });
  }

  /** Waits for `forMs`, or until the connection is closed. */
  async waitInSilence(forMs: number): Promise<void> {
    this.setting.evidence.addWait(forMs);
    await within(this.#closed, forMs);
  }

  async abort(): Promise<void> {
    this.#recordEnd('reset', 'reset by the runner');
    this.#resettable.resetAndDestroy();
    await this.#closed;
  }

  async end(): Promise<void> {
    this.#recordEnd('end', 'ended by the runner');
    this.#socket.end();
  }

  get unsentBytes(): number {
    return this.#socket.writableLength;
  }

  pauseReading(): void {
    this.canPing = false;
    this.setting.watch?.stoppedReading();
    this.#socket.pause();
  }

  resumeReading(): void {
    this.#socket.resume();
  }

  /** True if no frame is partly received: then another check can use the stream. */
  get isBetweenFrames(): boolean {
    return this.#reader.partial.length === 0;
  }

  /** Detaches the socket from this object: later calls here do not reach the broker. */
  protected releaseStream(): OpenStream {
    const [socket, resettable, reader, sender] = [this.#socket, this.#resettable, this.#reader, this.#sender];
    const stream = { socket, resettable, reader, sender };
    for (const [event, listener] of this.#listeners) stream.socket.off(event, listener);
    this.#socket = new Socket();
    this.#resettable = this.#socket;
    this.#sender = new Sender({ write: () => {} }, this.#setting.mode, this.#setting.random);
    this.#inbox.end('the check had ended');
    return stream;
  }

  /** Destroys the socket; the engine does so after each check. */
  destroy(): void {
    this.#socket.destroy();
  }

  #handleBytes(chunk: Buffer): void {
    if (this.#isUndecodable) return;
    this.#reader.push(chunk);
    try {
      this.#readFrames();
    } catch (error) {
      const broken = error instanceof WireFault ? error.broken : undefined;
      if (broken !== undefined) this.setting.watch?.undecodable(broken, String(error));
      this.#trace('undecodable', String(error), this.#reader.partial);
      this.setting.traffic?.receivedUndecodable();
      this.#inbox.end(`the broker sent bytes that are not a frame: ${String(error)}`, broken);
      // What follows cannot be read, but the end of the connection can be seen.
      this.#isUndecodable = true;
    }
  }

  #readFrames(): void {
    for (let raw = this.#reader.next(); raw !== undefined; raw = this.#reader.next()) {
      const frame = receivedFrame(raw, this.setting.now(), this.#inbox.received.length);
      this.#trace('received', frameText(frame), raw.wireBytes);
      this.setting.onFrame?.();
      this.#endLoginTurn();
      this.setting.evidence.count('frames');
      if (frame.command === Command.Deliver) this.setting.evidence.count('messages');
      this.#notify((observer) => observer.received(this.name, frame));
      this.#inbox.add(frame);
    }
  }

  #listen(event: string, listener: (chunk: Buffer) => void): void {
    this.#listeners.push([event, listener]);
    this.#socket.on(event, listener);
  }

  #watchClosing(resolve: (how: CloseKind) => void): void {
    const closed = (how: CloseKind): void => {
      if (this.#isClosed) return;
      this.#isClosed = true;
      this.#endLoginTurn();
      this.#trace('closed', how === 'end' ? 'the connection ended' : 'the connection was reset');
      if (!this.#endedByRunner) this.#notify((observer) => observer.closed(this.name, false));
      this.#inbox.end('the connection was closed');
      resolve(how);
    };
    this.#listen('end', () => closed('end'));
    this.#listen('error', () => closed('reset'));
    this.#listen('close', () => closed('end'));
  }

  #recordSent(fields: FrameFields, bytes: Buffer): void {
    this.#sentIds.add(fields.id);
    this.#notify((observer) => observer.sent(this.name, fields));
    this.setting.traffic?.sentFrame(bytes.length);
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

  #notify(call: (observer: WireObserver) => void): void {
    const { observer, traffic, watch } = this.setting;
    for (const one of [observer, traffic, watch]) if (one !== undefined) call(one);
  }

  #recordEnd(byRunner: 'end' | 'reset', text: string): void {
    const { trace, now } = this.setting;
    if (!this.#isClosed && !this.#endedByRunner) this.#notify((observer) => observer.closed(this.name, true));
    this.#endedByRunner = true;
    trace.add({ atMs: now(), connection: this.name, kind: 'closed', text, byRunner });
  }

  #trace(kind: 'sent' | 'received' | 'closed' | 'undecodable', text: string, bytes?: Buffer): void {
    this.setting.trace.add({ atMs: this.setting.now(), connection: this.name, kind, text }, bytes);
  }
}

function openStreamOn(stream: NewStream, setting: ConnectionSetting): OpenStream {
  const { maxMessageSizeBytes, mode, random } = setting;
  const sender = new Sender(stream.socket, mode, random);
  return { ...stream, reader: new FrameReader(maxMessageSizeBytes), sender };
}
