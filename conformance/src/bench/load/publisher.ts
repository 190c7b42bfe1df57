// The publishing side of a pass: one connection that publishes in a closed or an open loop, counts what was confirmed and what was
// refused, and ends when everything sent was answered. A publish that nobody answers ends the pass. Areas: PUBLISH.
import { Command } from '../../wire/command.ts';
import { decodeBody } from '../../wire/decode.ts';
import type { FrameView } from '../../wire/frame-view.ts';
import type { HistogramRecord } from '../statistics/latency-histogram.ts';
import { LatencyHistogram } from '../statistics/latency-histogram.ts';
import { ArrivalSchedule } from './arrival-schedule.ts';
import { ClosedLoop } from './closed-loop.ts';
import type { LoadClock } from './load-clock.ts';
import { LoadFault } from './load-fault.ts';
import type { Address } from './load-link.ts';
import { LoadLink } from './load-link.ts';
import { MessageTemplate } from './message-template.ts';
import { runOpenLoop } from './open-loop.ts';
import { sleeper, turnOfLoop } from './precise-sleep.ts';
import { PublishWindow } from './publish-window.ts';
import { SequenceSet } from './sequence-set.ts';
import type { Credit } from './subscriber-group.ts';

export type PublishPassOrder = {
  readonly queue: string;
  /** Tells this pass from others of the same target. */
  readonly tag: string;
  readonly payloadBytes: number;
  /** The maximum number of publishes without an answer. */
  readonly window: number;
  /** How far to run ahead of the slowest subscriber, in messages. */
  readonly lead?: number;
  readonly durationMs: number;
  readonly maxCount?: number;
  /** Given: the open loop at this rate. Else the closed one. */
  readonly perSecond?: number;
};

export type PublishPassOutcome = {
  readonly sentCount: number;
  readonly confirmedCount: number;
  readonly refusedByCode: Readonly<Record<string, number>>;
  readonly startedAtUs: number;
  readonly endedAtUs: number;
  readonly cpuUs: number;
  /** How late the generator itself was; open loop only. */
  readonly lateness?: HistogramRecord;
  /** From the moment at which a message fell due to its answer; open loop only. */
  readonly answerLatency?: HistogramRecord;
};

/** The longest time without an answer. */
const stallMs = 20_000;

export class Publisher {
  readonly #link: LoadLink;
  readonly #clock: LoadClock;
  #pass: Pass | undefined;

  private constructor(link: LoadLink, clock: LoadClock) {
    this.#link = link;
    this.#clock = clock;
    link.handlers = {
      onFrame: (frame) => this.#pass?.handleFrame(frame),
      onRead: () => this.#pass?.handleRead(),
      onFault: (fault) => this.#pass?.fail(fault),
    };
  }

  /** Throws a LoadFault. */
  static async open(address: Address, clock: LoadClock): Promise<Publisher> {
    return new Publisher(await LoadLink.open(address), clock);
  }

  /** What the slowest subscriber has received; lets the publisher go on where a lead was set. */
  credit(credit: Credit): void {
    this.#pass?.credit(credit);
  }

  /** Runs one pass to its end. Throws a LoadFault. */
  async publish(order: PublishPassOrder): Promise<PublishPassOutcome> {
    const pass = new Pass(this.#link, this.#clock, order);
    this.#pass = pass;
    const cpuBefore = process.cpuUsage();
    const startedAtUs = this.#clock.nowUs();
    try {
      const latencies = await pass.run();
      const cpu = process.cpuUsage(cpuBefore);
      return {
        ...pass.counts(),
        startedAtUs,
        endedAtUs: this.#clock.nowUs(),
        cpuUs: cpu.user + cpu.system,
        ...latencies,
      };
    } finally {
      this.#pass = undefined;
    }
  }

  close(): void {
    this.#link.close();
  }
}

class Pass {
  readonly #link: LoadLink;
  readonly #clock: LoadClock;
  readonly #order: PublishPassOrder;
  readonly #template: MessageTemplate;
  readonly #window: PublishWindow;
  readonly #answered = new SequenceSet();
  readonly #refusedByCode = new Map<string, number>();
  readonly #finished: Promise<void>;
  #finish: () => void = () => {};
  #fault: LoadFault | undefined;
  #loop: ClosedLoop | undefined;
  #schedule: ArrivalSchedule | undefined;
  readonly #answerLatency = new LatencyHistogram();
  #isSent = false;

