// A broker under a pattern of load, the measurement of its process, and the operations that the patterns use.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { LoadFault } from '../../src/bench/load/load-fault.ts';
import { LoadLink } from '../../src/bench/load/load-link.ts';
import { usageOf } from '../../src/bench/process-usage.ts';
import type { ConfigurationRequest } from '../../src/configuration.ts';
import { type Broker, spawnBroker } from '../../src/target/broker.ts';
import type { SpawnLifecycle } from '../../src/target/target-file.ts';
import { timingFor } from '../../src/timing.ts';
import { Command } from '../../src/wire/command.ts';
import { encodeFrame } from '../../src/wire/encode.ts';
import type { FrameFields } from '../../src/wire/frame.ts';

/** The memory that a broker may need for one of each, besides the contents. */
export const MESSAGE_BYTES = 512;
export const COPY_BYTES = 256;
/** Besides its id and the name of its queue. */
export const REPEAT_BYTES = 128;
export const SUBSCRIPTION_BYTES = 512;
export const QUEUE_BYTES = 2048;
export const CONNECTION_BYTES = 32 * 1024;

const WARM_UP_MESSAGES = 20_000;
const SAMPLE_EVERY_MS = 700;
/**
 * Light traffic: this many messages between two samples, acknowledged immediately. They are so large that a broker keeps them outside of a
 * JavaScript heap, because such memory makes its garbage collector look at all of the heap.
 */
const TRAFFIC_MESSAGES = 250;
const TRAFFIC_BYTES = 100_000;
const UNANSWERED_PUBLISHES = 512;
const timeoutScale = 20;

export type PublishOrder = {
  readonly queue: string;
  readonly count: number;
  readonly payloadBytes: number;
  readonly idPrefix?: string;
  /** Whether not to wait for the answers, because blocked publishes get none. */
  readonly isUnanswered?: boolean;
  readonly idBytes?: number;
};

export class Stage {
  readonly #broker: Broker;
  #control: LoadLink;
  readonly #links: LoadLink[] = [];
  readonly #sockets: Socket[] = [];

  private constructor(broker: Broker, control: LoadLink) {
    this.#broker = broker;
    this.#control = control;
  }

  static async open(lifecycle: SpawnLifecycle, request: ConfigurationRequest): Promise<Stage> {
    const broker = await spawnBroker(lifecycle, request, timingFor(timeoutScale));
    return new Stage(broker, await LoadLink.open(broker.endpoints.tcp));
  }

  get control(): LoadLink {
    return this.#control;
  }

  async close(): Promise<void> {
    this.#control.close();
    this.disconnectAll();
    await this.#broker.dispose();
  }

