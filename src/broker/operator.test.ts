// What the operator asks about single messages: looks that change nothing, the removal of one, and a dead letter back in its source queue.
// Proves DASH on the core's side.

import { describe, expect, it } from 'vitest';
import { DeliveryMode } from '../model/delivery-mode.ts';
import { OverflowStrategy } from '../model/overflow-strategy.ts';
import { Priority } from '../model/priority.ts';
import { ids, testCore } from '../testing/core-harness.ts';

describe('a list of messages', () => {
  it('shows a page of what waits and leaves it in the queue [DASH-008, DASH-010]', () => {
    const h = testCore();
    const a = h.connect();
    for (const id of ids(5)) h.publish(a, 'q', id);
    expect(h.listMessages(a, 'q', { offset: 1, limit: 3 })).toEqual(['1: listMessages q [m2, m3, m4]']);
    expect(h.listMessages(a, 'q', { offset: 4 })).toEqual(['1: listMessages q [m5]']);
    expect(h.listMessages(a, 'q', { offset: 5 })).toEqual(['1: listMessages q []']);
    expect(h.subscribe(a, 'q')).toEqual(['1: subscribe q ok', ...ids(5).map((id) => `1 <- q ${id}`)]);
  });

  it('is in the order of sending: by priority where that decides [DASH-008, DASH-010]', () => {
    const h = testCore();
    const a = h.connect();
    h.createQueue(a, 'q', { mode: DeliveryMode.PriorityBased });
    h.publish(a, 'q', 'low', { priority: Priority.Low });
    h.publish(a, 'q', 'high', { priority: Priority.High });
    h.publish(a, 'q', 'low-too', { priority: Priority.Low });
    expect(h.listMessages(a, 'q')).toEqual(['1: listMessages q [high, low, low-too]']);
    expect(h.listMessages(a, 'q', { offset: 1 })).toEqual(['1: listMessages q [low, low-too]']);
  });

  it('has messages that came back in their old places', () => {
    const h = testCore();
    const [a, b, c] = h.connectAll(3);
    h.subscribe(a, 'q', 2);
    h.subscribe(b, 'q', 2);
    for (const id of ids(6)) h.publish(c, 'q', id);
    h.disconnect(b);
    h.disconnect(a);
    expect(h.listMessages(c, 'q')).toEqual([
      '3: listMessages q [m1 (sent 1 times), m2 (sent 1 times), m3 (sent 1 times), m4 (sent 1 times), m5, m6]',
    ]);
  });

  it('ends when its messages weigh more than it may have', () => {
    const h = testCore();
    const a = h.connect();
    for (const id of ids(4)) h.publish(a, 'q', id, { byteLength: 100 });
    expect(h.listMessages(a, 'q', { maxBytes: 150 })).toEqual(['1: listMessages q [m1, m2]']);
    expect(h.listMessages(a, 'q', { maxBytes: 0 })).toEqual(['1: listMessages q [m1]']);
  });

  it.each([0, 3_600_000, -3_600_000])(
    'shows when a message was accepted, also after the wall clock was set by %i ms [DASH-041]',
    (wallShift) => {
      const h = testCore();
      const a = h.connect();
      const publishedAt = h.wallNow;
      h.publish(a, 'q', 'm1');
      h.wallShift = wallShift;
      h.advance(5_000);
      h.readMessage(a, 'q', 'm1');
      expect(h.effects.at(-1)).toMatchObject({
        operatorResult: { message: { id: 'm1', queue: 'q', acceptedWallAt: publishedAt, isInFlight: false } },
      });
    },
  );
});

describe('a look at one message', () => {
  it('finds what waits and what is in flight [DASH-015]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.subscribe(a, 'q', 1);
    for (const id of ids(2)) h.publish(b, 'q', id);
    expect(h.readMessage(b, 'q', 'm1')).toEqual(['2: readMessage q m1 m1 (in flight, sent 1 times)']);
    expect(h.readMessage(b, 'q', 'm2')).toEqual(['2: readMessage q m2 m2']);
    expect(h.readMessage(b, 'q', 'm3')).toEqual(['2: readMessage q m3 no such message']);
    h.nack(a, 'm1');
    expect(h.readMessage(b, 'q', 'm1')).toEqual(['2: readMessage q m1 m1 (in flight, sent 1 times)']);
  });

  it('finds a dead letter that waits, and one in flight', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    deadLetter(h, a, 'm1');
    expect(h.readMessage(b, 'q.dlq', 'm1')).toEqual(['2: readMessage q.dlq m1 m1']);
    h.subscribe(b, 'q.dlq');
    expect(h.readMessage(b, 'q.dlq', 'm1')).toEqual(['2: readMessage q.dlq m1 m1 (in flight, sent 1 times)']);
  });

  it('says that a queue does not exist', () => {
    const h = testCore();
    const a = h.connect();
    expect(h.readMessage(a, 'q', 'm1')).toEqual(['1: readMessage q m1 QUEUE_NOT_FOUND']);
    expect(h.listMessages(a, 'q')).toEqual(['1: listMessages q QUEUE_NOT_FOUND']);
    expect(h.removeMessage(a, 'q', 'm1')).toEqual(['1: removeMessage q m1 QUEUE_NOT_FOUND']);
    expect(h.requeueMessage(a, 'q', 'm1')).toEqual(['1: requeueMessage q m1 QUEUE_NOT_FOUND']);
  });
});

