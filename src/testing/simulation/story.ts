// A hand-made history, for tests of the checkers: observations of a broker, in short calls. Nothing is checked here; most stories are
// impossible.

import { emptyStats } from '../../broker/interface/stats.ts';
import type { QueueInfo } from '../../model/queue-info.ts';
import { defaultQueueOptions, type QueueOptions } from '../../model/queue-options.ts';
import { Command } from '../../protocol/command.ts';
import { HeaderName } from '../../protocol/header-name.ts';
import type { MessageFields } from '../../protocol/message.ts';
import { testSettings } from '../broker-harness.ts';
import { Checkers } from './checkers.ts';
import type { Figures, LifeEnd, SentCommand } from './history.ts';

export const ACK_TIMEOUT_MS = 1000;
export const RETRY_DELAY_MS = 100;
export const SHUTDOWN_MS = 500;
const WALL_START = Date.UTC(2026, 0, 1);

export class Story {
  readonly #checkers: Checkers;
  readonly #queues = new Map<
    string,
    { options: QueueOptions; messageCount: number; subscriberCount: number }
  >();
  #figures: Figures = { ...emptyStats(), errorsCount: 0 };
  #connectionCount = 0;
  #at = 0;

  constructor(maxRetryDelayMs: number) {
    const delays = { ackTimeoutMs: ACK_TIMEOUT_MS, retryDelayMs: RETRY_DELAY_MS, maxRetryDelayMs };
    this.#checkers = new Checkers({
      settings: { ...testSettings, ...delays },
      shutdownTimeoutMs: SHUTDOWN_MS,
      slackMs: 20,
      framesMayLag: false,
    });
  }

  get complaints(): readonly string[] {
    return [...this.#checkers.complaints];
  }

  /** Connections 1 to `count`, and one batch in which queue `q` comes to be. */
  static begin(count: number, options: Partial<QueueOptions> = {}, maxRetryDelayMs = 400): Story {
    const story = new Story(maxRetryDelayMs);
    for (let number = 1; number <= count; number += 1) story.open();
    story.queue('q', options).batch();
    return story;
  }

  open(isSilent = false): this {
    this.#connectionCount += 1;
    this.#checkers.observe({ kind: 'opened', connection: this.#connectionCount, isSilent });
    return this;
  }

  /** There is such a queue from the next batch on. */
  queue(name: string, options: Partial<QueueOptions> = {}): this {
    this.#queues.set(name, {
      options: { ...defaultQueueOptions, ...options },
      messageCount: 0,
      subscriberCount: 0,
    });
    return this;
  }

  waiting(messageCount: number, name = 'q'): this {
    const queue = this.#queues.get(name);
    if (queue !== undefined) this.#queues.set(name, { ...queue, messageCount });
    return this;
  }

  subscribers(subscriberCount: number, name = 'q'): this {
    const queue = this.#queues.get(name);
    if (queue !== undefined) this.#queues.set(name, { ...queue, subscriberCount });
    return this;
  }

  figures(figures: Partial<Figures>): this {
    this.#figures = { ...this.#figures, ...figures };
    return this;
  }

  pass(durationMs: number): this {
    this.#at += durationMs;
    return this;
  }

  command(connection: number, command: number, id: string, more: Partial<SentCommand> = {}): this {
    this.#checkers.observe({
      kind: 'command',
      connection,
      command: { command, id, queue: '', ...more },
      at: this.#at,
    });
    return this;
  }

  publish(connection: number, id: string, number: number, priority = 1, queue = 'q'): this {
    const headers = new Map([['number', String(number)]]);
    const published = { number, priority, payload: Buffer.from('{}'), headers };
    return this.command(connection, Command.Publish, id, { queue, published });
  }

  ack(connection: number, id: string, failureReason?: 'HandlerException' | 'DeserializationError'): this {
    const more = failureReason === undefined ? {} : { failureReason };
    return this.command(connection, Command.Ack, id, { queue: 'q', ...more });
  }

  /** Everything that was handed over before is stepped now; of the connection `inDoubt` this is not certain. */
  batch(inDoubt?: number): this {
    this.#checkers.observe({ kind: 'batchBegan', at: this.#at, wallAt: WALL_START + this.#at });
    for (let number = 1; number <= this.#connectionCount; number += 1) {
      if (number !== inDoubt) this.#checkers.observe({ kind: 'taken', connection: number });
    }
    this.#checkers.observe({ kind: 'batchStepped', figures: this.#figures, queues: this.#infos() });
    return this;
  }

  /** So many batches: the acks are checked after every eighth. */
  batches(count: number): this {
    for (let left = count; left > 0; left -= 1) this.batch();
    return this;
  }

  #infos(): ReadonlyMap<string, QueueInfo> {
    return new Map([...this.#queues].map(([name, queue]) => [name, { name, createdWallAt: 0, ...queue }]));
  }

  frame(connection: number, fields: MessageFields): this {
    const message = {
      version: 1,
      queue: '',
      payload: Buffer.alloc(0),
      headers: new Map<string, string>(),
      errorCode: '',
      errorMessage: '',
      endAt: 0,
      ...fields,
    };
    this.#checkers.observe({ kind: 'frame', connection, message, sinceEpoch: this.#checkers.ledger.epoch });
    return this;
  }

  answer(connection: number, command: number, id: string, errorCode?: string): this {
    const error = errorCode === undefined ? {} : { errorCode };
    return this.frame(connection, {
      command: errorCode === undefined ? command : Command.Error,
      id,
      ...error,
    });
  }

  /** A Deliver of what `publish` published under that number. */
  deliver(
    connection: number,
    id: string,
    number: number,
    headers: Readonly<Record<string, string>> = {},
    queue = 'q',
  ): this {
    return this.frame(connection, {
      command: Command.Deliver,
      id,
      queue,
      payload: Buffer.from('{}'),
      headers: new Map([['number', String(number)], ...Object.entries(headers)]),
    });
  }

  /** The headers of a dead letter that was made now. */
  letter(reason: string, attempts: number): Readonly<Record<string, string>> {
    return {
      [HeaderName.DeadLetterReason]: reason,
      [HeaderName.DeadLetterSource]: 'q',
      [HeaderName.DeadLetterAttempts]: String(attempts),
      [HeaderName.DeadLetteredAt]: new Date(WALL_START + this.#at).toISOString(),
    };
  }

  /** Subscribes and gets the answer, in a separate batch. */
  subscribe(connection: number, maxInFlight?: number, queue = 'q'): this {
    const id = `s${connection}${queue}`;
    const more = maxInFlight === undefined ? { queue } : { queue, maxInFlight };
    return this.command(connection, Command.Subscribe, id, more)
      .batch()
      .answer(connection, Command.SubscribeAck, id);
  }

  /** Publishes and gets the answer, in a separate batch. */
  accepted(connection: number, id: string, number: number, priority = 1): this {
    return this.publish(connection, id, number, priority).batch().answer(connection, Command.PublishAck, id);
  }

  idle(...restful: readonly number[]): this {
    this.#checkers.observe({ kind: 'idle', at: this.#at, figures: this.#figures, restful: new Set(restful) });
    return this;
  }

  observe(kind: 'clientGone' | 'brokerEnded', connection: number): this {
    this.#checkers.observe({ kind, connection });
    return this;
  }

  congest(connection: number, isCongested = true): this {
    this.#checkers.observe({ kind: 'congestion', connection, isCongested });
    return this;
  }

  drain(): this {
    this.#checkers.observe({ kind: 'draining', at: this.#at });
    return this;
  }

  /** There are no observations of a process after its end. */
  lifeEnds(how: LifeEnd): this {
    this.#checkers.observe({ kind: 'lifeEnded', how, at: this.#at });
    for (let number = 1; number <= this.#connectionCount && how !== 'storeFailed'; number += 1)
      this.observe('brokerEnded', number);
    return this;
  }

  /** The next life takes clients, with the queues as they are told now. */
  serves(): this {
    const figures = { ...emptyStats(), errorsCount: 0 };
    this.#figures = figures;
    this.#checkers.observe({ kind: 'serving', at: this.#at, figures, queues: this.#infos() });
    return this;
  }

  noQueue(name: string): this {
    this.#queues.delete(name);
    return this;
  }

  ended(): this {
    this.#checkers.observe({ kind: 'ended', at: this.#at });
    return this;
  }

  finished(): this {
    this.#checkers.observe({ kind: 'finished' });
    return this;
  }
}
