// Sends the bytes of a trace to a broker again: the same bytes, on as many connections, in the same order, not before the frames came that
// the trace shows before them, and with the same pauses. What comes is compared with what came then, frame by frame. It judges nothing.
// An answer is compared with the next answer that has its id, a delivery with the next delivery of its connection. A question about the
// queues is asked again for a moment, because the broker may not have carried out yet what came before it.
import { setTimeout as pause } from 'node:timers/promises';
import { openConnection } from '../engine/open-connection.ts';
import { noPacer } from '../engine/pacer.ts';
import { Evidence } from '../evidence.ts';
import { ExpectationFailure } from '../expectation.ts';
import { Interrupted, untilInterrupted } from '../interruption.ts';
import { randomFor } from '../random.ts';
import type { Endpoints } from '../target/target-file.ts';
import type { Timing } from '../timing.ts';
import type { TraceEvent } from '../trace.ts';
import { allConnections, frameText, Trace } from '../trace.ts';
import type { TraceFile } from '../trace-file.ts';
import type { BrokerConnection } from '../wire/broker-connection.ts';
import { Command } from '../wire/command.ts';
import type { Credentials } from '../wire/credentials.ts';
import { withCredentials } from '../wire/credentials.ts';
import { encodeFrame } from '../wire/encode.ts';
import type { DecodedBody, ReceivedFrame } from '../wire/frame.ts';
import { differences, framesIn, wholeFrame } from './frame-difference.ts';

export type ReplaySetting = {
  readonly trace: TraceFile;
  /** Where to connect for an event of kind `opened`. */
  readonly addressFor: (opened: TraceEvent) => Endpoints['tcp'];
  readonly timing: Timing;
  /** Added to each Connect without credentials, which traces do not show. */
  readonly credentials: Credentials;
  /** The largest frame that the broker may send. */
  readonly maxMessageSizeBytes: number;
};

/** One event of the trace, and how it went this time. */
export type ReplayedEvent = {
  readonly event: TraceEvent;
  /** What happened instead; absent if it went as in the trace. */
  readonly now?: string;
};

export type Replay = {
  readonly events: readonly ReplayedEvent[];
  /** Frames that came, and that the trace does not show. */
  readonly additional: readonly { readonly connection: string; readonly text: string }[];
  /** HTTP requests of the trace: they are not sent again. */
  readonly omittedHttpCount: number;
};

/** Plays the whole trace, then closes its connections. Rejects with Interrupted when the signal comes. */
export async function replay(setting: ReplaySetting, signal: AbortSignal): Promise<Replay> {
  const player = new Player(setting);
  try {
    return await untilInterrupted(signal, () => player.play());
  } finally {
    player.close();
  }
}

/** What may come: the frame of the trace, and others that are as good. */
type Possible = readonly [DecodedBody, ...DecodedBody[]];

/** After so many missing answers, or deliveries, no other is waited for, so that the replay of a long trace ends. */
const maxMissing = 10;

class Player {
  readonly #setting: ReplaySetting;
  readonly #connections = new Map<string, BrokerConnection>();
  /** Ids in the bytes of the client, of this trace. */
  readonly #chosenIds: ReadonlySet<string>;
  /** Ids that the broker chose then, with those that it chose now. */
  readonly #newIds = new Map<string, string>();
  readonly #startedAt = performance.now();
  #lateMs = 0;
  /** Those that were sent, by connection and id. */
  readonly #questions = new Map<string, Buffer>();
  /** How many answers stayed different from those of the trace. */
  #unlikeCount = 0;
  readonly #missing = { answers: 0, deliveries: 0 };
  #isClosed = false;

  constructor(setting: ReplaySetting) {
    this.#setting = setting;
    this.#chosenIds = idsChosenIn(setting.trace.events);
  }

