// How much a subscriber of a queue without acknowledgments is sent at once, where no window bounds it.

import { describe, expect, it } from 'vitest';
import { DeliveryMode } from '../../model/delivery-mode.ts';
import { OverflowStrategy } from '../../model/overflow-strategy.ts';
import { defaultQueueOptions, type QueueOptions } from '../../model/queue-options.ts';
import { BrokerHarness, testSettings } from '../../testing/broker-harness.ts';
import { Broker } from '../broker.ts';

/** A broker whose connections take three messages of 100 bytes at once, and five of them waiting in queue q. */
function fiveWaiting(options: Partial<QueueOptions> = {}): BrokerHarness {
  return fiveWaitingAt(options).h;
}

function fiveWaitingAt(options: Partial<QueueOptions> = {}) {
  const settings = { ...testSettings, maxBurstBytes: 3 * (100 + 384) };
  const broker = new Broker(settings);
  const h = new BrokerHarness(broker);
  h.connect();
  h.connect();
  h.connect();
  h.createQueue(1, 'q', { ...defaultQueueOptions, mode: DeliveryMode.FanOutWithoutAck, ...options });
  for (const id of ['m1', 'm2', 'm3', 'm4', 'm5']) h.publish(1, 'q', id, { byteLength: 100 });
  return { h, broker };
}

/** The ids that are delivered to the connection by these effects. */
function delivered(effects: readonly string[], connection: number): string[] {
  return effects
    .filter((line) => line.startsWith(`${connection} <- q `))
    .map((line) => line.split(' ')[3] ?? '');
}

describe('a burst without acknowledgments', () => {
  it('ends when the connection has its fill, and says so', () => {
    const effects = fiveWaiting().subscribe(2, 'q');
    expect(delivered(effects, 2)).toEqual(['m1', 'm2', 'm3']);
    expect(effects.at(-1)).toBe('2: saturated');
  });

  it('goes on when the connection takes more', () => {
    const h = fiveWaiting();
    h.subscribe(2, 'q');
    expect(delivered(h.writable(2, true), 2)).toEqual(['m4', 'm5']);
  });

  it('counts anew after the connection has said that it takes more', () => {
    const h = fiveWaiting();
    h.subscribe(2, 'q');
    h.writable(2, true);
    expect(delivered(h.publish(1, 'q', 'm6', { byteLength: 100 }), 2)).toEqual(['m6']);
    expect(delivered(h.publish(1, 'q', 'm7', { byteLength: 100 }), 2)).toEqual([]);
  });

  it('counts anew when what was sent has been written, so that nobody who drains misses anything [DELIVERY-024]', () => {
    const { h, broker } = fiveWaitingAt();
    h.subscribe(2, 'q');
    h.writable(2, true);
    for (let number = 6; number < 20; number += 1) {
      broker.written();
      expect(delivered(h.publish(1, 'q', `m${number}`, { byteLength: 100 }), 2)).toEqual([`m${number}`]);
    }
    expect(broker.stats().discardedCount).toBe(0);
  });

  it('holds the messages for all until it is known whether the connection takes more', () => {
    const h = fiveWaiting();
    h.subscribe(2, 'q');
    expect(delivered(h.subscribe(3, 'q'), 3)).toEqual([]);
    const effects = h.writable(2, true);
    expect([delivered(effects, 2), delivered(effects, 3)]).toEqual([
      ['m4', 'm5'],
      ['m4', 'm5'],
    ]);
  });

  it('of one subscriber that does not drain keeps nothing from another [DELIVERY-027]', () => {
    const h = fiveWaiting();
    h.subscribe(2, 'q');
    h.subscribe(3, 'q');
    const effects = h.writable(2, false);
    expect([delivered(effects, 2), delivered(effects, 3)]).toEqual([[], ['m4', 'm5']]);
    expect(h.broker.stats().discardedCount).toBe(2);
  });

  it('holds nothing any more when its connection ends', () => {
    const h = fiveWaiting();
    h.subscribe(2, 'q');
    h.subscribe(3, 'q');
    expect(delivered(h.disconnect(2), 3)).toEqual(['m4', 'm5']);
  });

  it('holds what comes while the queue is full, as it does without a subscriber', () => {
    const h = fiveWaiting({ maxQueueSize: 5, overflowStrategy: OverflowStrategy.DropNewest });
    h.subscribe(2, 'q');
    for (const id of ['n1', 'n2', 'n3']) h.publish(1, 'q', id, { byteLength: 100 });
    expect(h.publish(1, 'q', 'n4', { byteLength: 100 })).toEqual(['1: publish q n4 QUEUE_FULL']);
  });
});
