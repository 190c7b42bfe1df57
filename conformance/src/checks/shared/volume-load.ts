// Sends thousands of messages through many queues: publishers publish in batches, and subscribers acknowledge each delivery immediately,
// so that a window of one message is enough. It waits while there is progress and publishes fewer messages when the broker is slow. The
// history of the check records what happened. Areas: PUBLISH, DELIVERY.
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import type { CheckContext, History } from '../../check.ts';
import type { Connection } from '../../connection.ts';
import { PrerequisiteMissing } from '../../expectation.ts';
import type { DeliveryMode, QueueRules } from '../../history/operation.ts';
import { deliveryModes } from '../../history/operation.ts';
import { Command } from '../../wire/command.ts';
import type { FrameFields, ReceivedFrame } from '../../wire/frame.ts';
import { LoadPace } from './load-pace.ts';
import type { LoadMessage, StreamPlan } from './load-stream.ts';
import { LoadStream } from './load-stream.ts';

/**
 * A load of at least `largeCount` messages is shortened after this time: it publishes only `minShare` of them, which still shows a fault of one message
 * in a thousand. If each of its first Pings takes longer than `slowPingMs`, it is shortened from the beginning: a broker that sends one message at a
 * time would take minutes for all of them.
 */
const budgetMs = 12_000;
const [slowPingMs, firstPingCount] = [150, 3];
const [largeCount, minShare] = [5000, 0.25];
/** After this time the check ends without a verdict: the broker is too slow. */
const maxRunMs = 240_000;
/**
 * A queue without progress continues with its next batch after this time, or after so many round trips to its publisher if they take longer. Lost
 * messages are judged at the end.
 */