describe('of a dead letter and a message that was published with its id', () => {
  /** Whether a look at it shows a dead letter. */
  function isLetter(h: ReturnType<typeof testCore>, who: number): boolean {
    h.readMessage(who, 'q.dlq', 'm1');
    const effect = h.effects.at(-1);
    if (effect?.kind !== 'answered' || effect.operatorResult?.kind !== 'message')
      throw new Error('no message');
    return effect.operatorResult.message?.deadLetter !== undefined;
  }

  function withBoth(isLetterFirst: boolean) {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    if (!isLetterFirst) h.publish(a, 'q.dlq', 'm1');
    deadLetter(h, a, 'm1');
    if (isLetterFirst) h.publish(a, 'q.dlq', 'm1');
    return { h, a, b };
  }

  it.each([true, false])(
    'the one that came first is shown and removed: a dead letter first %s',
    (isLetterFirst) => {
      const { h, b } = withBoth(isLetterFirst);
      expect(h.waiting('q.dlq')).toBe(2);
      expect(isLetter(h, b)).toBe(isLetterFirst);
      h.removeMessage(b, 'q.dlq', 'm1');
      expect(isLetter(h, b)).toBe(!isLetterFirst);
    },
  );

  it.each([true, false])(
    'the one that came first is shown while both are in flight: a dead letter first %s',
    (isLetterFirst) => {
      const { h, a, b } = withBoth(isLetterFirst);
      h.subscribe(b, 'q.dlq');
      expect(isLetter(h, a)).toBe(isLetterFirst);
      expect(h.requeueMessage(a, 'q.dlq', 'm1')).toEqual(['1: requeueMessage q.dlq m1 inFlight']);
    },
  );
});

describe('of dead letters of several queues with one id', () => {
  function withLetters() {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    for (const queue of ['one', 'two', 'one']) deadLetterIn(h, a, queue, 'm1');
    return { h, a, b };
  }

  /** The queue that the message which a look finds comes from; undefined: none is found. */
  function sourceFound(h: ReturnType<typeof testCore>, who: number, source: string): string | undefined {
    h.readMessage(who, 'dead', 'm1', source);
    const effect = h.effects.at(-1);
    if (effect?.kind !== 'answered' || effect.operatorResult?.kind !== 'message')
      throw new Error('no answer');
    return effect.operatorResult.message?.deadLetter?.source;
  }

  it('the one of a queue is found and removed, waiting or in flight, and no other [DASH-039]', () => {
    const { h, a, b } = withLetters();
    expect(sourceFound(h, b, 'two')).toBe('two');
    expect(h.removeMessage(b, 'dead', 'm1', 'two')).toEqual(['2: removeMessage dead m1 ok']);
    expect(h.removeMessage(b, 'dead', 'm1', 'two')).toEqual(['2: removeMessage dead m1 no such message']);
    expect([sourceFound(h, b, 'two'), sourceFound(h, b, 'one')]).toEqual([undefined, 'one']);
    expect(h.waiting('dead')).toBe(2);
    h.subscribe(a, 'dead');
    expect([sourceFound(h, b, 'two'), sourceFound(h, b, 'one')]).toEqual([undefined, 'one']);
    expect(h.removeMessage(b, 'dead', 'm1', 'one')).toEqual(['2: removeMessage dead m1 no such message']);
  });

  it('a message that was published with the id comes from none of them [DASH-039]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.publish(a, 'dead', 'm1');
    deadLetterIn(h, a, 'one', 'm1');
    expect(sourceFound(h, b, 'one')).toBe('one');
    expect(sourceFound(h, b, 'dead')).toBeUndefined();
    expect(h.removeMessage(b, 'dead', 'm1', 'dead')).toEqual(['2: removeMessage dead m1 no such message']);
    expect(h.removeMessage(b, 'dead', 'm1', 'one')).toEqual(['2: removeMessage dead m1 ok']);
    h.subscribe(b, 'dead');
    expect(sourceFound(h, b, 'dead')).toBeUndefined();
  });
});

