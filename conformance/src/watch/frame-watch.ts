// Watches every frame of a check for what breaks a MUST by itself, whatever the check is about and whatever the broker chose where the
// specification leaves a choice. So each check judges all its traffic, and a rule that is kept where it is tested, and broken elsewhere,
// fails the run. It reports only what is certain: where a check writes bytes of its own, it no longer knows what was asked. Areas: CONN,
// ERROR, PUBLISH, DELIVERY, QUEUE, COMPRESS.
import { frameText } from '../trace.ts';
import { adminCommands, Command, commandName } from '../wire/command.ts';
import type { FrameFields, ReceivedFrame } from '../wire/frame.ts';
import { headerPairs } from '../wire/frame.ts';
import type { WireObserver } from '../wire/link.ts';
import { answerBreach } from './watched-answers.ts';
import type { WatchedBreach } from './watched-breach.ts';
import type { HistoryBounds } from './watched-history.ts';
import { WatchedHistory } from './watched-history.ts';
import { WatchedMessages } from './watched-messages.ts';

type Asked = {
  readonly command: number;
  readonly queues: Set<string>;
  sentCount: number;
  positiveCount: number;
  errorCount: number;
};

/** `leaving`: Unsubscribe was sent. `left`: it was answered, and no Subscribe was sent meanwhile. */
type Subscription = 'subscribed' | 'leaving' | 'left';

class WatchedConnection {
  readonly asked = new Map<string, Asked>();
  readonly acknowledged = new Set<string>();
  readonly subscriptions = new Map<string, Subscription>();
  /** Whether a Connect of the connection offered an algorithm; undefined before a Connect was seen. */
  hasOffered: boolean | undefined;
}

export type WatchSetting = HistoryBounds & {
  /** Whether the broker is judged by the requirement. */
  readonly isWatched: (clause: string) => boolean;
};

export class FrameWatch implements WireObserver {
  readonly #connections = new Map<string, WatchedConnection>();
  readonly #messages = new WatchedMessages();
  readonly #history: WatchedHistory;
  readonly #isWatched: (clause: string) => boolean;
  /** Connections on which a check wrote bytes of its own. */
  readonly #blurred = new Set<string>();
  /** False once it is not certain which deliveries are in flight. */
  #isHistoryCertain = true;
  #first: WatchedBreach | undefined;

  /** `now`: milliseconds since the start of the run. */
  constructor(now: () => number, setting: WatchSetting) {
    this.#history = new WatchedHistory(now, setting);
    this.#isWatched = setting.isWatched;
  }

  sent(connection: string, fields: FrameFields): void {
    const { command, id, queue = '' } = fields;
    const watched = this.#of(connection);
    this.#history.sent(connection, fields);
    if (command === Command.Ack) watched.acknowledged.add(id);
    else ask(watched, fields);
    if (command === Command.Connect) watched.hasOffered = offersCompression(fields);
    if (command === Command.Subscribe) watched.subscriptions.set(queue, 'subscribed');
    if (command === Command.Unsubscribe && watched.subscriptions.has(queue))
      watched.subscriptions.set(queue, 'leaving');
    if (command === Command.Publish) this.#messages.publish(fields);
    // What a user has in flight may go to others when it loses a right.
    if (endingCommands.has(command)) this.#isHistoryCertain = false;
  }

  /** A check wrote bytes of its own, so it is not known what they ask for. */
  sentBytes(connection: string): void {
    this.#blurred.add(connection);
  }

  /** A connection is not read for some time, so the order of what comes is not known. */
  stoppedReading(): void {
    this.#isHistoryCertain = false;
  }

  received(connection: string, frame: ReceivedFrame): void {
    this.#history.received(connection, frame);
    if (this.#blurred.has(connection)) return;
    const watched = this.#of(connection);
    if (frame.flags !== 0 && watched.hasOffered === false)
      this.#broken('COMPRESS-004', 'no frame is compressed without an agreement', frame, 'flags 0');
    if (frame.command === Command.Deliver) this.#delivered(watched, frame);
    else if (positiveAnswers.has(frame.command)) this.#answered(watched, frame);
    else if (frame.command === Command.Error) this.#refused(watched, frame);
  }

  closed(connection: string, byRunner: boolean): void {
    this.#history.closed(connection, byRunner);
  }

  /** The broker was killed or started: no connection shows it. */
  note(kind: 'crashed' | 'restarted'): void {
    this.#history.note(kind);
  }

  /** The bytes that came are no frame, which breaks this requirement by itself. */
  undecodable(clause: string, text: string): void {
    this.#add({ clause, what: 'what the broker sends are frames', expected: 'a frame', actual: text });
  }

  /** The first MUST that the frames broke; undefined if they broke none. `delayMs`: the longest time for which the runner read nothing. */
  async breach(delayMs: number): Promise<WatchedBreach | undefined> {
    if (this.#blurred.size === 0) await this.#addAtEnd(delayMs);
    return this.#first;
  }

  #answered(watched: WatchedConnection, frame: ReceivedFrame): void {
    const asked = watched.asked.get(frame.id);
    if (asked === undefined) {
      // A broker may say so when it ends a subscription by itself.
      if (frame.command === Command.UnsubscribeAck) return;
      const clause = frame.command === Command.Pong ? 'CONN-020' : 'CONN-006';
      this.#broken(clause, 'a positive answer has the id of its command', frame, 'the id of a command');
      return;
    }
    asked.positiveCount += 1;
    this.#count(asked, frame);
    const isNaming = queueAnswers.get(frame.command) === asked.command;
    if (isNaming && !asked.queues.has(frame.queue)) {
      const expected = `queue ${[...asked.queues].join(' or ')}`;
      this.#broken('CONN-010', 'the answer names the queue of its command', frame, expected);
    }
    const breach = frame.command === asked.command ? answerBreach(frame, asked.queues) : undefined;
    if (breach !== undefined) this.#add(breach);
    if (frame.command === Command.UnsubscribeAck && watched.subscriptions.get(frame.queue) === 'leaving')
      watched.subscriptions.set(frame.queue, 'left');
    if (frame.command === Command.PublishAck) this.#messages.accept(frame.id);
  }

  #refused(watched: WatchedConnection, frame: ReceivedFrame): void {
    const asked = watched.asked.get(frame.id);
    // An Ack is not answered, but an Error may name it.
    if (asked === undefined || watched.acknowledged.has(frame.id)) return;
    asked.errorCount += 1;
    this.#count(asked, frame);
    if (asked.command === Command.Publish) this.#messages.refuse(frame);
  }

