// One bench: publishes messages through some connections and receives them through others, and measures both. Needs a queue that is empty and nobody
// else's. Uses the client library as any program would.

import { setTimeout as delay } from 'node:timers/promises';
import { type Client, CommandError } from '../../client/index.ts';
import { benchNumber, benchPayload } from './bench-payload.ts';
import { type Latency, latencyOf } from './percentiles.ts';

/** How long a publish that was over the rate limit waits. */
const RATE_LIMIT_PAUSE_MS = 50;

export type BenchPlan = {
  readonly queue: string;
  readonly messageCount: number;
  readonly sizeBytes: number;
  /** Publishes of one connection that may wait for their confirmation at the same time. */
  readonly window: number;
  /** Messages per second, of all connections together; undefined: as many as the broker takes. */
  readonly rate: number | undefined;
};

export type BenchResult = {
  readonly publishedCount: number;
  readonly receivedCount: number;
  /** Publishes that the broker refused because of its rate limit; they were repeated. */
  readonly rateLimitedCount: number;
  readonly publishedPerSecond: number;
  readonly receivedPerSecond: number;
  /** From the call of publish to the broker's confirmation; a repeated publish counts from its first call. */
  readonly confirmLatency: Latency | undefined;
  /** From the call of publish to the call of the subscriber's handler. */
  readonly deliveryLatency: Latency | undefined;
};

export type BenchTools = {
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number;
  /** Ends the bench early. */
  readonly signal: AbortSignal;
};

export class BenchRun {
  readonly #plan: BenchPlan;
  readonly #tools: BenchTools;
  readonly #startedAt: Float64Array;
  readonly #confirmMs: Float64Array;
  readonly #deliveryMs: Float64Array;
  readonly #isReceived: Uint8Array;
  #nextNumber = 0;
  #publishedCount = 0;
  #receivedCount = 0;
  #rateLimitedCount = 0;
  #lastConfirmedAt = 0;
  #lastReceivedAt = 0;
  #allReceived: () => void = () => undefined;

  constructor(plan: BenchPlan, tools: BenchTools) {
    this.#plan = plan;
    this.#tools = tools;
    this.#startedAt = new Float64Array(plan.messageCount);
    this.#confirmMs = new Float64Array(plan.messageCount);
    this.#deliveryMs = new Float64Array(plan.messageCount);
    this.#isReceived = new Uint8Array(plan.messageCount);
  }

  /** Resolves when everything that was published was received, or at the signal. Rejects with ClientError when a connection fails. */
  async run(publishers: readonly Client[], subscribers: readonly Client[]): Promise<BenchResult> {
    const received = new Promise<void>((resolve) => {
      this.#allReceived = resolve;
      if (this.#tools.signal.aborted) resolve();
      else this.#tools.signal.addEventListener('abort', () => resolve());
    });
    for (const client of subscribers)
      await client.subscribe(this.#plan.queue, ({ payload }) => this.#receive(payload));
    const beganAt = this.#tools.now();
    await untilLost(
      [...publishers, ...subscribers],
      this.#tools.signal,
      Promise.all(publishers.map((client) => this.#publishAll(client, beganAt))).then(() => received),
    );
    return this.#result(beganAt);
  }

  async #publishAll(client: Client, beganAt: number): Promise<void> {
    const underWay = new Set<Promise<void>>();
    while (this.#nextNumber < this.#plan.messageCount && !this.#tools.signal.aborted) {
      const number = this.#nextNumber;
      this.#nextNumber += 1;
      await this.#waitForTurn(number, beganAt);
      const publishing = this.#publish(client, number).finally(() => underWay.delete(publishing));
      // Nobody may be waiting for it when it fails; the next wait, or the lost connection, reports the error.
      publishing.catch(() => undefined);
      underWay.add(publishing);
      if (underWay.size >= this.#plan.window) await Promise.race(underWay);
    }
    await Promise.all(underWay);
  }

  /** Keeps the rate: message `number` is not published before its time. */
  async #waitForTurn(number: number, beganAt: number): Promise<void> {
    const { rate } = this.#plan;
    if (rate === undefined) return;
    const waitMs = beganAt + (number / rate) * 1_000 - this.#tools.now();
    if (waitMs >= 1) await this.#pause(waitMs);
  }

  async #publish(client: Client, number: number): Promise<void> {
    const { queue, sizeBytes } = this.#plan;
    this.#startedAt[number] = this.#tools.now();
    while (!this.#tools.signal.aborted) {
      try {
        await client.publish(queue, benchPayload(number, sizeBytes));
        this.#confirm(number);
        return;
      } catch (error) {
        if (!(error instanceof CommandError) || error.code !== 'RATE_LIMITED') throw error;
        this.#rateLimitedCount += 1;
        await this.#pause(RATE_LIMIT_PAUSE_MS);
      }
    }
  }

  async #pause(durationMs: number): Promise<void> {
    await delay(durationMs, undefined, { signal: this.#tools.signal }).catch(() => undefined);
  }

  #confirm(number: number): void {
    this.#lastConfirmedAt = this.#tools.now();
    this.#confirmMs[this.#publishedCount] = this.#lastConfirmedAt - (this.#startedAt[number] ?? 0);
    this.#publishedCount += 1;
  }

  /** A message that comes twice is measured once. */
  #receive(payload: Buffer): void {
    const number = benchNumber(payload);
    if (number === undefined || this.#isReceived[number] !== 0) return;
    this.#isReceived[number] = 1;
    this.#lastReceivedAt = this.#tools.now();
    this.#deliveryMs[this.#receivedCount] = this.#lastReceivedAt - (this.#startedAt[number] ?? 0);
    this.#receivedCount += 1;
    if (this.#receivedCount === this.#plan.messageCount) this.#allReceived();
  }

  #result(beganAt: number): BenchResult {
    return {
      publishedCount: this.#publishedCount,
      receivedCount: this.#receivedCount,
      rateLimitedCount: this.#rateLimitedCount,
      publishedPerSecond: perSecond(this.#publishedCount, this.#lastConfirmedAt - beganAt),
      receivedPerSecond: perSecond(this.#receivedCount, this.#lastReceivedAt - beganAt),
      confirmLatency: latencyOf(this.#confirmMs.subarray(0, this.#publishedCount)),
      deliveryLatency: latencyOf(this.#deliveryMs.subarray(0, this.#receivedCount)),
    };
  }
}

/** `work`, unless a connection ends before: what it waits for would not come. */
async function untilLost(
  clients: readonly Client[],
  signal: AbortSignal,
  work: Promise<void>,
): Promise<void> {
  const lost = clients.map(async ({ closed }) => {
    const { error, reason } = await closed;
    throw error ?? new CommandError('CONNECTION_ENDED', reason ?? 'the broker closed the connection');
  });
  const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  await Promise.race([work, aborted, ...lost]);
}

function perSecond(count: number, durationMs: number): number {
  return durationMs <= 0 ? 0 : Math.round((count * 1_000) / durationMs);
}
