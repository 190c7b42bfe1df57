// The receiving side of a pass: one or many subscribers, each on its own connection, that acknowledge every delivery and record which
// messages of the pass they have received. A missing message is reported as lost after a limited wait. Areas: DELIVERY.
import { Command } from '../../wire/command.ts';
import { decodeBody } from '../../wire/decode.ts';
import type { FrameView } from '../../wire/frame-view.ts';
import type { HistogramRecord } from '../statistics/latency-histogram.ts';
import { LatencyHistogram } from '../statistics/latency-histogram.ts';
import type { LoadClock } from './load-clock.ts';
import { LoadFault } from './load-fault.ts';
import type { Address } from './load-link.ts';
import { LoadLink } from './load-link.ts';
import { MessageTemplate, stampOf } from './message-template.ts';
import { SequenceSet } from './sequence-set.ts';

export type SubscribeOrder = {
  readonly queue: string;
  readonly count: number;
  /** Unacknowledged messages per subscriber, where the broker lets a subscriber say so. */
  readonly prefetch: number;
  readonly acknowledge: boolean;
};

export type ArmOrder = {
  readonly queue: string;
  readonly tag: string;
  readonly payloadBytes: number;
  /** After how many messages of the slowest subscriber to tell its progress; 0: never. */
  readonly creditEvery: number;
};

/** How far the slowest subscriber of a pass has come. */
export type Credit = { readonly tag: string; readonly receivedCount: number };

export type ReceivePassOutcome = {
  /** Deliveries, every message counted once per subscriber. */
  readonly receivedCount: number;
  readonly lostCount: number;
  /** Deliveries of a message that the subscriber had already received. */
  readonly repeatedCount: number;
  readonly lastAtUs: number;
  readonly cpuUs: number;
  /** From the moment at which a message fell due to its delivery. */
  readonly latency: HistogramRecord;
};

/** A pass in which nothing comes for this long has lost what is missing, unless another time is named. */
const usualStallMs = 15_000;

export class SubscriberGroup {
  readonly #subscribers: Subscriber[] = [];
  readonly #clock: LoadClock;
  readonly #onCredit: (credit: Credit) => void;
  #pass: ReceivePass | undefined;

  constructor(clock: LoadClock, onCredit: (credit: Credit) => void) {
    this.#clock = clock;
    this.#onCredit = onCredit;
  }

  /** Connects, and subscribes one after the other. Throws a LoadFault. */
  async open(address: Address, order: SubscribeOrder): Promise<void> {
    await this.connect(address, order);
    await this.subscribe(order);
  }

  /** For a queue in which messages wait already: connect, arm, then subscribe. */
  async connect(address: Address, order: SubscribeOrder): Promise<void> {
    const onFault = (fault: LoadFault): void => this.#pass?.fail(fault);
    for (let opened = 0; opened < order.count; opened += 1) {
      this.#subscribers.push(await Subscriber.open(address, order.acknowledge, onFault));
    }
  }