  disconnectAll(): void {
    for (const link of this.#links.splice(0)) link.close();
    for (const socket of this.#sockets.splice(0)) socket.destroy();
  }

  peakBytes(): number {
    return this.#usage().peakRssBytes ?? this.#usage().rssBytes;
  }

  /** The lowest of some samples under light traffic. */
  async residentBytes(sampleCount: number): Promise<number> {
    await this.createQueue('traffic');
    const link = await this.link();
    await acknowledging(link, 'traffic');
    let lowest = Number.POSITIVE_INFINITY;
    for (let sample = 0; sample < sampleCount; sample += 1) {
      const order = { queue: 'traffic', count: TRAFFIC_MESSAGES, payloadBytes: TRAFFIC_BYTES };
      await this.publish({ ...order, idPrefix: `t${sample}` });
      await wait(SAMPLE_EVERY_MS);
      lowest = Math.min(lowest, this.#usage().rssBytes);
    }
    link.close();
    return lowest;
  }

  /** The resident memory now, also if the broker refuses commands. */
  residentBytesNow(): number {
    return this.#usage().rssBytes;
  }

  /** A load that leaves no data, so that memory which a process needs only once does not count as growth. */
  async warmUp(): Promise<void> {
    await this.createQueue('warm-up');
    const link = await this.link();
    await acknowledging(link, 'warm-up');
    await this.publish({ queue: 'warm-up', count: WARM_UP_MESSAGES, payloadBytes: 1024 });
    await this.deleteQueue('warm-up');
    link.close();
  }

  async link(): Promise<LoadLink> {
    const link = await LoadLink.open(this.#broker.endpoints.tcp);
    this.#links.push(link);
    return link;
  }

  /** A connection whose bytes the pattern writes itself, after the handshake; closed if the broker refuses it. */
  async socket(): Promise<Socket> {
    const socket = connect({ ...this.#broker.endpoints.tcp, noDelay: true });
    socket.on('error', () => undefined);
    this.#sockets.push(socket);
    await orClosed(socket, 'connect');
    socket.write(encodeFrame({ command: Command.Connect, id: 'connect' }));
    await orClosed(socket, 'data');
    return socket;
  }

  createQueue(queue: string, options: object = {}): Promise<unknown> {
    const payload = JSON.stringify({ maxQueueSize: 2_000_000_000, overflowStrategy: 1, ...options });
    return this.#control.request({ command: Command.CreateQueue, queue, payload });
  }

  deleteQueue(queue: string): Promise<unknown> {
    return this.#control.request({ command: Command.DeleteQueue, queue });
  }

  /** Publishes with a window, on a connection of its own, and waits for the answers. Returns how many were accepted. */
  async publish(order: PublishOrder): Promise<number> {
    const link = await LoadLink.open(this.#broker.endpoints.tcp);
    let answered = 0;
    let accepted = 0;
    let progress: () => void = () => undefined;
    link.handlers = {
      onFrame: (frame) => {
        answered += 1;
        if (frame.command === Command.PublishAck) accepted += 1;
      },
      onRead: () => progress(),
      onFault: () => progress(),
    };
    const payload = '1'.repeat(order.payloadBytes);
    for (let sent = 0; sent < order.count; sent += 1) {
      const id = `${order.idPrefix ?? 'm'}-${sent}`.padEnd(order.idBytes ?? 0, '.');
      link.out.add(encodeFrame({ command: Command.Publish, id, queue: order.queue, payload }));
      while (order.isUnanswered !== true && sent - answered >= UNANSWERED_PUBLISHES) {
        await new Promise<void>((resolve) => {
          progress = resolve;
        });
      }
    }
    const until = performance.now() + (order.isUnanswered === true ? 1500 : 60_000);
    while (answered < order.count && performance.now() < until) await wait(10);
    if (order.isUnanswered === true) this.#links.push(link);
    else link.close();
    return accepted;
  }

  async request(link: LoadLink, fields: Omit<FrameFields, 'id'>): Promise<void> {
    await link.request(fields);
  }

  /** Kills the broker and starts it again with the same data. */
  async restart(): Promise<void> {
    this.#control.close();
    this.disconnectAll();
    await this.#broker.crash();
    await this.#broker.start();
    this.#control = await LoadLink.open(this.#broker.endpoints.tcp);
  }

  #usage(): { readonly rssBytes: number; readonly peakRssBytes?: number } {
    const { processId } = this.#broker;
    const usage = processId === undefined ? undefined : usageOf(processId);
    if (usage === undefined) throw new LoadFault('nothing is known about the process of the broker');
    return usage;
  }
}

async function orClosed(socket: Socket, event: string): Promise<void> {
  if (!socket.destroyed) await Promise.race([once(socket, event), once(socket, 'close')]);
}

/** Subscribes and acknowledges the messages that `accepts` returns true for; the others stay unacknowledged. */
export async function acknowledging(
  link: LoadLink,
  queue: string,
  {
    accepts = () => true,
    window,
  }: { readonly accepts?: (number: number) => boolean; readonly window?: number } = {},
): Promise<{ readonly count: () => number }> {
  let count = 0;
  link.handlers = {
    onFrame: (frame) => {
      if (frame.command !== Command.Deliver) return;
      count += 1;
      if (accepts(count)) link.out.add(encodeFrame({ command: Command.Ack, id: frame.id() }));
    },
  };
  const headers: FrameFields['headers'] = window === undefined ? [] : [['maxInFlight', String(window)]];
  await link.request({ command: Command.Subscribe, queue, headers });
  return { count: () => count };
}
