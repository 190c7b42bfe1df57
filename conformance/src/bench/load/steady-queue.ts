// Keeps a queue at one length while messages pass through it: for every acknowledged delivery a new message is published. The phases can
// also run separately: only publishing, or only acknowledging. One process does both sides, because this measures the processor time of
// the broker, not its speed. Areas: QUEUE, DELIVERY.
import { Command } from '../../wire/command.ts';
import { decodeBody } from '../../wire/decode.ts';
import type { FrameView } from '../../wire/frame-view.ts';
import { LoadFault } from './load-fault.ts';
import type { Address } from './load-link.ts';
import { LoadLink } from './load-link.ts';
import { MessageTemplate } from './message-template.ts';
import { makeQueue } from './queue-commands.ts';

/** Deliveries that stay unacknowledged between phases; they are not among those that wait. */
const inFlightCount = 100;
const publishWindow = 1000;
const phaseMs = 300_000;

type Phase = {
  /** Messages to acknowledge, and messages to publish, before it ends. */
  ackCount: number;
  publishCount: number;
  readonly publishPerAck: boolean;
  readonly end: (fault?: LoadFault) => void;
};

export class SteadyQueue {
  readonly #publisher: LoadLink;
  readonly #subscriber: LoadLink;
  readonly #template: MessageTemplate;
  /** Delivered and not acknowledged: what the next phase begins with. */
  #held: number[] = [];
  #isSubscribed = false;
  #sentCount = 0;
  #confirmedCount = 0;
  #phase: Phase | undefined;

  private constructor(publisher: LoadLink, subscriber: LoadLink, template: MessageTemplate) {
    this.#publisher = publisher;
    this.#subscriber = subscriber;
    this.#template = template;
    publisher.handlers = {
      onFrame: (frame) => this.#handleAnswer(frame),
      onRead: () => this.#advance(),
      onFault: (fault) => this.#phase?.end(fault),
    };
    subscriber.handlers = {
      onFrame: (frame) => this.#handleDelivery(frame),
      onRead: () => this.#advance(),
      onFault: (fault) => this.#phase?.end(fault),
    };
  }

  /** Makes the queue and fills it until `waitingCount` messages wait beside those in flight. Throws a LoadFault. */
  static async open(
    address: Address,
    options: { readonly queue: string; readonly waitingCount: number; readonly payloadBytes: number },
  ): Promise<SteadyQueue> {
    const [publisher, subscriber] = [await LoadLink.open(address), await LoadLink.open(address)];
    await makeQueue(publisher, options.queue);
    const queue = new SteadyQueue(
      publisher,
      subscriber,
      new MessageTemplate({ ...options, tag: options.queue }),
    );
    await queue.publish(options.waitingCount + inFlightCount);
    const headers = { maxInFlight: String(inFlightCount) };
    if (!subscriber.can('maxInFlight')) throw new LoadFault('needs a broker that announces maxInFlight');
    queue.#isSubscribed = true;
    await subscriber.request({ command: Command.Subscribe, queue: options.queue, headers });
    return queue;
  }

  /** `count` messages through the queue: each published, delivered and acknowledged. */
  pass(count: number): Promise<void> {
    return this.#run({ ackCount: count, publishCount: 0, publishPerAck: true });
  }

  publish(count: number): Promise<void> {
    return this.#run({ ackCount: 0, publishCount: count, publishPerAck: false });
  }

  /** Acknowledges `count` messages, for each of which another one is delivered. */
  take(count: number): Promise<void> {
    return this.#run({ ackCount: count, publishCount: 0, publishPerAck: false });
  }

  close(): void {
    this.#publisher.close();
    this.#subscriber.close();
  }

  async #run(work: Omit<Phase, 'end'>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        const end = (fault?: LoadFault): void => (fault === undefined ? resolve() : reject(fault));
        timer = setTimeout(() => end(new LoadFault(`a phase of ${phaseMs} ms did not end`)), phaseMs);
        this.#phase = { ...work, end };
        this.#advance();
      });
    } finally {
      clearTimeout(timer);
      this.#phase = undefined;
    }
  }

  /** Sends what the phase allows now; after every read. */
  #advance(): void {
    const phase = this.#phase;
    if (phase === undefined) return;
    const acked = Math.min(phase.ackCount, this.#held.length);
    for (const sequence of this.#held.splice(0, acked)) this.#sendAck(sequence);
    phase.ackCount -= acked;
    if (phase.publishPerAck) phase.publishCount += acked;
    while (phase.publishCount > 0 && this.#sentCount - this.#confirmedCount < publishWindow) {
      this.#sendPublish();
      phase.publishCount -= 1;
    }
    if (this.#isOver(phase)) phase.end();
  }

  /** The window must be full again too, or the deliveries would fall into the next phase. */
  #isOver(phase: Phase): boolean {
    const isSent = phase.ackCount === 0 && phase.publishCount === 0;
    const isIdle = this.#sentCount === this.#confirmedCount;
    const isRefilled = !this.#isSubscribed || this.#held.length === inFlightCount;
    return isSent && isIdle && isRefilled;
  }

  #handleAnswer(frame: FrameView): void {
    if (frame.command === Command.PublishAck) this.#confirmedCount += 1;
    else this.#refused(frame);
  }

  #handleDelivery(frame: FrameView): void {
    if (frame.command !== Command.Deliver) return this.#refused(frame);
    const sequence = this.#template.sequenceOf(frame);
    if (sequence >= 0) this.#held.push(sequence);
  }

  #refused(frame: FrameView): void {
    const { commandName, errorCode, errorMessage } = decodeBody(frame.body());
    this.#phase?.end(new LoadFault(`${commandName} came: ${errorCode} ${errorMessage}`.trim()));
  }

  #sendPublish(): void {
    const at = this.#publisher.out.reserve(this.#template.publishBytes);
    this.#template.writePublish(this.#publisher.out.slab, at, this.#sentCount, 0);
    this.#sentCount += 1;
  }

  #sendAck(sequence: number): void {
    const at = this.#subscriber.out.reserve(this.#template.ackBytes);
    this.#template.writeAck(this.#subscriber.out.slab, at, sequence);
  }
}