describe('the largest queues', () => {
  it('come first, with the sum over all queues', () => {
    const h = testCore();
    const a = h.connect();
    for (let number = 1; number <= 9; number += 1) h.publishAll(a, `q${number}`, ids(number % 5));
    const shown = (limit: number) =>
      h.broker.largestQueues(limit).queues.map(({ name, messageCount }) => [name, messageCount]);
    expect(shown(3)).toEqual([
      ['q4', 4],
      ['q9', 4],
      ['q3', 3],
    ]);
    expect(shown(1)).toEqual([['q4', 4]]);
    expect(h.broker.largestQueues(1).waitingCount).toBe(20);
  });

  it('are none where there is no queue', () => {
    const h = testCore();
    expect(h.broker.largestQueues(3)).toEqual({ queues: [], waitingCount: 0 });
  });
});

describe('the removal of one message', () => {
  it('takes it from any place of the queue, once [DASH-016]', () => {
    const h = testCore();
    const a = h.connect();
    for (const id of ids(3)) h.publish(a, 'q', id);
    expect(h.removeMessage(a, 'q', 'm2')).toEqual(['1: removeMessage q m2 ok']);
    expect(h.removeMessage(a, 'q', 'm2')).toEqual(['1: removeMessage q m2 no such message']);
    expect(h.subscribe(a, 'q')).toEqual(['1: subscribe q ok', '1 <- q m1', '1 <- q m3']);
    expect(h.broker.stats()).toMatchObject({ purgedCount: 1, discardedCount: 0 });
  });

  it('leaves a message in flight alone [DASH-017]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.subscribe(a, 'q');
    h.publish(b, 'q', 'm1');
    expect(h.removeMessage(b, 'q', 'm1')).toEqual(['2: removeMessage q m1 no such message']);
    h.ack(a, 'm1');
    expect(h.broker.stats()).toMatchObject({ acknowledgedCount: 1, purgedCount: 0 });
  });

  it('makes room for a publisher that waits for it', () => {
    const h = testCore();
    const a = h.connect();
    h.createQueue(a, 'q', { maxQueueSize: 2, overflowStrategy: OverflowStrategy.BlockPublisher });
    for (const id of ids(3)) h.publish(a, 'q', id);
    expect(h.removeMessage(a, 'q', 'm2')).toEqual(['1: removeMessage q m2 ok', '1: publish q m3 ok']);
  });

  it('takes the copies that were not sent yet, of a message that is not the oldest too', () => {
    const h = testCore();
    const [a, b, c] = h.connectAll(3);
    h.createQueue(c, 'q', { mode: DeliveryMode.FanOutWithAck });
    h.subscribe(a, 'q', 9);
    h.subscribe(b, 'q', 1);
    for (const id of ids(3)) h.publish(c, 'q', id);
    expect(h.removeMessage(c, 'q', 'm3')).toEqual(['3: removeMessage q m3 ok']);
    expect(h.ack(b, 'm1')).toEqual(['2 <- q m2']);
    expect(h.ack(b, 'm2')).toEqual([]);
  });
});