  constructor(link: LoadLink, clock: LoadClock, order: PublishPassOrder) {
    this.#link = link;
    this.#clock = clock;
    this.#order = order;
    this.#template = new MessageTemplate(order);
    this.#window = new PublishWindow(order);
    this.#finished = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  async run(): Promise<Pick<PublishPassOutcome, 'lateness' | 'answerLatency'>> {
    const stall = this.#watchStall();
    try {
      const lateness = this.#order.perSecond === undefined ? this.#runClosed() : await this.#runOpen();
      await this.#finished;
      if (this.#fault !== undefined) throw this.#fault;
      return lateness === undefined ? {} : { lateness, answerLatency: this.#answerLatency.record() };
    } finally {
      clearInterval(stall);
    }
  }

  counts(): Pick<PublishPassOutcome, 'sentCount' | 'confirmedCount' | 'refusedByCode'> {
    const refused = [...this.#refusedByCode.values()].reduce((sum, count) => sum + count, 0);
    return {
      sentCount: this.#window.sentCount,
      confirmedCount: this.#window.answeredCount - refused,
      refusedByCode: Object.fromEntries(this.#refusedByCode),
    };
  }

  /** An answer of the previous pass may still arrive. */
  credit({ tag, receivedCount }: Credit): void {
    if (tag !== this.#order.tag) return;
    this.#window.receivedCount = receivedCount;
    this.handleRead();
  }

  fail(fault: LoadFault): void {
    this.#fault ??= fault;
    this.#finish();
  }

  handleFrame(frame: FrameView): void {
    const sequence = this.#template.sequenceOf(frame);
    const isAnswer = frame.command === Command.PublishAck || frame.command === Command.Error;
    if (frame.command === Command.Error) this.#handleError(frame, sequence);
    if (!isAnswer || sequence < 0 || !this.#answered.add(sequence)) return;
    this.#window.answeredCount += 1;
    if (this.#schedule !== undefined)
      this.#answerLatency.add(this.#clock.nowUs() - this.#schedule.dueAtUs(sequence));
  }

  handleRead(): void {
    this.#loop?.pump();
    if (this.#loop?.isOver === true) this.#isSent = true;
    if (this.#isSent && this.#window.isEmpty) this.#finish();
  }

  #handleError(frame: FrameView, sequence: number): void {
    const { errorCode, errorMessage } = decodeBody(frame.body());
    if (sequence < 0) return this.fail(new LoadFault(`an Error came: ${errorCode} ${errorMessage}`.trim()));
    this.#refusedByCode.set(errorCode, (this.#refusedByCode.get(errorCode) ?? 0) + 1);
  }

  readonly #send = (sequence: number, stampUs: number): void => {
    const at = this.#link.out.reserve(this.#template.publishBytes);
    this.#template.writePublish(this.#link.out.slab, at, sequence, Math.trunc(stampUs));
  };

  #runClosed(): undefined {
    const { durationMs, maxCount = Number.POSITIVE_INFINITY } = this.#order;
    const window = this.#window;
    this.#loop = new ClosedLoop({ clock: this.#clock, window, durationMs, maxCount, send: this.#send });
    this.handleRead();
  }

  async #runOpen(): Promise<HistogramRecord> {
    const { perSecond = 1, durationMs } = this.#order;
    const schedule = new ArrivalSchedule({ startUs: this.#clock.nowUs(), perSecond, durationMs });
    this.#schedule = schedule;
    const lateness = await runOpenLoop({
      clock: this.#clock,
      schedule,
      window: this.#window,
      send: this.#send,
      flush: () => this.#link.out.flush(),
      turn: turnOfLoop,
      pause: sleeper(),
      check: () => {
        if (this.#fault !== undefined) throw this.#fault;
      },
    });
    this.#isSent = true;
    this.handleRead();
    return lateness.record();
  }

  /** Also ends a closed loop that gets no answers any more. */
  #watchStall(): NodeJS.Timeout {
    let seen = { progress: -1, atUs: this.#clock.nowUs() };
    return setInterval(() => {
      const progress = this.#window.answeredCount + this.#window.receivedCount;
      if (progress !== seen.progress) seen = { progress, atUs: this.#clock.nowUs() };
      else if (this.#clock.nowUs() - seen.atUs > stallMs * 1e3) this.fail(this.#stallFault());
    }, 1000);
  }

  #stallFault(): LoadFault {
    const missing = this.#window.sentCount - this.#window.answeredCount;
    if (missing === 0) return new LoadFault(`the subscribers received nothing for ${stallMs / 1e3} s`);
    return new LoadFault(`${missing} publishes were not answered within ${stallMs / 1e3} s`);
  }
}