  async subscribe(order: SubscribeOrder): Promise<void> {
    for (const subscriber of this.#subscribers) await subscriber.subscribe(order);
  }

  /** The next messages belong to this pass. */
  arm(order: ArmOrder): void {
    const pass = new ReceivePass(this.#clock, order, this.#onCredit, this.#subscribers.length);
    this.#pass = pass;
    for (const subscriber of this.#subscribers) subscriber.arm(order, pass);
  }

  /** Resolves when every subscriber has `count` messages, or nothing has come for `stallMs`. Throws a LoadFault. */
  async expect(count: number, stallMs = usualStallMs): Promise<ReceivePassOutcome> {
    if (this.#pass === undefined) throw new Error('no pass was armed');
    return this.#pass.expect(count * this.#subscribers.length, stallMs);
  }

  close(): void {
    for (const subscriber of this.#subscribers) subscriber.close();
  }
}

/** The counts that all subscribers of a pass share. */
class ReceivePass {
  readonly latency = new LatencyHistogram();
  readonly clock: LoadClock;
  readonly #creditEvery: number;
  readonly #tag: string;
  readonly #onCredit: (credit: Credit) => void;
  readonly #perSubscriber: Uint32Array;
  readonly #cpuBefore = process.cpuUsage();
  #receivedCount = 0;
  #toldCount = 0;
  #repeatedCount = 0;
  #lastAtUs = 0;
  #wantedCount = Number.POSITIVE_INFINITY;
  #fault: LoadFault | undefined;
  #joinedCount = 0;
  #finish: () => void = () => {};

  constructor(
    clock: LoadClock,
    order: ArmOrder,
    onCredit: (credit: Credit) => void,
    subscriberCount: number,
  ) {
    this.clock = clock;
    this.#tag = order.tag;
    this.#creditEvery = order.creditEvery;
    this.#onCredit = onCredit;
    this.#perSubscriber = new Uint32Array(subscriberCount);
  }

  /** The number of a subscriber in this pass. */
  join(): number {
    this.#joinedCount += 1;
    return this.#joinedCount - 1;
  }

  received(subscriber: number, isNew: boolean, stampUs: number, nowUs: number): void {
    this.#lastAtUs = nowUs;
    if (!isNew) {
      this.#repeatedCount += 1;
      return;
    }
    this.latency.add(nowUs - stampUs);
    const ownCount = (this.#perSubscriber[subscriber] ?? 0) + 1;
    this.#perSubscriber[subscriber] = ownCount;
    this.#receivedCount += 1;
    if (this.#creditEvery > 0 && ownCount % this.#creditEvery === 0) this.#tellProgress();
    if (this.#receivedCount >= this.#wantedCount) this.#finish();
  }

  fail(fault: LoadFault): void {
    this.#fault ??= fault;
    this.#finish();
  }

  async expect(wantedCount: number, stallMs: number): Promise<ReceivePassOutcome> {
    const finished = new Promise<void>((resolve) => {
      this.#finish = resolve;
    });
    const stall = this.#watchStall(stallMs);
    this.#wantedCount = wantedCount;
    if (this.#receivedCount < wantedCount && this.#fault === undefined) await finished;
    clearInterval(stall);
    if (this.#fault !== undefined) throw this.#fault;
    const cpu = process.cpuUsage(this.#cpuBefore);
    return {
      receivedCount: this.#receivedCount,
      lostCount: Math.max(0, wantedCount - this.#receivedCount),
      repeatedCount: this.#repeatedCount,
      lastAtUs: this.#lastAtUs,
      cpuUs: cpu.user + cpu.system,
      latency: this.latency.record(),
    };
  }

  /** The last subscriber to pass a multiple of `creditEvery` is the one that lets the publisher go on. */
  #tellProgress(): void {
    const least = this.#perSubscriber.reduce((low, count) => Math.min(low, count));
    if (least < this.#toldCount + this.#creditEvery) return;
    this.#toldCount = least;
    this.#onCredit({ tag: this.#tag, receivedCount: least });
  }

  #watchStall(stallMs: number): NodeJS.Timeout {
    let seen = { count: -1, atUs: 0 };
    return setInterval(() => {
      const nowUs = this.clock.nowUs();
      if (this.#receivedCount !== seen.count) seen = { count: this.#receivedCount, atUs: nowUs };
      else if (nowUs - seen.atUs > stallMs * 1e3) this.#finish();
    }, stallMs / 30);
  }
}

type Armed = {
  readonly pass: ReceivePass;
  readonly number: number;
  readonly template: MessageTemplate;
  readonly seen: SequenceSet;
};

/** One connection with one subscription. */
class Subscriber {
  readonly #link: LoadLink;
  readonly #acknowledge: boolean;
  #armed: Armed | undefined;
  /** One look at the clock serves all frames of a read. */
  #readAtUs = 0;

  private constructor(link: LoadLink, acknowledge: boolean, onFault: (fault: LoadFault) => void) {
    this.#link = link;
    this.#acknowledge = acknowledge;
    link.handlers = {
      onFrame: (frame) => this.#handleFrame(frame),
      onRead: () => this.#handleRead(),
      onFault,
    };
  }

  static async open(
    address: Address,
    acknowledge: boolean,
    onFault: (fault: LoadFault) => void,
  ): Promise<Subscriber> {
    return new Subscriber(await LoadLink.open(address), acknowledge, onFault);
  }

  async subscribe({ queue, prefetch }: SubscribeOrder): Promise<void> {
    const window = this.#link.can('maxInFlight') ? { headers: { maxInFlight: String(prefetch) } } : {};
    await this.#link.request({ command: Command.Subscribe, queue, ...window });
  }

  arm(order: ArmOrder, pass: ReceivePass): void {
    const template = new MessageTemplate(order);
    this.#armed = { pass, number: pass.join(), template, seen: new SequenceSet() };
  }

  close(): void {
    this.#link.close();
  }

  #handleRead(): void {
    this.#readAtUs = 0;
  }

  #handleFrame(frame: FrameView): void {
    const armed = this.#armed;
    if (armed === undefined) return;
    if (frame.command !== Command.Deliver) return armed.pass.fail(unexpected(frame));
    const sequence = armed.template.sequenceOf(frame);
    if (sequence < 0) return;
    if (this.#readAtUs === 0) this.#readAtUs = armed.pass.clock.nowUs();
    if (this.#acknowledge) this.#sendAck(armed.template, sequence);
    armed.pass.received(armed.number, armed.seen.add(sequence), stampOf(frame), this.#readAtUs);
  }

  #sendAck(template: MessageTemplate, sequence: number): void {
    const at = this.#link.out.reserve(template.ackBytes);
    template.writeAck(this.#link.out.slab, at, sequence);
  }
}

function unexpected(frame: FrameView): LoadFault {
  const { commandName, errorCode, errorMessage } = decodeBody(frame.body());
  return new LoadFault(`a subscriber got ${commandName} ${errorCode} ${errorMessage}`.trim());
}
