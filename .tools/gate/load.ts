// The load of the gate, on streams. In each turn a publisher sends as many messages as the window of a client, and then every subscriber
// acknowledges what it got, so that neither gets ahead of the other. Only the way of the messages is measured: their frames are built before.
// A message that is not confirmed, or not delivered in full, is a LoadFault and never a figure.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MessageTemplate } from '../../conformance/src/bench/load/message-template.ts';
import { Command, commandName } from '../../conformance/src/wire/command.ts';
import { decodeBody } from '../../conformance/src/wire/decode.ts';
import { encodeFrame } from '../../conformance/src/wire/encode.ts';
import type { FrameFields } from '../../conformance/src/wire/frame.ts';
import { frameHeadBytes } from '../../conformance/src/wire/frame-reader.ts';
import { Peer, type ReadFrame } from './peer.ts';

export type Service = { attach(stream: Peer): void };

export type LoadShape = {
  readonly payloadBytes: number;
  /** More than one: FanOutWithAck, so that each gets every message. */
  readonly subscriberCount: number;
  /** Messages of a turn, and what a subscriber may have in flight. */
  readonly windowCount: number;
};

export type LoadOptions = LoadShape & { readonly queue: string; readonly nowMs?: () => number };

/** `turnsMs`: what each turn took, from its publishes to the end of its acknowledgments. */
export type PassFigure = { readonly messageCount: number; readonly turnsMs: readonly number[] };

type Expected = { readonly peer: Peer; readonly bytes: number };

/** The service refused or lost what was sent, or did not answer in time. */
export class LoadFault extends Error {}

const patienceMs = 10_000;
const modes = { roundRobin: 0, fanOutWithAck: 1 } as const;

export class Load {
  readonly #options: LoadOptions;
  readonly #nowMs: () => number;
  readonly #template: MessageTemplate;
  readonly #publishes: Buffer;
  /** Two in turns: a broker may read the acks of a turn as late as it needs them for the deliveries of the next. */
  #acks: Buffer;
  #nextAcks: Buffer;
  readonly #publisher = new Peer();
  readonly #subscribers: readonly Peer[];
  /** Bytes of one PublishAck and of one Deliver, known from the first message. */
  #confirmBytes = 0;
  #deliverBytes = 0;
  #sequence = 0;

  private constructor(options: LoadOptions) {
    const { queue, payloadBytes, subscriberCount, windowCount, nowMs = () => performance.now() } = options;
    this.#options = options;
    this.#nowMs = nowMs;
    this.#template = new MessageTemplate({ queue, tag: queue, payloadBytes });
    this.#publishes = Buffer.allocUnsafeSlow(this.#template.publishBytes * windowCount);
    this.#acks = Buffer.allocUnsafeSlow(this.#template.ackBytes * windowCount);
    this.#nextAcks = Buffer.allocUnsafeSlow(this.#acks.length);
    this.#subscribers = Array.from({ length: subscriberCount }, () => new Peer());
  }

  /** Connects all clients, and reads and compares what comes back for a first message. Throws a LoadFault. */
  static async begin(service: Service, options: LoadOptions): Promise<Load> {
    const load = new Load(options);
    await load.#connect(service);
    await load.#checkFirstMessage();
    return load;
  }