describe('a requeue', () => {
  it('moves a dead letter to the end of its source queue, as a new message, at once [DASH-032, DASH-033]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    deadLetter(h, a, 'm1');
    h.publish(a, 'q', 'm2');
    h.advance(10_000);
    const requeuedAt = h.wallNow;
    const before = h.records.length;
    expect(h.requeueMessage(b, 'q.dlq', 'm1')).toEqual(['2: requeueMessage q.dlq m1 requeued']);
    expect(h.records.slice(before)).toMatchObject([
      { kind: 'messageRemoved' },
      { kind: 'messageAdded', id: 'm1', acceptedWallAt: requeuedAt },
    ]);
    expect(h.records.at(-1)).not.toHaveProperty('deadLetter');
    expect([h.waiting('q'), h.waiting('q.dlq')]).toEqual([2, 0]);
    expect(h.subscribe(b, 'q')).toEqual(['2: subscribe q ok', '2 <- q m2', '2 <- q m1']);
    expect(h.broker.stats()).toMatchObject({ requeuedCount: 1, publishedCount: 2, purgedCount: 0 });
  });

  it('starts the age of the message anew [DASH-033]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.createQueue(a, 'q', { messageTtlMs: 1000, enableDeadLetterQueue: true });
    h.subscribe(a, 'q');
    h.publish(b, 'q', 'm1');
    h.nack(a, 'm1', 'DeserializationError');
    h.unsubscribe(a, 'q');
    h.advance(1500);
    h.requeueMessage(b, 'q.dlq', 'm1');
    expect(h.subscribe(b, 'q')).toEqual(['2: subscribe q ok', '2 <- q m1']);
  });

  it('keeps the priority of the message [DELIVERY-031]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    const options = { mode: DeliveryMode.PriorityBased, enableDeadLetterQueue: true };
    h.createQueue(a, 'q', options);
    h.subscribe(a, 'q', 2);
    h.publish(b, 'q', 'low', { priority: Priority.Low });
    h.publish(b, 'q', 'high', { priority: Priority.High });
    for (const id of ['low', 'high']) h.nack(a, id, 'DeserializationError');
    h.unsubscribe(a, 'q');
    for (const id of ['low', 'high']) h.requeueMessage(b, 'q.dlq', id);
    expect(h.listMessages(b, 'q')).toEqual(['2: listMessages q [high, low]']);
  });

  it('sets its failed attempts to 0 [DASH-033]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.createQueue(a, 'q', { enableDeadLetterQueue: true, maxRetryAttempts: 2 });
    h.subscribe(a, 'q');
    h.publish(b, 'q', 'm1');
    h.advance(200_000);
    expect(h.waiting('q.dlq')).toBe(1);
    h.requeueMessage(b, 'q.dlq', 'm1');
    h.nack(a, 'm1');
    expect(h.advance(1000)).toEqual(['1 <- q m1 (attempt 2)']);
  });

  it('is refused when that id is in flight in the source [DASH-034]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    deadLetter(h, a, 'm1');
    h.subscribe(a, 'q');
    h.publish(a, 'q', 'm1');
    expect(h.requeueMessage(b, 'q.dlq', 'm1')).toEqual(['2: requeueMessage q.dlq m1 idInSource']);
  });

  it('is refused when a dead letter with that id waits or is in flight in the source [DASH-034]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.createQueue(a, 'dead', { enableDeadLetterQueue: true, deadLetterQueueName: 'last' });
    h.subscribe(a, 'dead');
    h.publish(a, 'dead', 'm1');
    h.nack(a, 'm1', 'DeserializationError');
    h.unsubscribe(a, 'dead');
    deadLetterIn(h, a, 'one', 'm1');
    expect(h.requeueMessage(b, 'last', 'm1')).toEqual(['2: requeueMessage last m1 idInSource']);
    h.subscribe(a, 'dead');
    expect(h.requeueMessage(b, 'last', 'm1')).toEqual(['2: requeueMessage last m1 idInSource']);
    h.ack(a, 'm1');
    expect(h.requeueMessage(b, 'last', 'm1')).toContain('2: requeueMessage last m1 requeued');
  });

  it('gives the message all its attempts again, and it may be dead-lettered again', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    deadLetter(h, a, 'm1');
    h.requeueMessage(b, 'q.dlq', 'm1');
    h.subscribe(a, 'q');
    expect(h.nack(a, 'm1', 'DeserializationError')).toEqual([]);
    expect(h.waiting('q.dlq')).toBe(1);
    expect(h.broker.stats()).toMatchObject({ deadLetteredCount: 2, retryCount: 0 });
  });

  it('finds the dead letter beside a message that was published to its queue with the same id [DASH-032]', () => {
    for (const isLetterFirst of [true, false]) {
      const h = testCore();
      const [a, b] = h.connectAll(2);
      if (!isLetterFirst) h.publish(a, 'q.dlq', 'm1', { byteLength: 7 });
      deadLetter(h, a, 'm1');
      if (isLetterFirst) h.publish(a, 'q.dlq', 'm1', { byteLength: 7 });
      expect(h.requeueMessage(b, 'q.dlq', 'm1')).toEqual(['2: requeueMessage q.dlq m1 requeued']);
      expect([h.waiting('q'), h.waiting('q.dlq')]).toEqual([1, 1]);
      expect(h.requeueMessage(b, 'q.dlq', 'm1')).toEqual(['2: requeueMessage q.dlq m1 notDeadLetter']);
      h.readMessage(b, 'q.dlq', 'm1');
      expect(h.effects.at(-1)).toMatchObject({ operatorResult: { message: { content: { byteLength: 7 } } } });
    }
  });

  it('with a source moves the oldest dead letter of that queue, and none of another [DASH-032]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    for (const queue of ['one', 'two', 'one']) deadLetterIn(h, a, queue, 'm1');
    expect(h.requeueMessage(b, 'dead', 'm1', 'two')).toEqual(['2: requeueMessage dead m1 requeued']);
    expect([h.waiting('one'), h.waiting('two'), h.waiting('dead')]).toEqual([0, 1, 2]);
    expect(h.requeueMessage(b, 'dead', 'm1', 'two')).toEqual(['2: requeueMessage dead m1 messageNotFound']);
    h.publish(a, 'dead', 'm1');
    expect(h.requeueMessage(b, 'dead', 'm1', 'two')).toEqual(['2: requeueMessage dead m1 notDeadLetter']);
    expect(h.requeueMessage(b, 'dead', 'm1', 'one')).toEqual(['2: requeueMessage dead m1 requeued']);
    h.subscribe(b, 'dead');
    expect(h.requeueMessage(b, 'dead', 'm1', 'one')).toEqual(['2: requeueMessage dead m1 inFlight']);
    expect(h.requeueMessage(b, 'dead', 'm1', 'two')).toEqual(['2: requeueMessage dead m1 notDeadLetter']);
  });

  it('is refused when the source is gone, full, or has that id [DASH-034]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    deadLetter(h, a, 'm1', 1);
    h.publish(a, 'q', 'm2');
    expect(h.requeueMessage(b, 'q.dlq', 'm1')).toEqual(['2: requeueMessage q.dlq m1 sourceFull']);
    h.purgeQueue(a, 'q');
    h.publish(a, 'q', 'm1');
    expect(h.requeueMessage(b, 'q.dlq', 'm1')).toEqual(['2: requeueMessage q.dlq m1 idInSource']);
    h.deleteQueue(a, 'q');
    expect(h.requeueMessage(b, 'q.dlq', 'm1')).toEqual(['2: requeueMessage q.dlq m1 sourceNotFound']);
    expect(h.waiting('q.dlq')).toBe(1);
  });

  it('is refused when it would not fit with the name of the dead letter queue that the source has by now [FRAME-018]', () => {
    const h = testCore({ maxContentBytes: 104 });
    const [a, b] = h.connectAll(2);
    deadLetter(h, a, 'm1');
    h.deleteQueue(a, 'q');
    h.createQueue(a, 'q', { enableDeadLetterQueue: true, deadLetterQueueName: 'letters' });
    expect(h.requeueMessage(b, 'q.dlq', 'm1')).toEqual(['2: requeueMessage q.dlq m1 tooLarge']);
    expect(h.waiting('q.dlq')).toBe(1);
  });

  it('is refused for what is no dead letter, is in flight, or does not exist [DASH-034]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    deadLetter(h, a, 'm1');
    h.publish(a, 'q.dlq', 'm2');
    expect(h.requeueMessage(b, 'q.dlq', 'm2')).toEqual(['2: requeueMessage q.dlq m2 notDeadLetter']);
    expect(h.requeueMessage(b, 'q.dlq', 'm3')).toEqual(['2: requeueMessage q.dlq m3 messageNotFound']);
    h.subscribe(b, 'q.dlq');
    expect(h.requeueMessage(b, 'q.dlq', 'm1')).toEqual(['2: requeueMessage q.dlq m1 inFlight']);
  });
});