  #count({ command, sentCount, positiveCount, errorCount }: Asked, frame: ReceivedFrame): void {
    if (positiveCount + errorCount <= sentCount) return;
    const expected = `one answer to ${commandName(command)} ${frame.id}`;
    if (positiveCount > 0 && errorCount > 0)
      this.#broken('ERROR-001', 'a refused command gets no positive answer', frame, expected);
    else this.#broken('CONN-040', 'a command is answered at most once', frame, expected);
  }

  #delivered(watched: WatchedConnection, frame: ReceivedFrame): void {
    const { id, queue } = frame;
    const subscription = watched.subscriptions.get(queue);
    if (subscription === 'left')
      this.#broken('DELIVERY-061', 'nothing is delivered after UnsubscribeAck', frame, 'no Deliver');
    this.#messages.deliver(frame);
    if (this.#blurred.size > 0) return;
    const difference = this.#messages.differenceOf(frame);
    if (difference !== undefined) this.#add(difference);
    const source = subscription === undefined ? this.#messages.onlyQueueOf(id) : undefined;
    if (source !== undefined && source !== queue && watched.subscriptions.has(source))
      this.#broken('DELIVERY-051', 'Deliver names the queue of the message', frame, `queue ${source}`);
  }

  async #addAtEnd(delayMs: number): Promise<void> {
    // The Error may come after the delivery: only that both happened counts.
    const frame = this.#messages.refusedYetDelivered();
    if (frame !== undefined)
      this.#broken('PUBLISH-003', 'a refused message is not delivered', frame, `no Deliver ${frame.id}`);
    const breach = this.#isHistoryCertain ? await this.#history.breach(delayMs) : undefined;
    if (breach !== undefined) this.#add(breach);
  }

  #broken(clause: string, what: string, frame: ReceivedFrame, expected: string): void {
    this.#add({ clause, what, expected, actual: frameText(frame) });
  }

  #add(breach: WatchedBreach): void {
    if (this.#isWatched(breach.clause)) this.#first ??= breach;
  }

  #of(connection: string): WatchedConnection {
    const known = this.#connections.get(connection);
    if (known !== undefined) return known;
    const watched = new WatchedConnection();
    this.#connections.set(connection, watched);
    return watched;
  }
}

function ask(watched: WatchedConnection, { command, id, queue = '' }: FrameFields): void {
  const known = watched.asked.get(id) ?? {
    command,
    queues: new Set(),
    sentCount: 0,
    positiveCount: 0,
    errorCount: 0,
  };
  known.sentCount += 1;
  known.queues.add(queue);
  watched.asked.set(id, known);
}

function offersCompression({ headers }: FrameFields): boolean {
  return headerPairs(headers).some(([name]) => name === 'supported-compression');
}

/** They may end subscriptions on other connections. */
const endingCommands: ReadonlySet<number> = new Set([
  Command.AdminDeleteUser,
  Command.AdminChangePassword,
  Command.AdminGrantPermission,
  Command.AdminRevokePermission,
]);

/** By answer: the command whose queue it names. */
const queueAnswers: ReadonlyMap<number, number> = new Map([
  [Command.PublishAck, Command.Publish],
  [Command.SubscribeAck, Command.Subscribe],
  [Command.UnsubscribeAck, Command.Unsubscribe],
]);

/** The answers whose id is that of their command by a MUST: all but ConnectAck. */
const positiveAnswers: ReadonlySet<number> = new Set([
  ...queueAnswers.keys(),
  Command.Pong,
  Command.CreateQueue,
  Command.DeleteQueue,
  Command.QueueInfo,
  Command.ListQueues,
  ...adminCommands.map((name) => Command[name]),
]);