  /** Throws a LoadFault. */
  async pass(turnCount: number): Promise<PassFigure> {
    const turnsMs: number[] = [];
    for (let turn = 0; turn < turnCount; turn += 1) {
      this.#writeFrames();
      const startedAtMs = this.#nowMs();
      await this.#turn();
      turnsMs.push(this.#nowMs() - startedAtMs);
    }
    return { messageCount: turnCount * this.#options.windowCount, turnsMs };
  }

  async #connect(service: Service): Promise<void> {
    const { queue, subscriberCount, windowCount } = this.#options;
    const connect = { command: Command.Connect, id: 'connect' };
    for (const peer of [this.#publisher, ...this.#subscribers]) {
      service.attach(peer);
      await this.#ask(peer, connect, Command.ConnectAck);
    }
    const payload = JSON.stringify({ mode: subscriberCount > 1 ? modes.fanOutWithAck : modes.roundRobin });
    const create = { command: Command.CreateQueue, id: 'create', queue, payload };
    await this.#ask(this.#publisher, create, Command.CreateQueue);
    const headers = { maxInFlight: String(windowCount) };
    const subscribe = { command: Command.Subscribe, id: 'subscribe', queue, headers };
    for (const subscriber of this.#subscribers) await this.#ask(subscriber, subscribe, Command.SubscribeAck);
  }

  async #ask(peer: Peer, fields: FrameFields, answer: number): Promise<void> {
    const frames = peer.readFrames();
    peer.send(encodeFrame(fields));
    await this.#until(
      () => frames.length > 0,
      () => `no answer to ${commandName(fields.command)}`,
    );
    peer.stopReading();
    onlyFrame(frames, answer);
  }

  async #checkFirstMessage(): Promise<void> {
    const peers = [this.#publisher, ...this.#subscribers];
    const frames = peers.map((peer) => peer.readFrames());
    this.#writeFrames();
    const sent = this.#publishes.subarray(0, this.#template.publishBytes);
    this.#publisher.send(sent);
    await this.#until(
      () => frames.every(({ length }) => length > 0),
      () => 'the first message was not confirmed and delivered',
    );
    const ack = this.#acks.subarray(0, this.#template.ackBytes);
    for (const subscriber of this.#subscribers) subscriber.send(ack);
    await twoTurns();
    for (const peer of peers) peer.stopReading();
    this.#compareFirst(decodeBody(sent.subarray(frameHeadBytes)), frames);
  }

  #compareFirst(
    sent: { readonly id: string; readonly payload: Buffer },
    frames: readonly ReadFrame[][],
  ): void {
    const [confirms = [], ...deliveries] = frames;
    const confirm = onlyFrame(confirms, Command.PublishAck);
    if (confirm.id !== sent.id) throw new LoadFault('the first PublishAck names another message');
    this.#confirmBytes = confirm.frameBytes;
    for (const delivered of deliveries) {
      const { id, payload, frameBytes } = onlyFrame(delivered, Command.Deliver);
      if (id !== sent.id || !payload.equals(sent.payload))
        throw new LoadFault('the first Deliver is not what was published');
      this.#deliverBytes = frameBytes;
    }
  }

  #writeFrames(): void {
    const { publishBytes, ackBytes } = this.#template;
    [this.#acks, this.#nextAcks] = [this.#nextAcks, this.#acks];
    for (let index = 0; index < this.#options.windowCount; index += 1) {
      this.#template.writePublish(this.#publishes, index * publishBytes, this.#sequence, 0);
      this.#template.writeAck(this.#acks, index * ackBytes, this.#sequence);
      this.#sequence += 1;
    }
  }

  async #turn(): Promise<void> {
    const { windowCount } = this.#options;
    const expected: readonly Expected[] = [
      { peer: this.#publisher, bytes: this.#publisher.receivedBytes + this.#confirmBytes * windowCount },
      ...this.#subscribers.map((peer) => ({
        peer,
        bytes: peer.receivedBytes + this.#deliverBytes * windowCount,
      })),
    ];
    this.#publisher.send(this.#publishes);
    await this.#until(
      () => expected.every(({ peer, bytes }) => peer.receivedBytes === bytes),
      () => this.#difference(expected),
    );
    for (const subscriber of this.#subscribers) subscriber.send(this.#acks);
    await twoTurns();
  }

  #difference(expected: readonly Expected[]): string {
    const wrong = expected.find(({ peer, bytes }) => peer.receivedBytes !== bytes);
    const differenceBytes = (wrong?.peer.receivedBytes ?? 0) - (wrong?.bytes ?? 0);
    const what = wrong?.peer === this.#publisher ? 'confirms' : 'deliveries';
    return `${Math.abs(differenceBytes)} bytes of ${what} ${differenceBytes < 0 ? 'are missing' : 'are too many'}`;
  }

  async #until(holds: () => boolean, complaint: () => string): Promise<void> {
    const endAtMs = this.#nowMs() + patienceMs;
    while (!holds()) {
      if (this.#nowMs() > endAtMs) throw new LoadFault(complaint());
      await nextTurn();
    }
  }
}

/** A broker collects what it read until the end of a turn, and works on it in the next. */
async function twoTurns(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

function onlyFrame(frames: readonly ReadFrame[], command: number): ReadFrame {
  const [frame, ...more] = frames;
  if (frame?.command === command && more.length === 0) return frame;
  const got = frames.map((other) => `${commandName(other.command)} ${other.errorMessage}`.trim()).join(', ');
  throw new LoadFault(`${commandName(command)} was expected, and not: ${got}`);
}
