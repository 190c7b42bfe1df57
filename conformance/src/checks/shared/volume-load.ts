// Thousands of messages through many queues at a time: publishers publish in batches, and subscribers acknowledge immediately what comes,
// so that a window of one message is enough. It waits as long as anything moves, and plays fewer messages where the broker is slow. What
// happened stands in the history of the check. Areas: PUBLISH, DELIVERY.
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import type { CheckContext, History } from '../../check.ts';
import type { Connection } from '../../connection.ts';
import { PrerequisiteMissing } from '../../expectation.ts';
import type { DeliveryMode, QueueRules } from '../../history/operation.ts';
import { deliveryModes } from '../../history/operation.ts';
import { Command } from '../../wire/command.ts';
import type { FrameFields, ReceivedFrame } from '../../wire/frame.ts';
import type { LoadMessage, StreamPlan } from './load-stream.ts';
import { LoadStream } from './load-stream.ts';

/** After this time a load publishes only its minimum: a quarter, which a fault that strikes once in a thousand cannot miss. */
const budgetMs = 12_000;
const minShare = 0.25;
/** A broker that is still not done then cannot be judged. */
const maxPlayMs = 240_000;
/** A queue in which nothing moves for this time goes on with its next batch: what is lost is judged at the end. */
const stalledMs = 300;
/** After an Error RATE_LIMITED its publisher publishes nothing for this time. */
const rateLimitedMs = 1000;
const pollIntervalMs = 2;
/** How many frames are handled before other checks have their turn. */
const framesPerTurn = 100;
const priorities = ['Low', 'Normal', 'High', 'Critical'] as const;
/** Larger than any integer that a double holds exactly. */
const largeInteger = '9007199254740993';

export type VolumeLoadSetting = {
  readonly mode: DeliveryMode;
  /** A connection that neither publishes nor subscribes. */
  readonly witness: Connection;
  readonly plans: readonly StreamPlan[];
};

export class VolumeLoad {
  readonly streams: readonly LoadStream[];
  readonly #ctx: CheckContext;
  readonly #setting: VolumeLoadSetting;
  readonly #history: History;
  readonly #messages = new Map<string, LoadMessage>();
  /** How many frames of each connection have been handled. */
  readonly #handledCounts: Map<Connection, number>;
  readonly #limitedUntil = new Map<Connection, number>();
  #startedAt = 0;
  #lastActivityAt = 0;
  #deliveryCount = 0;
  /** The first delivery with other headers than were published, and the first one before a higher priority. */
  #wrongHeaders: ReceivedFrame | undefined;
  #wrongPriority: LoadMessage | undefined;
  readonly #lastPriority = new Map<LoadStream, number>();

  constructor(ctx: CheckContext, setting: VolumeLoadSetting) {
    this.#ctx = ctx;
    this.#setting = setting;
    this.#history = ctx.recordHistory();
    this.streams = setting.plans.map((plan) => new LoadStream(plan, ctx.queue(plan.name), setting.mode));
    const connections = setting.plans.flatMap(({ publisher, subscribers }) => [publisher, ...subscribers]);
    this.#handledCounts = new Map(connections.map((connection) => [connection, connection.received.length]));
  }

  get subscribers(): readonly Connection[] {
    return [...new Set(this.streams.flatMap(({ plan }) => plan.subscribers))];
  }

