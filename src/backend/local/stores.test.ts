// The broker over a synchronous and an asynchronous store: clients see the same.

import { describe, expect, it } from 'vitest';
import { delayedStore } from '../../storage/contract/delayed-store.ts';
import { openMemoryStore } from '../../storage/memory/memory-store.ts';
import { ack, ping, publish, subscribe, TestedBroker } from '../../testing/tested-broker.ts';
import type { WireClient } from '../../testing/wire-client.ts';

/** A conversation of two clients, each step as soon as the one before is answered; tells what each was sent. */
async function conversation(tested: TestedBroker): Promise<readonly (readonly string[])[]> {
  const [publisher, subscriber] = [await tested.connect(), await tested.connect()];
  const received: [string[], string[]] = [[], []];
  const expectFrames = async (client: WireClient, index: 0 | 1, total: number) => {
    while (received[index].length < total) {
      await tested.settle();
      received[index].push(...client.lines());
    }
  };
  subscriber.send(subscribe('q'));
  await expectFrames(subscriber, 1, 1);
  for (let round = 1; round <= 5; round += 1) {
    publisher.send(publish('q', `a${round}`), ping(`p${round}`), publish('q', `b${round}`));
    await expectFrames(publisher, 0, 3 * round);
    await expectFrames(subscriber, 1, 1 + 2 * round);
    subscriber.send(ack(`a${round}`), ack(`b${round}`));
  }
  subscriber.send({ command: 24, id: 'u', queue: 'q' });
  await expectFrames(subscriber, 1, 12);
  return received;
}

describe('a broker', () => {
  it('shows its clients the same over a store that is done later [DURABLE-001, DURABLE-002]', async () => {
    const atOnce = new TestedBroker();
    const later = new TestedBroker({}, { store: delayedStore(openMemoryStore()) });
    const seen = await conversation(atOnce);
    expect(await conversation(later)).toEqual(seen);
    expect(seen[1]?.filter((line) => line.startsWith('Deliver')).length).toBe(10);
    expect(later.broker.stats()).toEqual({
      ...atOnce.broker.stats(),
      averageDeliveryLatencyMs: expect.any(Number),
      deliveryLatency: expect.any(Object),
    });
  });
});