  async play(): Promise<Replay> {
    const { events } = this.#setting.trace;
    const replayed: ReplayedEvent[] = [];
    for (const event of events.filter(({ kind }) => kind !== 'http')) {
      if (this.#isClosed) throw new Interrupted();
      const now = await this.#playEvent(event);
      replayed.push(now === undefined ? { event } : { event, now });
    }
    const additional = [...this.#connections].flatMap(([connection, { untaken }]) =>
      untaken.map((frame) => ({ connection, text: frameText(frame) })),
    );
    return { events: replayed, additional, omittedHttpCount: events.length - replayed.length };
  }

  /** Ends the play, if it has not ended. */
  close(): void {
    this.#isClosed = true;
    for (const connection of this.#connections.values()) connection.destroy();
  }

  /** What happened instead of the event; undefined if it went as in the trace. */
  async #playEvent(event: TraceEvent): Promise<string | undefined> {
    const { kind, byRunner } = event;
    if (kind === 'received') return this.#receive(event);
    if (kind === 'undecodable') return this.#receiveUndecodable(event);
    if (kind === 'closed' && byRunner === undefined) return this.#awaitEnd(event);
    await this.#untilDue(event);
    if (event.connection === allConnections) return undefined;
    if (kind === 'opened') return this.#open(event);
    const connection = await this.#connection(event);
    if (connection === undefined) return notConnected;
    if (kind === 'sent') return this.#send(event, connection);
    await (byRunner === 'reset' ? connection.abort() : connection.end());
    return undefined;
  }

  async #open(event: TraceEvent): Promise<string | undefined> {
    const { timing, trace, maxMessageSizeBytes, credentials } = this.#setting;
    const setting = {
      name: event.connection,
      mode: 'whole',
      random: randomFor(trace.seed, event.connection),
      timing,
      maxMessageSizeBytes,
      evidence: new Evidence(),
      trace: new Trace(),
      now: () => performance.now() - this.#startedAt,
      nextId: () => `replay-${event.connection}`,
      credentials,
    } as const;
    try {
      const connection = await openConnection(this.#setting.addressFor(event), setting, noPacer);
      this.#connections.set(event.connection, connection);
      if (this.#isClosed) connection.destroy();
      return undefined;
    } catch (error) {
      return failureText(error);
    }
  }

  /** On an attached broker a check may begin with a connection that another check has opened: the trace does not show its handshake. */
  async #connection(event: TraceEvent): Promise<BrokerConnection | undefined> {
    const open = this.#connections.get(event.connection);
    if (open !== undefined) return open;
    const { events } = this.#setting.trace;
    const isOpened = events.some(
      ({ kind, connection }) => kind === 'opened' && connection === event.connection,
    );
    if (!isOpened) await this.#openWithHandshake(event);
    return this.#connections.get(event.connection);
  }

  async #openWithHandshake(event: TraceEvent): Promise<void> {
    await this.#open({ ...event, kind: 'opened' });
    const connection = this.#connections.get(event.connection);
    // A broker that refuses it is seen at the next frame.
    await connection?.handshake({}).catch(failureText);
  }

