// The process that publishes for bench-client.ts: `publish-rate.ts bare|client PORT` prints confirmed publishes a second, and the
// processor time of each in microseconds. Uses the built library, because a compiler at run time would slow down what is measured.

import { once } from 'node:events';
import { connect as dial } from 'node:net';
import { runBareLoop } from './bare-loop.ts';

const COUNT = 200_000;
const WARM_UP_COUNT = 100_000;
/** Publishes under way at a time: as many as the client sends by default before it waits for a confirm. */
const WINDOW = 4_096;
const QUEUE = 'bench';
const payload = Buffer.from(JSON.stringify('x'.repeat(1_022)));

type Client = {
  publish(queue: string, value: Buffer): Promise<string>;
  deleteQueue(queue: string): Promise<void>;
  close(): Promise<void>;
};
export type PublishRate = { readonly perSecond: number; readonly cpuUs: number };

type Library = { connect(options: { readonly port: number }): Promise<Client> };

const [kind, portText] = process.argv.slice(2);
const port = Number(portText);
console.log(JSON.stringify(kind === 'bare' ? await measureBare() : await measureClient()));

async function measureBare(): Promise<PublishRate> {
  const socket = dial({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  const options = { socket, queue: QUEUE, payload, window: WINDOW };
  await runBareLoop({ ...options, count: WARM_UP_COUNT });
  const rate = await rateOf(COUNT, () => runBareLoop({ ...options, count: COUNT }));
  socket.destroy();
  return rate;
}

async function measureClient(): Promise<PublishRate> {
  const { connect } = (await import(
    new URL('../../../dist/client/index.js', import.meta.url).href
  )) as Library;
  const client = await connect({ port });
  await publishMany(client, WARM_UP_COUNT);
  const rate = await rateOf(COUNT, () => publishMany(client, COUNT));
  await client.close();
  return rate;
}

async function publishMany(client: Client, count: number): Promise<void> {
  let remaining = count;
  const publishInTurn = async () => {
    while (remaining > 0) {
      remaining -= 1;
      await client.publish(QUEUE, payload);
    }
  };
  await Promise.all(Array.from({ length: WINDOW }, publishInTurn));
  await client.deleteQueue(QUEUE);
}

async function rateOf(count: number, run: () => Promise<void>): Promise<PublishRate> {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return { perSecond: (count / (performance.now() - startedAt)) * 1_000, cpuUs: (user + system) / count };
}
