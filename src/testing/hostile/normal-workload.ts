// The process of the normal workload: `normal-workload.ts PORT RATE COUNT`. For each line `go` on stdin it publishes COUNT messages at RATE a
// second to a queue that it subscribes to, acknowledges each, and prints one line of JSON when all were confirmed and received: how long they
// took from publish to delivery.

import { createInterface } from 'node:readline';
import { connect } from '../../client/index.ts';

export type WorkloadResult = {
  readonly confirmedCount: number;
  readonly receivedCount: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
};

const QUEUE = 'normal';
const COMMAND_TIMEOUT_MS = 60_000;

const [port = 0, rate = 0, count = 0] = process.argv.slice(2).map(Number);
const publisher = await connect({ port, commandTimeoutMs: COMMAND_TIMEOUT_MS });
const subscriber = await connect({ port, commandTimeoutMs: COMMAND_TIMEOUT_MS });

const sentAt = new Map<string, number>();
let latencies: number[] = [];
let onReceived: () => void = () => undefined;
await subscriber.subscribe(QUEUE, ({ id }) => {
  const at = sentAt.get(id);
  // A second delivery of a message is no second message.
  if (at === undefined || !sentAt.delete(id)) return;
  latencies.push(performance.now() - at);
  onReceived();
});
console.log('ready');

async function publish(id: string): Promise<void> {
  sentAt.set(id, performance.now());
  await publisher.publish(QUEUE, { text: 'x'.repeat(200) }, { id });
}

async function round(name: number): Promise<WorkloadResult> {
  latencies = [];
  const allReceived = new Promise<void>((resolve) => {
    onReceived = () => {
      if (latencies.length === count) resolve();
    };
  });
  const confirmations: Promise<void>[] = [];
  const startedAt = performance.now();
  await new Promise<void>((resolve) => {
    // As many as are due by now: the rate is kept also when a timer is late.
    const timer = setInterval(() => {
      const dueCount = Math.min(count, Math.ceil(((performance.now() - startedAt) / 1000) * rate));
      while (confirmations.length < dueCount) confirmations.push(publish(`${name}-${confirmations.length}`));
      if (confirmations.length < count) return;
      clearInterval(timer);
      resolve();
    }, 1);
  });
  await Promise.all(confirmations);
  await allReceived;
  const sorted = latencies.sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return {
    confirmedCount: confirmations.length,
    receivedCount: sorted.length,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  };
}

let rounds = 0;
for await (const line of createInterface({ input: process.stdin })) {
  if (line !== 'go') continue;
  rounds += 1;
  console.log(JSON.stringify(await round(rounds)));
}
await publisher.close();
await subscriber.close();