  /** Creates the queues, publishes everything, waits until it has come, and settles the account. */
  async play(): Promise<void> {
    const { mode, witness } = this.#setting;
    const options = { mode: deliveryModes.indexOf(mode) };
    await Promise.all(this.streams.map(({ queue }) => witness.createQueue(queue, options)));
    await this.#subscribe(this.streams.filter(({ plan }) => plan.isBacklog !== true));
    this.#startedAt = this.#ctx.now();
    this.#lastActivityAt = this.#startedAt;
    while (!(await this.#isFinished())) this.#failIfTooSlow();
    await this.#judge();
  }

  /** One round; true when there is nothing left to wait for, or nothing moves any more. */
  async #isFinished(): Promise<boolean> {
    const isPublishing = await this.#publishBatches();
    const hasActivity = await this.#handleFrames();
    if (!isPublishing && this.streams.every((stream) => stream.isAnswered)) {
      const unserved = this.streams.filter((stream) => !stream.isSubscribed);
      await this.#subscribe(unserved);
      if (unserved.length > 0) return false;
      if (this.streams.every((stream) => stream.isFinished)) return true;
    }
    if (hasActivity) return false;
    await pause(pollIntervalMs);
    const { timing } = this.#ctx;
    const quietMs = this.#ctx.now() - this.#lastActivityAt;
    if (isPublishing || quietMs < timing.silenceMs) return false;
    return quietMs >= timing.deliveryMs ? this.#isIdleAfterPings() : this.#isEmptyByCount();
  }

  /** Publishes the next batch of every stream that is ready for it; false when none has anything left to publish. */
  async #publishBatches(): Promise<boolean> {
    const now = this.#ctx.now();
    const share = now > this.#startedAt + budgetMs ? minShare : 1;
    const unfinished = this.streams.filter((stream) => stream.remainingCount(share) > 0);
    for (const stream of unfinished) {
      if (!this.#isReady(stream)) continue;
      this.#publishBatch(stream);
      await turn();
    }
    return unfinished.length > 0;
  }

  #isReady(stream: LoadStream): boolean {
    const now = this.#ctx.now();
    if (now < (this.#limitedUntil.get(stream.plan.publisher) ?? 0)) return false;
    const isReceived = stream.isAnswered && (!stream.isSubscribed || stream.isFinished);
    return isReceived || now - stream.lastActivityAt > stalledMs;
  }

  #publishBatch(stream: LoadStream): void {
    const { batch, publisher } = stream.plan;
    const size = Math.min(batch, stream.remainingCount(1));
    const frames = Array.from({ length: size }, () => this.#nextPublish(stream));
    void publisher.sendTogether(frames);
    this.#noteActivity(stream);
  }

  #nextPublish(stream: LoadStream): FrameFields {
    const [id, number] = [this.#ctx.id('v'), stream.messages.length];
    const priority = priorities[this.#ctx.random.integer(0, 3)] ?? 'Normal';
    const headers = { priority, correlationId: id, number: String(number) };
    const message: LoadMessage = { id, number, stream, headers, answer: 'none', receivers: new Set() };
    stream.messages.push(message);
    this.#messages.set(id, message);
    const payload = `[${number},${largeInteger},"${stream.plan.name}"]`;
    return { command: Command.Publish, id, queue: stream.queue, payload, headers };
  }

  async #subscribe(streams: readonly LoadStream[]): Promise<void> {
    for (const stream of streams) {
      await Promise.all(stream.plan.subscribers.map((subscriber) => subscriber.subscribe(stream.queue)));
      stream.isSubscribed = true;
      this.#noteActivity(stream);
    }
  }

  /** Takes what has come, and acknowledges what is to be; tells whether anything has come. */
  async #handleFrames(): Promise<boolean> {
    let sinceTurn = 0;
    let hasActivity = false;
    for (const [connection, handled] of this.#handledCounts) {
      const fresh = connection.received.slice(handled, handled + framesPerTurn);
      if (fresh.length === 0) continue;
      hasActivity = true;
      this.#handledCounts.set(connection, handled + fresh.length);
      const acks = fresh.flatMap((frame) => this.#handleFrame(frame, connection));
      if (acks.length > 0) void connection.sendTogether(acks);
      sinceTurn += fresh.length;
      if (sinceTurn < framesPerTurn) continue;
      sinceTurn = 0;
      await turn();
    }
    return hasActivity;
  }

  /** Returns the Ack that the frame asks for. */
  #handleFrame(frame: ReceivedFrame, connection: Connection): readonly FrameFields[] {
    const { command, id } = frame;
    const message = this.#messages.get(id);
    if (command === Command.PublishAck && message?.answer === 'none') this.#noteAnswer(message, 'confirmed');
    if (command === Command.Error) this.#noteRefusal(frame, message);
    if (command !== Command.Deliver) return [];
    this.#noteDelivery(frame, message, connection);
    return this.#setting.mode === 'FanOutWithoutAck' ? [] : [{ command: Command.Ack, id }];
  }

  #noteAnswer(message: LoadMessage, answer: 'confirmed' | 'refused'): void {
    message.answer = answer;
    message.stream.answeredCount += 1;
    this.#noteActivity(message.stream);
  }

