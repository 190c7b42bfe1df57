// The process of the normal workload: `normal-workload.ts PORT RATE COUNT [USERNAME PASSWORD]`. For each line `go` on stdin two clients publish COUNT
// messages at RATE a second to a queue that a third subscribes to and acknowledges. Prints one line of JSON when all were confirmed and
// received: how long they took from publish to delivery. Two, because what a late timer makes one client catch up with could exceed its rate.

import { createInterface } from 'node:readline';
import { type Client, connect } from '../../client/index.ts';

export type WorkloadResult = {
  readonly confirmedCount: number;
  readonly receivedCount: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
};

const QUEUE = 'normal';
const COMMAND_TIMEOUT_MS = 60_000;

const [port = 0, rate = 0, count = 0] = process.argv.slice(2).map(Number);

class Workload {
  readonly #publishers: readonly Client[];
  readonly #sentAt = new Map<string, number>();
  #latencies: number[] = [];
  #onReceived: () => void = () => undefined;
  #rounds = 0;

  constructor(publishers: readonly Client[]) {
    this.#publishers = publishers;
  }

  /** A second delivery of a message is no second message. */
  received(id: string): void {
    const at = this.#sentAt.get(id);
    if (at === undefined || !this.#sentAt.delete(id)) return;
    this.#latencies.push(performance.now() - at);
    this.#onReceived();
  }

  async round(): Promise<WorkloadResult> {
    this.#latencies = [];
    this.#rounds += 1;
    const allReceived = new Promise<void>((resolve) => {
      this.#onReceived = () => {
        if (this.#latencies.length === count) resolve();
      };
    });
    const confirmations = await this.#publishAll();
    await Promise.all(confirmations);
    await allReceived;
    const sorted = this.#latencies.sort((a, b) => a - b);
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    return {
      confirmedCount: confirmations.length,
      receivedCount: sorted.length,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
    };
  }

  /** As many at a time as are due: the rate is kept also when a timer is late. Resolves when the last one is sent. */
  #publishAll(): Promise<readonly Promise<void>[]> {
    const confirmations: Promise<void>[] = [];
    const startedAt = performance.now();
    return new Promise((resolve) => {
      const timer = setInterval(() => {
        const dueCount = Math.min(count, Math.ceil(((performance.now() - startedAt) / 1000) * rate));
        while (confirmations.length < dueCount) {
          confirmations.push(this.#publish(confirmations.length));
        }
        if (confirmations.length < count) return;
        clearInterval(timer);
        resolve(confirmations);
      }, 1);
    });
  }

  async #publish(index: number): Promise<void> {
    const id = `${this.#rounds}-${index}`;
    this.#sentAt.set(id, performance.now());
    const publisher = this.#publishers[index % this.#publishers.length];
    await publisher?.publish(QUEUE, { text: 'x'.repeat(200) }, { id });
  }
}

const [username, password] = process.argv.slice(5);
const credentials = username === undefined || password === undefined ? {} : { username, password };
const options = { port, commandTimeoutMs: COMMAND_TIMEOUT_MS, reconnect: false, ...credentials } as const;
const publishers = [await connect(options), await connect(options)];
const subscriber = await connect(options);
const workload = new Workload(publishers);
await subscriber.subscribe(QUEUE, ({ id }) => workload.received(id));
console.log('ready');
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'go') console.log(JSON.stringify(await workload.round()));
}
for (const publisher of publishers) await publisher.close();
await subscriber.close();