const [stalledMs, stalledRoundTrips] = [300, 2];
/** After an Error RATE_LIMITED its publisher publishes nothing for this time. */
const rateLimitedMs = 1000;
const pollIntervalMs = 2;
/** To the queues of so many streams it subscribes at the same time. */
const streamsAtATime = 4;
/** Number of frames that are handled before other checks continue. */
const framesPerTurn = 100;
const priorities = ['Low', 'Normal', 'High', 'Critical'] as const;
/** An integer that a double cannot represent exactly. */
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
  /** Number of handled frames of each connection. */
  readonly #handledCounts: Map<Connection, number>;
  readonly #limitedUntil = new Map<Connection, number>();
  readonly #pace: LoadPace<Connection>;
  readonly #isLarge: boolean;
  #isShortened = false;
  #startedAt = 0;
  #lastActivityAt = 0;
  #deliveryCount = 0;
  /** The first delivery with wrong headers, and the first message that was delivered after one of a lower priority. */
  #wrongHeaders: ReceivedFrame | undefined;
  #wrongPriority: LoadMessage | undefined;
  #answeredTwice: LoadMessage | undefined;
  readonly #lastPriority = new Map<LoadStream, number>();

  constructor(ctx: CheckContext, setting: VolumeLoadSetting) {
    this.#ctx = ctx;
    this.#setting = setting;
    this.#history = ctx.recordHistory();
    this.#pace = new LoadPace(ctx.timing.answerMs);
    this.#isLarge = setting.plans.reduce((sum, { count }) => sum + count, 0) >= largeCount;
    this.streams = setting.plans.map((plan) => new LoadStream(plan, ctx.queue(plan.name), setting.mode));
    const connections = setting.plans.flatMap(({ publisher, subscribers }) => [publisher, ...subscribers]);
    this.#handledCounts = new Map(connections.map((connection) => [connection, connection.received.length]));
  }

  get subscribers(): readonly Connection[] {
    return [...new Set(this.streams.flatMap(({ plan }) => plan.subscribers))];
  }

  /** Creates the queues, publishes all messages, waits for their deliveries, and judges the history. */
  async run(): Promise<void> {
    const { mode, witness } = this.#setting;
    const beganAt = this.#ctx.now();
    const options = { mode: deliveryModes.indexOf(mode) };
    await Promise.all(this.streams.map(({ queue }) => witness.createQueue(queue, options)));
    await this.#subscribe(this.streams.filter(({ plan }) => plan.isBacklog !== true));
    this.#isShortened = this.#isLarge && (await this.#answersSlowly(witness));
    this.#startedAt = this.#ctx.now();
    this.#lastActivityAt = this.#startedAt;
    while (!(await this.#isFinished())) this.#endIfTooSlow(beganAt);
    await this.#judge();
  }

  async #answersSlowly(witness: Connection): Promise<boolean> {
    for (let count = 0; count < firstPingCount; count += 1) {
      const sentAt = this.#ctx.now();
      await witness.ping();
      if (this.#ctx.now() - sentAt <= slowPingMs) return false;
    }
    return true;
  }

  /** Runs one round. True when all deliveries have arrived or there is no more progress. */
  async #isFinished(): Promise<boolean> {
    await this.#publishBatches();
    const hasActivity = await this.#handleFrames();
    // Known only now: what was refused is published again.
    const isPublishing = this.#unfinished.length > 0;
    if (!isPublishing && this.streams.every((stream) => stream.isAnswered)) {
      const unserved = this.streams.filter((stream) => !stream.isSubscribed);
      await this.#judgeCounts(unserved);
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

  /** Publishes the next batch of every stream that is ready for it. */
  async #publishBatches(): Promise<void> {
    this.#isShortened ||= this.#isLarge && this.#ctx.now() > this.#startedAt + budgetMs;
    for (const stream of this.#unfinished) {
      if (!this.#isReady(stream)) continue;
      this.#publishBatch(stream);
      await turn();
    }
  }

  /** The streams that still have messages to publish. */
  get #unfinished(): readonly LoadStream[] {
    const share = this.#isShortened ? minShare : 1;
    return this.streams.filter((stream) => stream.remainingCount(share) > 0);
  }

  #isReady(stream: LoadStream): boolean {
    const { publisher } = stream.plan;
    const now = this.#ctx.now();
    if (now < (this.#limitedUntil.get(publisher) ?? 0)) return false;
    if (stream.isAnswered && (!stream.isSubscribed || stream.isFinished)) return true;
    const maxQuietMs = Math.max(stalledMs, stalledRoundTrips * this.#pace.roundTripMs(publisher, now));
    return now - stream.lastActivityAt > maxQuietMs;
  }

  #publishBatch(stream: LoadStream): void {
    const { batch, publisher } = stream.plan;
    const size = Math.min(batch, stream.remainingCount(1));
    const frames = Array.from({ length: size }, () => this.#nextPublish(stream));
    const ping = { command: Command.Ping, id: this.#ctx.id('pace') };
    void publisher.sendTogether([...frames, ping]);
    this.#noteActivity(stream);
    this.#pace.sent(publisher, { id: ping.id, sentAt: stream.lastActivityAt });
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

  /**
   * Several at a time: one after the other, hundreds of subscriptions would take minutes over a slow network, and all at once they would hold up
   * the other clients of a slow broker.
   */
  async #subscribe(streams: readonly LoadStream[]): Promise<void> {
    const left = [...streams];
    const subscribeToNext = async (): Promise<void> => {
      for (let stream = left.shift(); stream !== undefined; stream = left.shift()) {
        const { queue, plan } = stream;
        await Promise.all(plan.subscribers.map((subscriber) => subscriber.subscribe(queue)));
        stream.isSubscribed = true;
        this.#noteActivity(stream);
      }
    };
    await Promise.all(Array.from({ length: streamsAtATime }, subscribeToNext));
  }

  /** Handles received frames and acknowledges deliveries. True when any frame was received. */
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

  /** Returns the Ack for the frame, if it needs one. */
  #handleFrame(frame: ReceivedFrame, connection: Connection): readonly FrameFields[] {
    const { command, id } = frame;
    const message = this.#messages.get(id);
    if (command === Command.Pong) this.#pace.answered(connection, id, this.#ctx.now());
    if (command === Command.PublishAck && message !== undefined) this.#noteConfirmation(message);
    if (command === Command.Error) this.#noteRefusal(frame, message);
    if (command !== Command.Deliver) return [];
    this.#noteDelivery(frame, message, connection);
    return this.#setting.mode === 'FanOutWithoutAck' ? [] : [{ command: Command.Ack, id }];
  }

  #noteConfirmation(message: LoadMessage): void {
    if (message.answer === 'none') this.#noteAnswer(message, 'confirmed');
    else this.#answeredTwice ??= message;
  }

  #noteAnswer(message: LoadMessage, answer: 'confirmed' | 'refused'): void {
    message.answer = answer;
    message.stream.answeredCount += 1;
    this.#noteActivity(message.stream);
  }

  /** RATE_LIMITED is the only error code with which the broker may refuse these publishes. */
  #noteRefusal({ errorCode, errorMessage }: ReceivedFrame, message: LoadMessage | undefined): void {
    if (errorCode !== 'RATE_LIMITED') {
      const actual = `Error ${errorCode} "${errorMessage}"`;
      this.#ctx.assert.fail('a Publish is answered with PublishAck', {
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

  /** Without a subscriber every confirmed message waits. */
  async #judgeCounts(unserved: readonly LoadStream[]): Promise<void> {
    for (const stream of unserved) {
      const confirmedCount = stream.messages.length - stream.refusedCount;
      const what = 'number of waiting messages before the first Subscribe';
      const { assert } = this.#ctx;
      assert.equal(await this.#messageCount(stream.queue), confirmedCount, what, 'QUEUE-025');
    }
  }

  #noteActivity(stream: LoadStream): void {
    stream.lastActivityAt = this.#ctx.now();
    this.#lastActivityAt = stream.lastActivityAt;
  }

  /** messageCount is 0 in every queue with missing deliveries, and no delivery arrives before the Pongs. */
  async #isEmptyByCount(): Promise<boolean> {
    const behind = this.streams.filter((stream) => !stream.isFinished);
    if (behind.some((stream) => !stream.isAnswered || !stream.isSharedOrSorted)) return false;
    const counts = await Promise.all(behind.map(({ queue }) => this.#messageCount(queue)));
    return counts.every((count) => count === 0) && this.#isIdleAfterPings();
  }

  async #messageCount(queue: string): Promise<unknown> {
    return (await this.#setting.witness.queueInfo(queue))?.['messageCount'];
  }

  /** Pings every connection. True when no frame of the load arrives before the Pongs. */
  async #isIdleAfterPings(): Promise<boolean> {
    const { lastActivityAt } = { lastActivityAt: this.#lastActivityAt };
    await Promise.all([...this.#handledCounts.keys()].map((connection) => connection.ping()));
    while (await this.#handleFrames());
    return this.#lastActivityAt === lastActivityAt;
  }

  #endIfTooSlow(beganAt: number): void {
    const elapsedMs = this.#ctx.now() - beganAt;
    if (elapsedMs < maxRunMs) return;
    const counts = `${this.#messages.size} messages and ${this.#deliveryCount} deliveries`;
    throw new PrerequisiteMissing(
      `the broker is too slow for this check: ${counts} in ${Math.round(elapsedMs / 1000)} s, and not all of them delivered`,
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
    assert.equal(this.#answeredTwice?.id, undefined, 'a message with more than one answer', 'CONN-040');
    const behind = this.streams.filter((stream) => !stream.isFinished);
    for (const { queue } of behind) {
      const what = 'number of waiting messages while the subscribers acknowledge everything';
      assert.equal(await this.#messageCount(queue), 0, what, 'DELIVERY-010');
    }
    const queues = this.streams.map(({ queue }) => queue);
    const rules: QueueRules = { mode: this.#setting.mode };
    await this.#history.judgeInSteps({
      queues: Object.fromEntries(queues.map((queue) => [queue, rules])),
      drained: queues,
    });
    this.#judgeContent();
    const refused = this.streams.reduce((sum, { refusedCount }) => sum + refusedCount, 0);
    const summary = `${this.#messages.size - refused} messages through ${queues.length} queues`;
    const shortened = this.#isShortened ? '; fewer than the title says, because the broker was slow' : '';
    note(
      `${summary}, ${this.#deliveryCount} deliveries on ${this.#handledCounts.size} connections${shortened}`,
    );
  }

  #judgeContent(): void {
    const { assert } = this.#ctx;
    const delivery = this.#wrongHeaders;
    const published = this.#messages.get(delivery?.id ?? '')?.headers;
    const names = Object.keys(published ?? {});
    const actual = delivery && Object.fromEntries(names.map((name) => [name, delivery.header(name)]));
    assert.deepEqual(actual, delivery && published, 'the headers of a delivered message', 'DELIVERY-052');
    const sorted = this.#setting.mode !== 'PriorityBased' || this.#wrongPriority === undefined;
    assert.ok(sorted, 'waiting messages are delivered in the order of their priorities', {
      actual: `${this.#wrongPriority?.id}, ${this.#wrongPriority?.headers['priority']}, was delivered after a message of a lower priority`,
      clause: 'DELIVERY-031',
    });
  }
}

/** Compares the headers that the message was published with. A broker may add others. */
function hasHeaders(frame: ReceivedFrame, published: Readonly<Record<string, string>>): boolean {
  return Object.entries(published).every(([name, value]) => frame.header(name) === value);
}
