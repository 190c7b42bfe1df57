// The end: nothing goes out any more, acks still come in, and connections are asked to close as they become idle.
// Proves SHUTDOWN where the core is concerned.

import { describe, expect, it } from 'vitest';
import { DeliveryMode } from '../model/delivery-mode.ts';
import { OverflowStrategy } from '../model/overflow-strategy.ts';
import { ids, testCore } from '../testing/core-harness.ts';

describe('draining', () => {
  it('closes idle connections at once and the others with their last ack [SHUTDOWN-006, SHUTDOWN-008]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.subscribe(a, 'q');
    h.publishAll(b, 'q', ids(2));
    expect(h.drain()).toEqual(['2: close']);
    expect(h.ack(a, 'm1')).toEqual([]);
    expect(h.ack(a, 'm2')).toEqual(['1: close']);
  });

  it('waits for no ack of a message whose queue was deleted [SHUTDOWN-012]', () => {
    const h = testCore();
    const a = h.connect();
    h.subscribe(a, 'q');
    h.publish(a, 'q', 'm1');
    h.deleteQueue(a, 'q');
    expect(h.drain()).toEqual(['1: close']);
  });

  it('refuses every command but acks [SHUTDOWN-007]', () => {
    const h = testCore();
    const a = h.connect();
    h.subscribe(a, 'q');
    h.publish(a, 'q', 'm1');
    h.drain();
    const lines = [
      h.publish(a, 'q', 'm2'),
      h.subscribe(a, 'r'),
      h.unsubscribe(a, 'q'),
      h.createQueue(a, 'r'),
      h.deleteQueue(a, 'q'),
      h.queueInfo(a, 'q'),
      h.listQueues(a),
    ].flat();
    expect(lines).toHaveLength(7);
    for (const line of lines) expect(line).toMatch(/^1: .* SHUTTING_DOWN$/);
    expect(h.broker.queueNames()).toEqual(['q']);
    expect(h.barrier(a)).toEqual(['1: barrier ok']);
  });

  it('delivers, retries, unblocks and expires nothing [SHUTDOWN-005]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    const overflowStrategy = OverflowStrategy.BlockPublisher;
    h.createQueue(b, 'q', { maxQueueSize: 2, messageTtlMs: 60_000, overflowStrategy });
    h.subscribe(a, 'q', 2);
    h.publishAll(b, 'q', ids(5));
    h.nack(a, 'm2');
    expect(h.drain()).toEqual(['2: publish q m5 SHUTTING_DOWN', '2: close']);
    expect(h.ack(a, 'm1')).toEqual([]);
    expect(h.advance(3_600_000)).toEqual([]);
    expect(h.waiting('q')).toBe(2);
    expect(h.broker.nextDeadline()).toBeUndefined();
  });

  it('sends no due attempt to a subscriber that reads again [SHUTDOWN-005]', () => {
    const h = testCore();
    const a = h.connect();
    h.createQueue(a, 'q', { mode: DeliveryMode.FanOutWithAck });
    h.subscribe(a, 'q');
    h.publish(a, 'q', 'm1');
    h.writable(a, false);
    h.advance(31_000);
    h.drain();
    expect(h.writable(a, true)).toEqual([]);
    expect(h.ack(a, 'm1')).toEqual(['1: close']);
  });

  it('keeps what is given back, so that nothing is lost [SHUTDOWN-003]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.createQueue(b, 'q', { messageTtlMs: 1000 });
    h.subscribe(a, 'q');
    h.publishAll(b, 'q', ids(2));
    h.drain();
    h.advance(5000);
    expect(h.nack(a, 'm1')).toEqual([]);
    expect(h.disconnect(a)).toEqual([]);
    expect(h.waiting('q')).toBe(2);
  });

  it('asks a connection that comes now to close [SHUTDOWN-008]', () => {
    const h = testCore();
    h.drain();
    h.connect();
    expect(h.effects).toEqual([{ kind: 'close', connection: 1 }]);
  });
});
