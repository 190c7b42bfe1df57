// The window of unacknowledged messages: where it starts, what widens and narrows it, its limits. Proves DELIVERY (window).

import { describe, expect, it } from 'vitest';
import type { BrokerHarness } from '../../testing/broker-harness.ts';
import { ids, testCore } from '../../testing/core-harness.ts';

/** A core with `count` messages in queue q and one subscriber to it, connection 1. */
function withBacklog(
  count: number,
  settings: { maxInFlightPerSubscriber?: number } = {},
  asked?: number,
): BrokerHarness {
  const h = testCore(settings);
  const a = h.connect();
  h.publishAll(h.connect(), 'q', ids(count));
  h.subscribe(a, 'q', asked);
  return h;
}

function inFlight(h: BrokerHarness): number {
  return h.broker.stats().inFlightCount;
}

describe('the window', () => {
  it('starts at 8 [DELIVERY-042]', () => {
    expect(inFlight(withBacklog(20))).toBe(8);
  });

  it('starts lower where the limit is lower [DELIVERY-045]', () => {
    expect(inFlight(withBacklog(20, { maxInFlightPerSubscriber: 3 }))).toBe(3);
  });

  it('grows by one for an ack within a quarter of the ack timeout [DELIVERY-043]', () => {
    const h = withBacklog(20);
    h.advance(7500);
    expect(h.ack(1, 'm1')).toEqual(['1 <- q m9', '1 <- q m10']);
    expect(inFlight(h)).toBe(9);
  });

  it('does not grow for a later ack [DELIVERY-043]', () => {
    const h = withBacklog(20);
    h.advance(7501);
    expect(h.ack(1, 'm1')).toEqual(['1 <- q m9']);
    expect(inFlight(h)).toBe(8);
  });

  it('grows no further than the limit [DELIVERY-045]', () => {
    const h = withBacklog(40, { maxInFlightPerSubscriber: 10 });
    for (const id of ids(6)) h.ack(1, id);
    expect(inFlight(h)).toBe(10);
  });

  it('halves at each ack timeout, down to 1 [DELIVERY-044]', () => {
    const h = testCore();
    const a = h.connect();
    h.subscribe(a, 'q');
    h.publish(a, 'q', 'm1');
    h.advance(30_000);
    h.publishAll(a, 'q', ids(9, 'n'));
    // 8 halved is 4, and m1 in its pause has one of the places.
    expect(inFlight(h)).toBe(4);
    for (const id of ['n1', 'n2', 'n3']) h.nack(a, id, 'DeserializationError');
    expect(inFlight(h)).toBe(4);
  });

  it('of 1 lets one message out at a time after many timeouts [DELIVERY-044]', () => {
    const h = withBacklog(20);
    h.advance(30_000);
    for (const id of ids(8)) h.ack(1, id);
    expect(inFlight(h)).toBe(1);
    expect(h.waiting('q')).toBe(11);
  });

  it('is what the subscriber asked for, neither growing nor shrinking [DELIVERY-046]', () => {
    const h = withBacklog(20, {}, 2);
    expect(h.ack(1, 'm1')).toEqual(['1 <- q m3']);
    h.advance(30_000);
    h.ack(1, 'm2');
    h.ack(1, 'm3');
    expect(inFlight(h)).toBe(2);
  });

  it.each([
    [0, 1],
    [-5, 1],
    [99, 10],
  ])('asked for as %i is %i where the limit is 10 [DELIVERY-046]', (asked, expected) => {
    expect(inFlight(withBacklog(20, { maxInFlightPerSubscriber: 10 }, asked))).toBe(expected);
  });

  it('keeps a place for a message in the pause before its next attempt [DELIVERY-004]', () => {
    const h = withBacklog(3, {}, 1);
    h.nack(1, 'm1');
    expect(h.waiting('q')).toBe(2);
    expect(h.advance(1000)).toEqual(['1 <- q m1 (attempt 2)']);
  });

  it('does not count what an ended subscription still has', () => {
    const h = withBacklog(3, {}, 1);
    h.unsubscribe(1, 'q');
    expect(h.subscribe(1, 'q', 1)).toEqual(['1: subscribe q ok', '1 <- q m2']);
  });
});