it('refuses everything while the broker drains', () => {
  const h = testCore();
  const [a, b] = h.connectAll(2);
  deadLetter(h, a, 'm1');
  h.drain();
  expect(h.removeMessage(b, 'q.dlq', 'm1')).toEqual(['2: removeMessage q.dlq m1 SHUTTING_DOWN']);
  expect(h.requeueMessage(b, 'q.dlq', 'm1')).toEqual(['2: requeueMessage q.dlq m1 SHUTTING_DOWN']);
});

/** Makes a dead letter of this queue in `dead`. */
function deadLetterIn(h: ReturnType<typeof testCore>, who: number, queue: string, id: string): void {
  h.createQueue(who, queue, { enableDeadLetterQueue: true, deadLetterQueueName: 'dead' });
  h.subscribe(who, queue);
  h.publish(who, queue, id);
  h.nack(who, id, 'DeserializationError');
  h.unsubscribe(who, queue);
}

/** Makes a dead letter in `q.dlq`: the subscriber gives the message up, and leaves. */
function deadLetter(h: ReturnType<typeof testCore>, who: number, id: string, maxQueueSize = 100): void {
  h.createQueue(who, 'q', { enableDeadLetterQueue: true, maxQueueSize });
  h.subscribe(who, 'q');
  h.publish(who, 'q', id);
  h.nack(who, id, 'DeserializationError');
  h.unsubscribe(who, 'q');
}
