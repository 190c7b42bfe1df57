// Publishers that get ahead of subscribers: when the core says so, and when not.

import { describe, expect, it } from 'vitest';
import { DeliveryMode } from '../../model/delivery-mode.ts';
import { BrokerHarness, testSettings } from '../../testing/broker-harness.ts';
import { ids } from '../../testing/core-harness.ts';
import { Broker } from '../broker.ts';

const MAX_WAITING = 1024;
const FAST = 32;

/** Without the naive broker beside it, which does not know publishers that are ahead, and is slow with long queues. */
function core(): BrokerHarness {
  return new BrokerHarness(new Broker(testSettings));
}

/** A queue with so many waiting messages behind a full window, of which the oldest delivery has just been acknowledged. */
function backlog(waitingCount: number) {
  const h = core();
  const [publisher, subscriber] = h.connectAll(2);
  h.subscribe(subscriber, 'q', 1);
  h.publishAll(publisher, 'q', ids(waitingCount + 2, 'early'));
  h.advance(1000);
  h.ack(subscriber, 'early1');
  expect(h.waiting('q')).toBe(waitingCount);
  return { h, publisher, subscriber };
}

/** How often the connection is ahead by publishing so many messages. */
function aheadCount(h: BrokerHarness, publisher: number, count: number, prefix = 'm'): number {
  const lines = h.publishAll(publisher, 'q', ids(count, prefix));
  return lines.filter((line) => line === `${publisher}: ahead`).length;
}

describe('a publisher is ahead', () => {
  it('with its 32nd publish behind 1,024 waiting messages, and once [PUBLISH-024]', () => {
    const { h, publisher } = backlog(MAX_WAITING);
    expect(aheadCount(h, publisher, FAST - 1)).toBe(0);
    expect(aheadCount(h, publisher, 1, 'last')).toBe(1);
    expect(aheadCount(h, publisher, 500, 'more')).toBe(0);
  });

  it('again with the next millisecond [PUBLISH-024]', () => {
    const { h, publisher } = backlog(MAX_WAITING);
    expect(aheadCount(h, publisher, FAST)).toBe(1);
    h.advance(1);
    expect(aheadCount(h, publisher, FAST - 1, 'again')).toBe(0);
    expect(aheadCount(h, publisher, 1, 'last')).toBe(1);
  });

  it('while the last ack is at most 5 ms old [PUBLISH-024]', () => {
    const { h, publisher } = backlog(MAX_WAITING);
    h.advance(5);
    expect(aheadCount(h, publisher, FAST)).toBe(1);
  });
});

describe('a publisher is not ahead', () => {
  it('while fewer messages wait [PUBLISH-024]', () => {
    const { h, publisher } = backlog(MAX_WAITING - FAST);
    expect(aheadCount(h, publisher, FAST)).toBe(0);
  });

  it('of subscribers that do not acknowledge [PUBLISH-024]', () => {
    const { h, publisher } = backlog(MAX_WAITING);
    h.advance(6);
    expect(aheadCount(h, publisher, 100)).toBe(0);
  });

  it('when it publishes slowly [PUBLISH-024]', () => {
    const { h, publisher, subscriber } = backlog(MAX_WAITING);
    for (const [index, name] of ids(20, 'slow').entries()) {
      expect(aheadCount(h, publisher, FAST - 1, `${name}-`)).toBe(0);
      h.advance(1);
      h.ack(subscriber, `early${index + 2}`);
    }
  });

  it('when it has subscriptions: its acks may be what is missing [PUBLISH-024]', () => {
    const { h, subscriber } = backlog(MAX_WAITING);
    expect(aheadCount(h, subscriber, 100)).toBe(0);
  });

  it('of one subscriber among others that get every message [PUBLISH-024]', () => {
    const h = core();
    const [publisher, quick, stuck] = h.connectAll(3);
    h.createQueue(publisher, 'q', { mode: DeliveryMode.FanOutWithAck });
    h.subscribe(quick, 'q', 2000);
    h.subscribe(stuck, 'q', 1);
    h.publishAll(publisher, 'q', ids(MAX_WAITING + 100, 'early'));
    h.advance(1000);
    h.ack(quick, 'early1');
    expect(h.waiting('q')).toBe(MAX_WAITING + 99);
    expect(aheadCount(h, publisher, 100)).toBe(0);
  });

  it('in another queue [PUBLISH-024]', () => {
    const { h, publisher } = backlog(MAX_WAITING);
    expect(h.publishAll(publisher, 'other', ids(100))).not.toContain(`${publisher}: ahead`);
  });
});