  async #send(event: TraceEvent, connection: BrokerConnection): Promise<string | undefined> {
    if (connection.isClosed) return 'the connection is closed';
    const bytes = this.#bytesFor(event);
    await connection.sendRaw(bytes);
    const frame = wholeFrame(bytes);
    if (frame !== undefined && questions.includes(frame.command))
      this.#questions.set(questionKey(event, frame), bytes);
    return undefined;
  }

  /** The bytes of the trace, with the credentials of this broker and the ids that it chose. */
  #bytesFor({ hex }: TraceEvent): Buffer {
    const bytes = Buffer.from(hex, 'hex');
    const frame = wholeFrame(bytes);
    if (frame === undefined || frame.trailingByteCount > 0) return bytes;
    const id = this.#newIds.get(frame.id) ?? frame.id;
    const fields = withCredentials({ ...frame, id }, this.#setting.credentials);
    return id === frame.id && fields.headers === frame.headers ? bytes : encodeFrame(fields);
  }

  async #receive(event: TraceEvent): Promise<string | undefined> {
    const then = frameOf(event);
    if (then === undefined) return 'not compared: the bytes in the trace are not a frame';
    const possible: Possible = [then, ...this.#laterAnswers(event, then)];
    const wait = async (connection: BrokerConnection, withinMs: number): Promise<string | undefined> => {
      const compare = (): Promise<string | undefined> =>
        this.#compared(possible, connection, { what: event.text, withinMs }, event.redacted === true);
      const different = await compare();
      const question = this.#questions.get(questionKey(event, then));
      if (different === undefined || question === undefined) return different;
      return this.#askAgain(different, async () => {
        await connection.sendRaw(question);
        return compare();
      });
    };
    return this.#awaited(event, wait, isDelivery(then) ? 'deliveries' : 'answers');
  }

  /** Asks until the answer is that of the trace, for a while; returns what differs in the last answer. */
  async #askAgain(different: string, ask: () => Promise<string | undefined>): Promise<string | undefined> {
    const until = performance.now() + this.#setting.timing.silenceMs;
    let last: string | undefined = different;
    while (last !== undefined && performance.now() < until && this.#unlikeCount < maxMissing) {
      await pause(pollIntervalMs);
      last = await ask();
    }
    if (last !== undefined) this.#unlikeCount += 1;
    return last;
  }

  /**
   * Takes the frame that comes in the place of the first one; its differences from it, undefined if it is one of the possible. Of a frame of which
   * the trace does not have all bytes only the command is compared.
   */
  async #compared(
    possible: Possible,
    connection: BrokerConnection,
    wait: { readonly what: string; readonly withinMs: number },
    isRedacted: boolean,
  ): Promise<string | undefined> {
    const [then] = possible;
    const frame = await connection.take((candidate) => this.#isInPlaceOf(then, candidate), wait);
    if (frame.id !== then.id) this.#newIds.set(then.id, frame.id);
    if (isRedacted && frame.command === then.command) return undefined;
    const all = possible.map((one) => differences(one, frame, (id) => this.#chosenIds.has(id)));
    return all.some((differing) => differing.length === 0) ? undefined : all[0]?.join('; ');
  }

  /** What the trace answers to the same question afterwards, before anything else was sent: the broker may be faster now. */
  #laterAnswers(event: TraceEvent, then: DecodedBody): readonly DecodedBody[] {
    if (!questions.includes(then.command)) return [];
    const { events } = this.#setting.trace;
    const later: DecodedBody[] = [];
    for (const { kind, connection, hex } of events.slice(events.indexOf(event) + 1)) {
      const frame = wholeFrame(Buffer.from(hex, 'hex'));
      const isHarmless = frame !== undefined && [...questions, Command.Ping].includes(frame.command);
      if (kind === 'opened' || (kind === 'sent' && !isHarmless)) break;
      const isSameQuestion = frame?.command === then.command && frame.queue === then.queue;
      if (kind === 'received' && connection === event.connection && isSameQuestion)
        later.push({ ...frame, id: then.id });
    }
    return later;
  }

  #isInPlaceOf(then: DecodedBody, candidate: ReceivedFrame): boolean {
    if (isDelivery(then) !== isDelivery(candidate)) return false;
    return isDelivery(then) || candidate.id === then.id || !this.#chosenIds.has(then.id);
  }

  #receiveUndecodable(event: TraceEvent): Promise<string | undefined> {
    return this.#awaited(event, async (connection, withinMs) => {
      await connection
        .take(() => false, { what: event.text, withinMs })
        .catch((error: unknown) => {
          if (!failureText(error).includes(event.text)) throw error;
        });
      return undefined;
    });
  }

  #awaitEnd(event: TraceEvent): Promise<string | undefined> {
    return this.#awaited(event, async (connection, withinMs) => {
      await connection.closed({ withinMs });
      return undefined;
    });
  }

  /** Waits for what came then, until some time after the moment at which it came. */
  async #awaited(
    event: TraceEvent,
    wait: (connection: BrokerConnection, withinMs: number) => Promise<string | undefined>,
    kind: 'answers' | 'deliveries' = 'answers',
  ): Promise<string | undefined> {
    const connection = await this.#connection(event);
    if (connection === undefined) return notConnected;
    const { answerMs, silenceMs } = this.#setting.timing;
    const missing = this.#missing[kind];
    const patienceMs = missing === 0 ? answerMs : silenceMs;
    const withinMs = missing < maxMissing ? Math.ceil(Math.max(this.#msUntil(event), 0) + patienceMs) : 0;
    try {
      return await wait(connection, withinMs);
    } catch (error) {
      const text = failureText(error);
      this.#missing[kind] += 1;
      return missing < maxMissing
        ? text
        : `not there; after ${maxMissing} missing ${kind} no other is waited for`;
    } finally {
      // What follows keeps its distance from this event, so that the pauses of the check stay as long as they were.
      this.#lateMs = Math.max(this.#lateMs, this.#lateMs - this.#msUntil(event));
    }
  }

  async #untilDue(event: TraceEvent): Promise<void> {
    const ms = this.#msUntil(event);
    if (ms >= minPauseMs) await pause(ms);
  }

  /** Milliseconds until the event is due; negative if it is late. */
  #msUntil({ atMs }: TraceEvent): number {
    const firstMs = this.#setting.trace.events[0]?.atMs ?? atMs;
    return this.#startedAt + atMs - firstMs + this.#lateMs - performance.now();
  }
}

const pollIntervalMs = 20;

/** Commands that change nothing in the broker. */
const questions: readonly number[] = [Command.QueueInfo, Command.ListQueues];

function questionKey({ connection }: TraceEvent, { id }: DecodedBody): string {
  return `${connection} ${id}`;
}

/** A shorter pause is not kept: a timer is not more exact. */
const minPauseMs = 2;

const notConnected = 'there is no connection';

function frameOf({ hex }: TraceEvent): DecodedBody | undefined {
  return wholeFrame(Buffer.from(hex, 'hex'));
}

function isDelivery(frame: DecodedBody): boolean {
  return frame.command === Command.Deliver;
}

/** The ids in the frames of the client; that of an Ack only if no message with this id was delivered. */
function idsChosenIn(events: readonly TraceEvent[]): ReadonlySet<string> {
  const framesOf = (kind: TraceEvent['kind']): readonly DecodedBody[] =>
    events
      .filter((event) => event.kind === kind)
      .flatMap(({ hex }) => framesIn(Buffer.from(hex, 'hex')).frames);
  const delivered = new Set(framesOf('received').flatMap((frame) => (isDelivery(frame) ? [frame.id] : [])));
  const chosen = framesOf('sent').filter(({ command, id }) => command !== Command.Ack || !delivered.has(id));
  return new Set(chosen.map(({ id }) => id));
}

function failureText(error: unknown): string {
  if (error instanceof ExpectationFailure) return error.actual;
  throw error;
}
