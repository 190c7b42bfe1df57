// Queues, subscriptions, deliveries in flight and repeats weigh something too: what would need more than maxStructureBytes is refused.

import { describe, expect, it } from 'vitest';
import { DeliveryMode } from '../model/delivery-mode.ts';
import { OverflowStrategy } from '../model/overflow-strategy.ts';
import { BrokerHarness, testSettings } from '../testing/broker-harness.ts';
import { Broker } from './broker.ts';

function harness(maxStructureBytes = 1e9): BrokerHarness {
  return new BrokerHarness(new Broker({ ...testSettings, maxStructureBytes }));
}

function bytes(h: BrokerHarness): number {
  return h.broker.stats().structureBytes;
}

describe('the bytes of structures', () => {
  it('are 0 again when everything has ended [LIMIT-022]', () => {
    const h = harness();
    const [a, b] = h.connectAll(2);
    h.createQueue(a, 'q', {
      mode: DeliveryMode.FanOutWithAck,
      maxQueueSize: 1,
      overflowStrategy: OverflowStrategy.BlockPublisher,
    });
    h.subscribe(a, 'q', 1);
    h.subscribe(b, 'q', 1);
    for (const id of ['m1', 'm2', 'm3', 'm3']) h.publish(a, 'q', id);
    h.publish(b, 'q', 'm3');
    const held = bytes(h);
    h.ack(a, 'm1');
    h.disconnect(b);
    expect(bytes(h)).toBeLessThan(held);
    h.deleteQueue(a, 'q');
    h.advance(1);
    h.unsubscribe(a, 'q');
    expect(bytes(h)).toBe(0);
  });

  it.each([
    ['a queue', (h: BrokerHarness) => h.createQueue(1, 'other')],
    ['a subscription', (h: BrokerHarness) => h.subscribe(2, 'q')],
    ['a delivery', (h: BrokerHarness) => h.publish(1, 'q', 'm2')],
  ])('grow with %s', (_, act) => {
    const h = harness();
    h.connectAll(2);
    h.createQueue(1, 'q');
    h.subscribe(1, 'q');
    const before = bytes(h);
    act(h);
    expect(bytes(h)).toBeGreaterThan(before);
  });
});

describe('a command that needs more than maxStructureBytes', () => {
  it('makes no queue for a subscription that does not fit beside it [PUBLISH-026]', () => {
    const h = harness(1_700);
    const a = h.connect();
    expect(h.subscribe(a, 'q')).toEqual(['1: subscribe q MEMORY_LIMIT']);
    expect(h.broker.queueNames()).toEqual([]);
    expect(h.createQueue(a, 'q')).toEqual(['1: createQueue q ok']);
  });

  it('is refused: a queue, a subscription, and a publish while deliveries take too much [LIMIT-022]', () => {
    const h = harness(3_100);
    const a = h.connect();
    expect(h.createQueue(a, 'q')).toEqual(['1: createQueue q ok']);
    expect(h.createQueue(a, 'r')).toEqual(['1: createQueue r MEMORY_LIMIT']);
    expect(h.subscribe(a, 'q', 100).at(-1)).toBe('1: subscribe q ok');
    const answers = Array.from({ length: 20 }, (_, index) => h.publish(a, 'q', `m${index}`)[0]);
    expect(answers[0]).toBe('1: publish q m0 ok');
    expect(answers.at(-1)).toBe('1: publish q m19 MEMORY_LIMIT');
    h.ack(a, 'm0');
    h.ack(a, 'm1');
    expect(h.publish(a, 'q', 'm20')[0]).toBe('1: publish q m20 ok');
    h.disconnect(a);
    expect(bytes(h)).toBeLessThan(2_200);
  });
});
