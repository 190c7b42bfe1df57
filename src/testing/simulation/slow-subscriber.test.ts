// A subscriber that handles one message at a time, in a second each, with the default settings and a backlog of a thousand: it is never
// sent messages that will time out. In virtual time: 17 minutes of it.

import { describe, expect, it } from 'vitest';
import { loadConfiguration } from '../../config/load.ts';
import { brokerOptions } from '../composed-broker.ts';
import { ack, publish, subscribe, TestedBroker } from '../tested-broker.ts';
import type { ReceivedFrame, WireClient } from '../wire-client.ts';

const BACKLOG = 1000;
const HANDLING_MS = 1000;
const DELIVER = 26;

function defaultBroker(): TestedBroker {
  const machine = { memoryBytes: 8 * 1024 ** 3, heapLimitBytes: 4 * 1024 ** 3, isTerminal: false };
  const { configuration } = loadConfiguration({ flags: new Map(), environment: {}, machine });
  return new TestedBroker(brokerOptions(configuration));
}

async function publishBacklog(bench: TestedBroker): Promise<readonly string[]> {
  const ids = Array.from({ length: BACKLOG }, (_, index) => `m${index}`);
  const publisher = await bench.connect();
  publisher.send(...ids.map((id) => publish('jobs', id)));
  await bench.settle();
  publisher.stream.end();
  await bench.settle();
  return ids;
}

/** Handles what it has received one after the other, and tells in what order, and the most that it held. */
async function handleAll(bench: TestedBroker, subscriber: WireClient) {
  const held: ReceivedFrame[] = [];
  const handled: string[] = [];
  let maxHeld = 0;
  const receive = (): void => {
    held.push(...subscriber.take().filter(({ command }) => command === DELIVER));
    maxHeld = Math.max(maxHeld, held.length);
  };
  receive();
  for (let next = held.shift(); next !== undefined; next = held.shift()) {
    await bench.advance(HANDLING_MS);
    handled.push(next.id);
    subscriber.send(ack(next.id));
    await bench.settle();
    receive();
  }
  return { handled, maxHeld };
}

describe('a subscriber that takes a second for each message', () => {
  it('receives each of a backlog of 1,000 once, in order, and none is discarded [DELIVERY-042]', async () => {
    const bench = defaultBroker();
    const ids = await publishBacklog(bench);
    const subscriber = await bench.connect();
    subscriber.send(subscribe('jobs'));
    await bench.settle();
    const { handled, maxHeld } = await handleAll(bench, subscriber);
    expect(handled).toEqual(ids);
    expect(bench.broker.stats()).toMatchObject({
      publishedCount: BACKLOG,
      deliveredCount: BACKLOG,
      acknowledgedCount: BACKLOG,
      retryCount: 0,
      discardedCount: 0,
      deadLetteredCount: 0,
      inFlightCount: 0,
    });
    expect(maxHeld).toBeLessThan(30);
  });
});
