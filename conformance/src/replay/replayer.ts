// Sends a recorded trace again, event by event: each thing that was sent when what had come before it has come again, on as many
// connections, with pauses where the run made some. It compares what comes with what came, and stops at the first difference.
// It judges neither by any rule.
import { setTimeout as pause } from 'node:timers/promises';
import { ExpectationFailure } from '../expectation.ts';
import type { Timing } from '../timing.ts';
import type { TraceEvent } from '../trace.ts';
import { everyConnection, frameText } from '../trace.ts';
import type { TraceFile } from '../trace-file.ts';
import type { BrokerConnection } from '../wire/broker-connection.ts';
import { Command } from '../wire/command.ts';
import { encodeFrame } from '../wire/encode.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import { receivedFrame } from '../wire/received-frame.ts';
import { frameDifference } from './frame-comparison.ts';
import type { Substitution } from './substitution.ts';
import { idsIn, wholeFrames } from './substitution.ts';

export type Difference = {
  /** The number of the event, from 0. */
  readonly at: number;
  readonly connection: string;
  readonly recorded: string;
  readonly came: string;
  /** The field that differs, where both are frames. */
  readonly field?: string;
};

export type Replayed = {
  /** Undefined: everything came as it was recorded. */
  readonly difference: Difference | undefined;
  readonly sentCount: number;
  readonly receivedCount: number;
  readonly connectionCount: number;
  /** Events that cannot be repeated on a connection: HTTP exchanges. */
  readonly passedOverCount: number;
};

export type ReplayerSetting = {
  readonly file: TraceFile;
  /** From the names of the recording to those of this replay. */
  readonly substitute: Substitution;
  /** What the names of this replay begin with. */
  readonly names: string;
  readonly timing: Timing;
  readonly now: () => number;
  readonly open: (name: string) => Promise<BrokerConnection>;
};

/** Shorter gaps between recorded events are the machine's, not the run's. */
const pauseFromMs = 30;
/** What came so shortly before the end of the recording may not have come in time then. */
const marginMs = 150;
const lookGapMs = 15;

export class Replayer {
  readonly #setting: ReplayerSetting;
  readonly #connections = new Map<string, BrokerConnection>();
  readonly #ids = new Set<string>();
  readonly #closed = new Set<string>();
  #doneAt: number;
  #sentCount = 0;
  #receivedCount = 0;
  #passedOverCount = 0;
  #questionCount = 0;

  constructor(setting: ReplayerSetting) {
    this.#setting = setting;
    this.#doneAt = setting.now();
  }

  async run(): Promise<Replayed> {
    let difference: Difference | undefined;
    try {
      for (let at = 0; at < this.#events.length && difference === undefined; at += 1) {
        difference = await this.#repeat(at);
        this.#doneAt = this.#setting.now();
      }
    } finally {
      for (const connection of this.#connections.values()) connection.destroy();
    }
    return {
      difference,
      sentCount: this.#sentCount,
      receivedCount: this.#receivedCount,
      connectionCount: this.#connections.size,
      passedOverCount: this.#passedOverCount,
    };
  }

  get #events(): readonly TraceEvent[] {
    return this.#setting.file.events;
  }

