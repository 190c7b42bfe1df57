// What the broker keeps in memory: a message that has left its queue is not referenced any more. Looks at what the garbage collector
// leaves, since a counter of the broker cannot show a reference that was forgotten.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { DeliveryMode } from '../model/delivery-mode.ts';
import { OverflowStrategy } from '../model/overflow-strategy.ts';
import { BrokerHarness, testSettings } from '../testing/broker-harness.ts';
import { anyContent } from '../testing/test-content.ts';
import { Broker } from './broker.ts';
import type { MessageContent } from './interface/message-content.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** A broker of which only the broker itself keeps what it was given. */
class ForgetfulHarness {
  readonly h = new BrokerHarness(new Broker(testSettings));
  readonly #contents: WeakRef<MessageContent>[] = [];

  publish(
    connection: number,
    queue: string,
    count: number,
    act: (id: string) => void = () => undefined,
  ): void {
    for (let number = 1; number <= count; number += 1) {
      const id = `${queue}-${this.#contents.length}`;
      const content = anyContent(100);
      this.#contents.push(new WeakRef(content));
      this.h.step({
        kind: 'publish',
        connection,
        token: { words: 'publish', queue },
        queue,
        id,
        priority: 1,
        content,
      });
      act(id);
    }
    this.forget();
  }

  forget(): void {
    this.h.effects.length = 0;
    this.h.records.length = 0;
  }

  /** How many of the contents published so far are still in memory. */
  async contentsInMemory(): Promise<number> {
    this.forget();
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
    return this.#contents.filter((content) => content.deref() !== undefined).length;
  }
}

/** Connection 1 publishes to FanOutWithAck; 2 acknowledges everything, 3 nothing, with a window of 1. */
function withSlowMember(options: { readonly messageTtlMs?: number; readonly maxQueueSize?: number }) {
  const kept = new ForgetfulHarness();
  kept.h.connectAll(3);
  kept.h.createQueue(1, 'q', {
    mode: DeliveryMode.FanOutWithAck,
    overflowStrategy: OverflowStrategy.DropOldest,
    ...options,
  });
  kept.h.subscribe(2, 'q');
  kept.h.subscribe(3, 'q', 1);
  return kept;
}

describe('the broker keeps no message that has left its queue', () => {
  it('when DropOldest took the copies that a member was owed', async () => {
    const kept = withSlowMember({ maxQueueSize: 10 });
    kept.publish(1, 'q', 500, (id) => kept.h.ack(2, id));
    // One in flight to the slow member, ten waiting for it.
    expect(await kept.contentsInMemory()).toBe(11);
  });

  it('when a purge took the copies that a member was owed', async () => {
    const kept = withSlowMember({});
    kept.publish(1, 'q', 2500, (id) => kept.h.ack(2, id));
    kept.h.purgeQueue(1, 'q');
    kept.h.advance(0);
    expect(await kept.contentsInMemory()).toBe(1);
  });

  it('when the copies that a member was owed have expired', async () => {
    const kept = withSlowMember({ messageTtlMs: 1000 });
    kept.publish(1, 'q', 2500, (id) => kept.h.ack(2, id));
    kept.h.advance(1000);
    expect(await kept.contentsInMemory()).toBe(1);
  });
});

describe('the broker keeps no message of a deleted queue', () => {
  it('that had a long TTL', async () => {
    const kept = new ForgetfulHarness();
    const publisher = kept.h.connect();
    kept.h.createQueue(publisher, 'q', { messageTtlMs: 86_400_000 });
    kept.publish(publisher, 'q', 100);
    kept.h.deleteQueue(publisher, 'q');
    expect(await kept.contentsInMemory()).toBe(0);
    expect(kept.h.broker.nextDeadline()).toBeUndefined();
  });

  it('that rested after its connections had ended repeatedly', async () => {
    const kept = new ForgetfulHarness();
    const publisher = kept.h.connect();
    kept.publish(publisher, 'q', 8);
    for (let times = 0; times < 2; times += 1) {
      const subscriber = kept.h.connect();
      kept.h.subscribe(subscriber, 'q');
      kept.h.disconnect(subscriber);
    }
    expect(kept.h.broker.nextDeadline()).toBe(2000);
    kept.h.deleteQueue(publisher, 'q');
    expect(await kept.contentsInMemory()).toBe(0);
    expect(kept.h.broker.nextDeadline()).toBeUndefined();
  });

  it('that was in flight, from the next tick on', async () => {
    const kept = new ForgetfulHarness();
    const [publisher, subscriber] = kept.h.connectAll(2);
    kept.h.subscribe(subscriber, 'q', 3);
    kept.h.subscribe(subscriber, 'other', 3);
    kept.publish(publisher, 'q', 100);
    kept.publish(publisher, 'other', 1);
    kept.h.deleteQueue(publisher, 'q');
    expect(await kept.contentsInMemory()).toBe(4);
    kept.h.advance(0);
    expect(await kept.contentsInMemory()).toBe(1);
    expect(kept.h.broker.stats().inFlightCount).toBe(1);
  });

  it('that was in flight to more members than one step may look at', async () => {
    const kept = new ForgetfulHarness();
    const publisher = kept.h.connect();
    const subscribers = Array.from({ length: 150 }, () => kept.h.connect());
    kept.h.createQueue(publisher, 'q', { mode: DeliveryMode.FanOutWithAck });
    for (const subscriber of subscribers) kept.h.subscribe(subscriber, 'q', 20);
    kept.publish(publisher, 'q', 100);
    kept.h.deleteQueue(publisher, 'q');
    kept.h.advance(0);
    expect(await kept.contentsInMemory()).toBe(0);
    expect(kept.h.broker.nextDeadline()).toBeUndefined();
  });

  it('that a member which does not read was to get again', async () => {
    const kept = new ForgetfulHarness();
    const [publisher, subscriber] = kept.h.connectAll(2);
    kept.h.createQueue(publisher, 'q', { mode: DeliveryMode.FanOutWithAck });
    kept.h.subscribe(subscriber, 'q');
    kept.publish(publisher, 'q', 1);
    kept.h.writable(subscriber, false);
    kept.h.advance(60_000);
    kept.publish(publisher, 'q', 10);
    kept.h.deleteQueue(publisher, 'q');
    kept.h.advance(0);
    expect(await kept.contentsInMemory()).toBe(0);
    kept.publish(publisher, 'q', 1);
    expect(kept.h.waiting('q')).toBe(1);
  });
});