  /** A rate limit is the only reason for which a broker may refuse this. */
  #noteRefusal({ errorCode, errorMessage }: ReceivedFrame, message: LoadMessage | undefined): void {
    if (errorCode !== 'RATE_LIMITED') {
      const actual = `Error ${errorCode} "${errorMessage}"`;
      this.#ctx.assert.fail('PublishAck comes as the answer', {
        expected: 'PublishAck',
        actual,
        clause: 'PUBLISH-001',
      });
    }
    if (message?.answer !== 'none') return;
    this.#noteAnswer(message, 'refused');
    message.stream.refusedCount += 1;
    this.#limitedUntil.set(message.stream.plan.publisher, this.#ctx.now() + rateLimitedMs);
  }

  #noteDelivery(frame: ReceivedFrame, message: LoadMessage | undefined, { name }: Connection): void {
    this.#deliveryCount += 1;
    if (message === undefined) return;
    const { stream } = message;
    if (!hasHeaders(frame, message.headers)) this.#wrongHeaders ??= frame;
    if (message.receivers.size === 0 && stream.plan.isBacklog === true) this.#notePriority(message);
    stream.received(message, name);
    this.#noteActivity(stream);
  }

  #notePriority(message: LoadMessage): void {
    const priority = priorities.indexOf(message.headers['priority'] as 'Low');
    if (priority > (this.#lastPriority.get(message.stream) ?? priority)) this.#wrongPriority ??= message;
    this.#lastPriority.set(message.stream, priority);
  }

  #noteActivity(stream: LoadStream): void {
    stream.lastActivityAt = this.#ctx.now();
    this.#lastActivityAt = stream.lastActivityAt;
  }

  /** The broker counts no message that waits where one is missing, and all that it has sent has come. */
  async #isEmptyByCount(): Promise<boolean> {
    const behind = this.streams.filter((stream) => !stream.isFinished);
    if (behind.some((stream) => !stream.isAnswered || !stream.isSharedOrSorted)) return false;
    const counts = await Promise.all(behind.map(({ queue }) => this.#messageCount(queue)));
    return counts.every((count) => count === 0) && this.#isIdleAfterPings();
  }

  async #messageCount(queue: string): Promise<unknown> {
    return (await this.#setting.witness.queueInfo(queue))?.['messageCount'];
  }

  /** Pings every connection, and tells whether nothing came before the Pongs. */
  async #isIdleAfterPings(): Promise<boolean> {
    const { lastActivityAt } = { lastActivityAt: this.#lastActivityAt };
    await Promise.all([...this.#handledCounts.keys()].map((connection) => connection.ping()));
    while (await this.#handleFrames());
    return this.#lastActivityAt === lastActivityAt;
  }

  #failIfTooSlow(): void {
    const elapsedMs = this.#ctx.now() - this.#startedAt;
    if (elapsedMs < maxPlayMs) return;
    const counts = `${this.#messages.size} messages and ${this.#deliveryCount} deliveries`;
    throw new PrerequisiteMissing(
      `the broker is too slow for this check: ${counts} in ${Math.round(elapsedMs / 1000)} s, and more to come`,
    );
  }

  async #judge(): Promise<void> {
    const { assert, note } = this.#ctx;
    await this.#isIdleAfterPings();
    const unanswered = this.streams
      .flatMap(({ messages }) => messages)
      .filter(({ answer }) => answer === 'none');
    assert.deepEqual(
      unanswered.slice(0, 3).map(({ id }) => id),
      [],
      'every Publish is answered',
      'PUBLISH-001',
    );
    const behind = this.streams.filter((stream) => !stream.isFinished);
    for (const { queue } of behind) {
      const what = 'messages that wait while their subscribers acknowledge everything';
      assert.equal(await this.#messageCount(queue), 0, what, 'DELIVERY-010');
    }
    const queues = this.streams.map(({ queue }) => queue);
    const rules: QueueRules = { mode: this.#setting.mode };
    await this.#history.settleInTurns({
      queues: Object.fromEntries(queues.map((queue) => [queue, rules])),
      drained: queues,
    });
    this.#judgeContent();
    const refused = this.streams.reduce((sum, { refusedCount }) => sum + refusedCount, 0);
    const played = `${this.#messages.size - refused} messages through ${queues.length} queues`;
    note(`${played}, ${this.#deliveryCount} deliveries on ${this.#handledCounts.size} connections`);
  }

  #judgeContent(): void {
    const { assert } = this.#ctx;
    const delivery = this.#wrongHeaders;
    const published = this.#messages.get(delivery?.id ?? '')?.headers;
    const actual = delivery && Object.fromEntries(delivery.headers);
    assert.deepEqual(actual, delivery && published, 'the headers of a delivered message', 'DELIVERY-052');
    const sorted = this.#setting.mode !== 'PriorityBased' || this.#wrongPriority === undefined;
    assert.ok(sorted, 'messages that wait are delivered in the order of their priorities', {
      actual: `${this.#wrongPriority?.id}, ${this.#wrongPriority?.headers['priority']}, came after a lower one`,
      clause: 'DELIVERY-031',
    });
  }
}

/** The header that counts deliveries is the broker's. */
function hasHeaders(frame: ReceivedFrame, published: Readonly<Record<string, string>>): boolean {
  const names = new Set([...frame.headers.map(([name]) => name), ...Object.keys(published)]);
  names.delete('deliveryAttempts');
  return [...names].every((name) => frame.header(name) === published[name]);
}
