// How much a subscriber of a queue without acknowledgments is sent at once, where no window bounds it.

import { describe, expect, it } from 'vitest';
import { BrokerHarness, testSettings } from '../testing/broker-harness.ts';
import { Broker } from './broker.ts';
import { DeliveryMode, defaultQueueOptions } from './queue-options.ts';

/** A broker whose connections take three messages of 100 bytes at once, and five of them waiting in queue q. */
function fiveWaiting(): BrokerHarness {
  const settings = { ...testSettings, maxBurstBytes: 3 * (100 + 256) };
  const h = new BrokerHarness(new Broker(settings));
  h.connect();
  h.connect();
  h.connect();
  h.createQueue(1, 'q', { ...defaultQueueOptions, mode: DeliveryMode.FanOutWithoutAck });
  for (const id of ['m1', 'm2', 'm3', 'm4', 'm5']) h.publish(1, 'q', id, { byteLength: 100 });
  return h;
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

  it('of one subscriber keeps nothing from another [DELIVERY-027]', () => {
    const h = fiveWaiting();
    h.subscribe(2, 'q');
    expect(delivered(h.subscribe(3, 'q'), 3)).toEqual(['m4', 'm5']);
  });
});