  async #repeat(at: number): Promise<Difference | undefined> {
    const event = this.#events[at];
    if (event === undefined) return undefined;
    switch (event.kind) {
      case 'opened':
        await this.#open(event.connection);
        return undefined;
      case 'sent':
        return this.#send(event, at);
      case 'received':
        return this.#receive(event, at);
      case 'closed':
        if (event.connection === everyConnection) return this.#end(at);
        return event.byRunner === undefined ? this.#awaitClosing(event, at) : this.#close(event, at);
      case 'undecodable':
      case 'http':
        this.#passedOverCount += 1;
        return undefined;
    }
  }

  async #open(name: string): Promise<BrokerConnection> {
    const connection = await this.#setting.open(name);
    this.#connections.set(name, connection);
    this.#closed.delete(name);
    return connection;
  }

  /** A connection that an earlier check had opened is opened, and has shaken hands, before it is used. */
  async #connection(name: string): Promise<BrokerConnection> {
    const present = this.#connections.get(name);
    if (present !== undefined) return present;
    const connection = await this.#open(name);
    await connection.handshake(undefined);
    return connection;
  }

  async #send(event: TraceEvent, at: number): Promise<undefined> {
    const connection = await this.#connection(event.connection);
    await this.#waitAsRecorded(at);
    const bytes = this.#setting.substitute(Buffer.from(event.hex, 'hex'));
    for (const { id } of idsIn(bytes)) this.#ids.add(id);
    this.#sentCount += 1;
    await connection.sendRaw(bytes);
    return undefined;
  }

  async #receive(event: TraceEvent, at: number): Promise<Difference | undefined> {
    const connection = await this.#connection(event.connection);
    const recorded = this.#frameOf(event);
    if (recorded === undefined) return undefined;
    const came = await this.#take(connection, recorded, at);
    if (typeof came === 'string') return this.#differs(event, at, recorded, came);
    this.#receivedCount += 1;
    if (this.#isPassingLook(recorded, at)) return undefined;
    const found = frameDifference(recorded, came, this.#comparison);
    if (found === undefined) return undefined;
    const isSettled = recorded.command === Command.QueueInfo && (await this.#asksAgain(connection, recorded));
    return isSettled ? undefined : this.#differs(event, at, recorded, frameText(came), found.field);
  }

  get #comparison(): { readonly names: string; readonly ids: ReadonlySet<string> } {
    return { names: this.#setting.names, ids: this.#ids };
  }

  /** The frame that should come now; in words what is there instead. */
  async #take(
    connection: BrokerConnection,
    recorded: ReceivedFrame,
    at: number,
  ): Promise<ReceivedFrame | string> {
    const isDelivery = recorded.command === Command.Deliver;
    const isOwn = !this.#ids.has(recorded.id) || recorded.command === Command.ConnectAck;
    const fits = (frame: ReceivedFrame): boolean => {
      if (isDelivery) return frame.command === Command.Deliver && frame.queue === recorded.queue;
      if (frame.command === Command.Deliver) return false;
      return isOwn
        ? !this.#ids.has(frame.id) || recorded.command === Command.ConnectAck
        : frame.id === recorded.id;
    };
    const withinMs = this.#setting.timing.deliveryMs + this.#recordedGapMs(at);
    try {
      return await connection.take(fits, { what: 'the recorded frame', withinMs });
    } catch (error) {
      if (error instanceof ExpectationFailure) return error.actual;
      throw error;
    }
  }

  /** The same question follows: the run looked until something had changed, and this is not yet what it waited for. */
  #isPassingLook(recorded: ReceivedFrame, at: number): boolean {
    if (recorded.command !== Command.QueueInfo) return false;
    const asked = this.#events.slice(at + 1).find(({ kind }) => kind === 'sent');
    if (asked === undefined) return false;
    const [next] = idsIn(this.#setting.substitute(Buffer.from(asked.hex, 'hex')));
    return next?.command === Command.QueueInfo && next.queue === recorded.queue;
  }

  /** Looks again until the queue is as it was recorded, for as long as an answer may take. */
  async #asksAgain(connection: BrokerConnection, recorded: ReceivedFrame): Promise<boolean> {
    const until = this.#setting.now() + this.#setting.timing.answerMs;
    while (this.#setting.now() < until) {
      await pause(lookGapMs);
      this.#questionCount += 1;
      const id = `${this.#setting.names}.look-${this.#questionCount}`;
      await connection.sendRaw(encodeFrame({ command: Command.QueueInfo, id, queue: recorded.queue }));
      const answer = await connection.take((frame) => frame.id === id, { what: 'queue info' });
      const found = frameDifference({ ...recorded, id }, answer, this.#comparison);
      if (found === undefined || found.field === 'id') return true;
    }
    return false;
  }

  async #awaitClosing(event: TraceEvent, at: number): Promise<Difference | undefined> {
    const connection = this.#connections.get(event.connection);
    if (connection === undefined || this.#closed.has(event.connection)) return undefined;
    this.#closed.add(event.connection);
    try {
      const withinMs = this.#setting.timing.closeMs + this.#recordedGapMs(at);
      await connection.closed({ withinMs });
      return undefined;
    } catch (error) {
      if (!(error instanceof ExpectationFailure)) throw error;
      return { at, connection: event.connection, recorded: event.text, came: error.actual };
    }
  }

  /** The runner ended the connection: what has come on it by then and was not recorded is a difference. */
  async #close(event: TraceEvent, at: number): Promise<Difference | undefined> {
    const connection = this.#connections.get(event.connection);
    if (connection === undefined || this.#closed.has(event.connection)) return undefined;
    await this.#waitAsRecorded(at);
    const extra = this.#extra(event.connection, at);
    if (extra !== undefined) return extra;
    this.#closed.add(event.connection);
    if (event.byRunner === 'reset') await connection.abort();
    else await connection.end();
    return undefined;
  }

  /** The run waited until here, and nothing else came; so nothing else may come now. */
  async #end(at: number): Promise<Difference | undefined> {
    await this.#waitAsRecorded(at);
    const open = [...this.#connections.keys()].filter((name) => !this.#closed.has(name));
    return open.map((name) => this.#extra(name, at)).find((extra) => extra !== undefined);
  }

  #extra(name: string, at: number): Difference | undefined {
    const until = this.#doneAt + this.#recordedGapMs(at) - marginMs;
    const extra = this.#connections.get(name)?.untaken.find((frame) => frame.atMs <= until);
    return extra && { at, connection: name, recorded: 'nothing', came: frameText(extra) };
  }

  #frameOf({ hex }: TraceEvent): ReceivedFrame | undefined {
    const [raw] = wholeFrames(this.#setting.substitute(Buffer.from(hex, 'hex'))) ?? [];
    return raw === undefined ? undefined : receivedFrame(raw, 0, 0);
  }

  #recordedGapMs(at: number): number {
    return (this.#events[at]?.atMs ?? 0) - (this.#events[at - 1]?.atMs ?? this.#events[at]?.atMs ?? 0);
  }

  /** A pause that the run made is made again: it may have waited for a time to pass. */
  async #waitAsRecorded(at: number): Promise<void> {
    const gapMs = this.#recordedGapMs(at);
    const leftMs = this.#doneAt + gapMs - this.#setting.now();
    if (gapMs >= pauseFromMs && leftMs > 0) await pause(leftMs);
  }

  #differs(
    { connection }: TraceEvent,
    at: number,
    recorded: ReceivedFrame,
    came: string,
    field?: string,
  ): Difference {
    return { at, connection, recorded: frameText(recorded), came, ...(field === undefined ? {} : { field }) };
  }
}
