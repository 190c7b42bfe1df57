// One TCP connection to the broker: the Connection that checks work with. It sends what it is told, right or wrong, reads what
// comes, writes both into the trace, and turns every wait into a deadline. Areas: FRAME, BODY, CONN.
import type { Socket } from 'node:net';
import type {
  ClosedHow,
  Connection,
  FramePattern,
  PublishOptions,
  SendOptions,
  WaitOptions,
} from '../connection.ts';
import type { Evidence } from '../evidence.ts';
import { display, ExpectationFailure } from '../expectation.ts';
import type { Random } from '../random.ts';
import type { Timing } from '../timing.ts';
import type { Trace } from '../trace.ts';
import { frameText } from '../trace.ts';
import type { WireMode } from './chunking.ts';
import { Command, commandName } from './command.ts';
import { compressedFrame } from './compression.ts';
import { encodeBody, frameAround } from './encode.ts';
import type { FrameFields, ReceivedFrame } from './frame.ts';
import { headerPairs } from './frame.ts';
import { FrameReader } from './frame-reader.ts';
import { Inbox, patternMatches, patternText } from './inbox.ts';
import { receivedFrame } from './received-frame.ts';
import { Sender } from './sender.ts';

export type ConnectionSetting = {
  readonly name: string;
  readonly mode: WireMode;
  readonly random: Random;
  readonly timing: Timing;
  readonly maxMessageSizeBytes: number;
  readonly evidence: Evidence;
  readonly trace: Trace;
  readonly now: () => number;
  /** Fresh ids for the commands of this connection. */
  readonly nextId: () => string;
};

export class BrokerConnection implements Connection {
  readonly #socket: Socket;
  readonly #setting: ConnectionSetting;
  readonly #sender: Sender;
  readonly #reader: FrameReader;
  readonly #inbox = new Inbox();
  readonly #sentIds = new Set<string>();
  readonly #closed: Promise<ClosedHow>;
  #isClosed = false;
  #connectAck: ReceivedFrame | undefined;

  constructor(socket: Socket, setting: ConnectionSetting) {
    this.#socket = socket;
    this.#setting = setting;
    this.#sender = new Sender(socket, setting.mode, setting.random);
    this.#reader = new FrameReader(setting.maxMessageSizeBytes);
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#handleBytes(chunk));
    this.#closed = new Promise((resolve) => this.#watchClosing(resolve));
  }

  get name(): string {
    return this.#setting.name;
  }

