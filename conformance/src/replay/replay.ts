// Sends the bytes of a trace to a broker again: the same bytes, on as many connections, in the same order, not before the frames came that
// the trace shows before them, and with the same pauses. What comes is compared with what came then, frame by frame. It judges nothing.
// An answer is compared with the next answer that has its id, a delivery with the next delivery of its connection.
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
    const { events } = this.#setting.trace;
    const isOpened = events.some(
      ({ kind, connection }) => kind === 'opened' && connection === event.connection,
    );
    if (!isOpened && !this.#connections.has(event.connection)) {
      if ((await this.#open({ ...event, kind: 'opened' })) !== undefined) return undefined;
      await this.#connections.get(event.connection)?.handshake({});
    }
    return this.#connections.get(event.connection);
  }

  async #send(event: TraceEvent, connection: BrokerConnection): Promise<string | undefined> {
    if (connection.isClosed) return 'the connection is closed';
    await connection.sendRaw(this.#bytesFor(event));
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
    const wait = async (connection: BrokerConnection, withinMs: number): Promise<string | undefined> => {
      const frame = await connection.take((candidate) => this.#isInPlaceOf(then, candidate), {
        what: event.text,
        withinMs,
      });
      if (frame.id !== then.id) this.#newIds.set(then.id, frame.id);
      const differing = differences(then, frame, (id) => this.#chosenIds.has(id));
      return differing.length === 0 ? undefined : differing.join('; ');
    };
    return this.#awaited(event, wait, isDelivery(then) ? 'deliveries' : 'answers');
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
      this.#missing[kind] += 1;
      return missing < maxMissing
        ? failureText(error)
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
