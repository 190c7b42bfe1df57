// Watches every frame and every HTTP answer of a check for what breaks a MUST by itself, whatever the check is about and whatever the broker
// chose where the specification leaves a choice. So each check judges all its traffic, and a rule that is kept where it is tested, and broken
// elsewhere, fails the run. It reports only what is certain: where a check writes bytes of its own, it no longer knows what was asked. Areas:
// CONN, ERROR, PUBLISH, DELIVERY.
import { frameText } from '../trace.ts';
import { adminCommands, Command, commandName } from '../wire/command.ts';
import type { FrameFields, ReceivedFrame } from '../wire/frame.ts';
import type { WireObserver } from '../wire/link.ts';
import { answerBreach } from './watched-answers.ts';
import type { UntimedBreach, WatchedBreach } from './watched-breach.ts';
import { formBreach } from './watched-form.ts';
import { WatchedHandshake } from './watched-handshake.ts';
import type { HistoryBounds } from './watched-history.ts';
import { WatchedHistory } from './watched-history.ts';
import type { HttpExchange } from './watched-http.ts';
import { WatchedHttp } from './watched-http.ts';
import { WatchedMessages } from './watched-messages.ts';

type Asked = {
  readonly command: number;
  readonly queues: Set<string>;
  sentCount: number;
  positiveCount: number;
  errorCount: number;
};

/**
 * `asked`: Subscribe was sent, and SubscribeAck did not come. `leaving`: Unsubscribe was sent. `left`: it was answered, and no Subscribe was
 * sent meanwhile.
 */
type Subscription = 'asked' | 'subscribed' | 'leaving' | 'left';

class WatchedConnection {
  readonly asked = new Map<string, Asked>();
  readonly acknowledged = new Set<string>();
  readonly subscriptions = new Map<string, Subscription>();
  readonly handshake = new WatchedHandshake();

  subscribes(queue: string): void {
    const before = this.subscriptions.get(queue);
    const isFirst = before === undefined || before === 'left';
    // After an Unsubscribe that is not answered yet, what comes may be of the subscription before it.
    this.subscriptions.set(queue, isFirst || before === 'asked' ? 'asked' : 'subscribed');
  }

  subscribed(queues: Iterable<string>): void {
    for (const queue of queues)
      if (this.subscriptions.get(queue) === 'asked') this.subscriptions.set(queue, 'subscribed');
  }
}

export type WatchSetting = HistoryBounds & {
  /** Whether the broker is judged by the requirement. */
  readonly isWatched: (clause: string) => boolean;
};

export class CheckWatch implements WireObserver {
  readonly #connections = new Map<string, WatchedConnection>();
  readonly #messages = new WatchedMessages();
  readonly #http = new WatchedHttp();
  /** The queues that commands named. */
  readonly #queues = new Set<string>();
  readonly #history: WatchedHistory;
  readonly #isWatched: (clause: string) => boolean;
  readonly #now: () => number;
  /** Connections on which a check wrote bytes of its own. */
  readonly #blurred = new Set<string>();
  /** False once it is not certain which deliveries are in flight. */
  #isHistoryCertain = true;
  #first: WatchedBreach | undefined;

  /** `now`: milliseconds since the start of the run. */
  constructor(now: () => number, setting: WatchSetting) {
    this.#now = now;
    this.#history = new WatchedHistory(now, setting);
    this.#isWatched = setting.isWatched;
  }

  /** The check opened a connection; of others it is not known what was sent on them before. */
  opened(connection: string): void {
    this.#of(connection).handshake.opened();
  }

  sent(connection: string, fields: FrameFields): void {
    const { command, id, queue = '' } = fields;
    const watched = this.#of(connection);
    this.#history.sent(connection, fields);
    this.#queues.add(queue);
    if (command === Command.Ack) watched.acknowledged.add(id);
    else ask(watched, fields);
    if (command === Command.Connect) watched.handshake.connects(fields);
    if (command === Command.Subscribe) watched.subscribes(queue);
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
    this.#addFrom(frame, formBreach(frame, this.#blurred.size > 0));
    if (this.#blurred.has(connection)) return;
    const watched = this.#of(connection);
    const isPositive = positiveAnswers.has(frame.command);
    const isDelivery = frame.command === Command.Deliver;
    const isAnswer = isDelivery || (isPositive && frame.command !== Command.Pong);
    this.#addFrom(frame, watched.handshake.breach(frame, isAnswer));
    if (isDelivery) this.#delivered(watched, frame);
    else if (isPositive) this.#answered(watched, frame);
    else if (frame.command === Command.Error) this.#refused(watched, frame);
  }

  closed(connection: string, byRunner: boolean): void {
    this.#history.closed(connection, byRunner);
  }

  /** The broker was killed or started: no connection shows it. */
  note(kind: 'crashed' | 'restarted'): void {
    this.#history.note(kind);
    this.#http.restarted();
  }

  /** The health server or the dashboard has answered. */
  answered(surface: 'health' | 'dashboard', exchange: HttpExchange): void {
    const breach = this.#http.breach(surface, exchange);
    if (breach !== undefined) this.#add({ ...breach, atMs: exchange.answeredAtMs });
  }

  /** The bytes that came are no frame, which breaks this requirement by itself. */
  undecodable(clause: string, text: string): void {
    const what = 'what the broker sends are frames';
    this.#add({ clause, what, expected: 'a frame', actual: text, atMs: this.#now() });
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
    if (frame.command === asked.command) this.#addFrom(frame, answerBreach(frame, asked.queues));
    if (frame.command === Command.SubscribeAck) watched.subscribed(asked.queues);
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
    if (asked.command === Command.Connect) watched.handshake.refused();
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
    if (subscription === 'asked')
      this.#broken('CONN-033', 'SubscribeAck comes before the first delivery', frame, 'no Deliver yet');
    this.#messages.deliver(frame);
    if (this.#blurred.size > 0) return;
    const difference = this.#messages.differenceOf(frame);
    this.#addFrom(frame, difference);
    if (subscription !== undefined) return;
    const source = this.#messages.onlyQueueOf(id);
    if (source !== undefined && source !== queue && watched.subscriptions.has(source))
      this.#broken('DELIVERY-051', 'Deliver names the queue of the message', frame, `queue ${source}`);
    else if (this.#queues.has(queue)) this.#strayDelivery(watched, frame);
  }

  /** The connection has not subscribed to the queue; if to others, the delivery may be one of these under another name. */
  #strayDelivery({ subscriptions }: WatchedConnection, frame: ReceivedFrame): void {
    const names = [...subscriptions.keys()];
    if (names.length === 0)
      this.#broken('DELIVERY-069', 'deliveries go to subscribers of the queue', frame, 'no Deliver');
    else
      this.#broken('DELIVERY-051', 'Deliver names its queue', frame, `a Deliver for ${names.join(' or ')}`);
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
    this.#add({ clause, what, expected, actual: frameText(frame), atMs: frame.atMs });
  }

  #addFrom(frame: ReceivedFrame, broken: UntimedBreach | undefined): void {
    if (broken !== undefined) this.#add({ ...broken, atMs: frame.atMs });
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