  get connectAck(): ReceivedFrame {
    if (this.#connectAck !== undefined) return this.#connectAck;
    throw new ExpectationFailure('this connection has shaken hands', {
      expected: 'ConnectAck',
      actual: 'none',
    });
  }

  get received(): readonly ReceivedFrame[] {
    return this.#inbox.received;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Sends Connect and takes the next frame, whatever its id, as existing clients do. */
  async handshake(headers: FrameFields['headers']): Promise<void> {
    await this.send({ command: Command.Connect, id: this.#setting.nextId(), ...withHeaders(headers) });
    const answer = await this.#take(() => true, { what: 'ConnectAck' });
    if (answer.command !== Command.ConnectAck) throw unexpected('ConnectAck', answer);
    this.#connectAck = answer;
  }

  send(fields: FrameFields, options: SendOptions = {}): Promise<void> {
    const body = encodeBody(fields);
    const bytes =
      options.compress === undefined ? frameAround(body) : compressedFrame(body, options.compress);
    this.#noteSent(fields, bytes);
    return this.#sender.send(bytes);
  }

  sendRaw(bytes: Buffer): Promise<void> {
    this.#trace('sent', `${bytes.length} raw bytes`, bytes);
    return this.#sender.send(bytes);
  }

  sendTogether(frames: readonly FrameFields[]): Promise<void> {
    const bytes = frames.map((fields) => frameAround(encodeBody(fields)));
    for (const [index, fields] of frames.entries()) this.#noteSent(fields, bytes[index] ?? Buffer.alloc(0));
    return this.#sender.sendPieces([Buffer.concat(bytes)]);
  }

  sendPieces(pieces: readonly Buffer[]): Promise<void> {
    this.#trace('sent', `${pieces.length} pieces`, Buffer.concat(pieces));
    return this.#sender.sendPieces(pieces);
  }

  async expect(pattern: FramePattern, options: WaitOptions = {}): Promise<ReceivedFrame> {
    const what = options.what ?? patternText(pattern);
    const frame = await this.#take((candidate) => patternMatches(pattern, candidate), { ...options, what });
    this.#setting.evidence.count('assertions');
    return frame;
  }

  next(options: WaitOptions = {}): Promise<ReceivedFrame> {
    return this.#take(() => true, { what: 'a frame', ...options });
  }

  /** An Error with an id that this connection never sent is the oldest waiting request's: only SHOULD it carry the id. */
  async request(fields: FrameFields, options: WaitOptions & SendOptions = {}): Promise<ReceivedFrame> {
    const what = `the answer to ${commandName(fields.command)} ${fields.id}`;
    const isAnswer = (frame: ReceivedFrame): boolean =>
      frame.command === Command.Error
        ? frame.id === fields.id || !this.#sentIds.has(frame.id)
        : frame.id === fields.id && frame.command !== Command.Deliver;
    await this.send(fields, options);
    return this.#take(isAnswer, { what, ...options });
  }

  async ping(options: WaitOptions = {}): Promise<ReceivedFrame> {
    const id = this.#setting.nextId();
    await this.send({ command: Command.Ping, id });
    return this.#take((frame) => frame.command === Command.Pong && frame.id === id, {
      what: 'Pong',
      ...options,
    });
  }

  async expectNothingBeforePong(pattern: FramePattern, what: string, clause?: string): Promise<void> {
    const pong = await this.ping();
    const before = this.#inbox.untaken.filter((frame) => frame.sequence < pong.sequence);
    this.#refuse(before, pattern, what, clause);
  }

  async expectSilence(pattern: FramePattern, forMs: number, what: string, clause?: string): Promise<void> {
    this.#setting.evidence.window(forMs);
    await Promise.race([this.#closed, new Promise((resolve) => setTimeout(resolve, forMs))]);
    this.#refuse(this.#inbox.untaken, pattern, what, clause);
  }

  publish(queue: string, payload?: string | Buffer, options: PublishOptions = {}): Promise<ReceivedFrame> {
    const id = options.id ?? this.#setting.nextId();
    const content = payload === undefined ? {} : { payload };
    return this.#command(
      { command: Command.Publish, id, queue, ...content, ...withHeaders(options.headers) },
      options,
    );
  }

  subscribe(
    queue: string,
    options: { readonly headers?: FrameFields['headers'] } = {},
  ): Promise<ReceivedFrame> {
    return this.#command({ ...this.#fields('Subscribe', queue), ...withHeaders(options.headers) });
  }

  unsubscribe(queue: string): Promise<ReceivedFrame> {
    return this.#command(this.#fields('Unsubscribe', queue));
  }

  createQueue(queue: string, options?: Readonly<Record<string, unknown>>): Promise<ReceivedFrame> {
    const content = options === undefined ? {} : { payload: JSON.stringify(options) };
    return this.#command({ ...this.#fields('CreateQueue', queue), ...content });
  }

  deleteQueue(queue: string): Promise<ReceivedFrame> {
    return this.#command(this.#fields('DeleteQueue', queue));
  }

  async queueInfo(queue: string): Promise<Readonly<Record<string, unknown>> | undefined> {
    const info = (await this.#command(this.#fields('QueueInfo', queue))).json();
    if (info === undefined || isRecord(info)) return info;
    throw new ExpectationFailure('queue info is an object', {
      expected: 'a JSON object',
      actual: display(info),
    });
  }

  async listQueues(): Promise<readonly string[]> {
    const names = (await this.#command(this.#fields('ListQueues', ''))).json();
    if (Array.isArray(names) && names.every((name): name is string => typeof name === 'string')) return names;
    throw new ExpectationFailure('ListQueues answers names', {
      expected: 'a JSON array of texts',
      actual: display(names),
    });
  }

  delivery(
    match: { readonly queue?: string; readonly id?: string } = {},
    options: WaitOptions = {},
  ): Promise<ReceivedFrame> {
    return this.expect(
      { command: 'Deliver', ...match },
      { withinMs: this.#setting.timing.deliveryMs, ...options },
    );
  }

  ack(
    delivery: Pick<ReceivedFrame, 'id' | 'queue'>,
    options: { readonly withQueue?: boolean } = {},
  ): Promise<void> {
    const queue = options.withQueue === true ? { queue: delivery.queue } : {};
    return this.send({ command: Command.Ack, id: delivery.id, ...queue });
  }

  disconnect(): Promise<void> {
    return this.send({ command: Command.Disconnect, id: this.#setting.nextId() });
  }

  async closed(options: WaitOptions = {}): Promise<ClosedHow> {
    const withinMs = options.withinMs ?? this.#setting.timing.closeMs;
    this.#setting.evidence.window(withinMs);
    const how = await within(this.#closed, withinMs);
    this.#setting.evidence.count('assertions');
    if (how !== undefined) return how;
    throw new ExpectationFailure(options.what ?? 'the broker closes the connection', {
      expected: `closed within ${withinMs} ms`,
      actual: 'still open',
      clause: options.clause,
    });
  }

  async abort(): Promise<void> {
    this.#trace('closed', 'reset by the runner');
    this.#socket.resetAndDestroy();
    await this.#closed;
  }

  async end(): Promise<void> {
    this.#trace('closed', 'ended by the runner');
    this.#socket.end();
  }

  pauseReading(): void {
    this.#socket.pause();
  }

  resumeReading(): void {
    this.#socket.resume();
  }

  /** Ends the connection without ceremony; the engine does so after each check. */
  destroy(): void {
    this.#socket.destroy();
  }

  async #command(fields: FrameFields, options: SendOptions = {}): Promise<ReceivedFrame> {
    const answer = await this.request(fields, options);
    const wanted = positiveAnswers.get(fields.command);
    if (answer.command === wanted) return answer;
    throw unexpected(commandName(wanted ?? fields.command), answer);
  }

  #fields(
    command: 'Subscribe' | 'Unsubscribe' | 'CreateQueue' | 'DeleteQueue' | 'QueueInfo' | 'ListQueues',
    queue: string,
  ): FrameFields {
    return { command: Command[command], id: this.#setting.nextId(), queue };
  }

  #take(
    matches: (frame: ReceivedFrame) => boolean,
    options: WaitOptions & { what: string },
  ): Promise<ReceivedFrame> {
    const withinMs = options.withinMs ?? this.#setting.timing.answerMs;
    this.#setting.evidence.window(withinMs);
    return this.#inbox.take({ matches, what: options.what, withinMs, clause: options.clause });
  }

  #refuse(
    frames: readonly ReceivedFrame[],
    pattern: FramePattern,
    what: string,
    clause: string | undefined,
  ): void {
    this.#setting.evidence.count('assertions');
    const found = frames.find((frame) => patternMatches(pattern, frame));
    if (found === undefined) return;
    throw new ExpectationFailure(what, {
      expected: `no ${patternText(pattern)}`,
      actual: frameText(found),
      clause,
    });
  }

  #handleBytes(chunk: Buffer): void {
    this.#reader.push(chunk);
    try {
      this.#readFrames();
    } catch (error) {
      this.#trace('undecodable', String(error), this.#reader.partial);
      this.#inbox.end(`the broker sent bytes that are no frame: ${String(error)}`);
      this.#socket.pause();
    }
  }

  #readFrames(): void {
    for (let raw = this.#reader.next(); raw !== undefined; raw = this.#reader.next()) {
      const frame = receivedFrame(raw, this.#setting.now(), this.#inbox.received.length);
      this.#trace('received', frameText(frame), raw.wireBytes);
      this.#setting.evidence.count('frames');
      if (frame.command === Command.Deliver) this.#setting.evidence.count('messages');
      this.#inbox.offer(frame);
    }
  }

  #watchClosing(resolve: (how: ClosedHow) => void): void {
    const closed = (how: ClosedHow): void => {
      if (this.#isClosed) return;
      this.#isClosed = true;
      this.#trace('closed', how === 'end' ? 'the connection ended' : 'the connection was reset');
      this.#inbox.end('the connection was closed');
      resolve(how);
    };
    this.#socket.on('end', () => closed('end'));
    this.#socket.on('error', () => closed('reset'));
    this.#socket.on('close', () => closed('end'));
  }

  #noteSent(fields: FrameFields, bytes: Buffer): void {
    this.#sentIds.add(fields.id);
    const shown = {
      commandName: commandName(fields.command),
      id: fields.id,
      queue: fields.queue ?? '',
      headers: headerPairs(fields.headers),
      payload: Buffer.from(fields.payload ?? ''),
      errorCode: fields.errorCode ?? '',
      errorMessage: fields.errorMessage ?? '',
    };
    this.#trace('sent', frameText(shown), bytes);
  }

  #trace(kind: 'sent' | 'received' | 'closed' | 'undecodable', text: string, bytes?: Buffer): void {
    this.#setting.trace.add({ atMs: this.#setting.now(), connection: this.name, kind, text }, bytes);
  }
}

const positiveAnswers: ReadonlyMap<number, number> = new Map([
  [Command.Publish, Command.PublishAck],
  [Command.Subscribe, Command.SubscribeAck],
  [Command.Unsubscribe, Command.UnsubscribeAck],
  [Command.CreateQueue, Command.CreateQueue],
  [Command.DeleteQueue, Command.DeleteQueue],
  [Command.QueueInfo, Command.QueueInfo],
  [Command.ListQueues, Command.ListQueues],
]);

function unexpected(wanted: string, answer: ReceivedFrame): ExpectationFailure {
  return new ExpectationFailure(`${wanted} comes as the answer`, {
    expected: wanted,
    actual: frameText(answer),
  });
}

function withHeaders(headers: FrameFields['headers']): Pick<FrameFields, 'headers'> {
  return headers === undefined ? {} : { headers };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([promise, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
