// Each checker finds faults: histories with one broken rule each, and the same histories without it. Here: answers, deliveries, attempts,
// windows and order.

import { describe, expect, it } from 'vitest';
import { DeliveryMode } from '../../model/delivery-mode.ts';
import { OverflowStrategy } from '../../model/overflow-strategy.ts';
import { Command } from '../../protocol/command.ts';
import { ACK_TIMEOUT_MS, RETRY_DELAY_MS, SHUTDOWN_MS, Story } from './story.ts';
import { begin, inFlight, shows } from './story-cases.ts';

describe('a history without fault', () => {
  it('is complained of by nobody', () => {
    const story = inFlight(begin())
      .pass(10)
      .ack(2, 'm')
      .command(3, Command.Ping, 'p')
      .batch()
      .answer(3, Command.Pong, 'p')
      .figures({ publishedCount: 1, deliveredCount: 1, acknowledgedCount: 1 })
      .batch()
      .idle(1, 2, 3)
      .finished();
    expect(story.complaints).toEqual([]);
  });

  it('with a retry, a dead letter and a shutdown is complained of by nobody', () => {
    const options = { enableDeadLetterQueue: true, maxRetryAttempts: 2 };
    const story = inFlight(Story.begin(3, options).queue('q.dlq').batch())
      .pass(ACK_TIMEOUT_MS + RETRY_DELAY_MS)
      .batch()
      .deliver(2, 'm', 1, { deliveryAttempts: '2' })
      .subscribe(3, undefined, 'q.dlq')
      .pass(ACK_TIMEOUT_MS)
      .figures({
        publishedCount: 1,
        deliveredCount: 3,
        deadLetteredCount: 1,
        inFlightCount: 1,
        queuedBytes: 258,
      })
      .batch();
    story
      .deliver(3, 'm', 1, story.letter('MaxRetriesExceeded', 2), 'q.dlq')
      .drain()
      .pass(SHUTDOWN_MS)
      .observe('brokerEnded', 1)
      .observe('brokerEnded', 2)
      .observe('brokerEnded', 3)
      .ended();
    expect(story.complaints).toEqual([]);
  });

  it('with an ack that was perhaps stepped between two deliveries is complained of by nobody', () => {
    const story = inFlight(begin())
      .ack(2, 'm')
      .pass(ACK_TIMEOUT_MS + RETRY_DELAY_MS)
      .batch(2)
      .deliver(2, 'm', 1, { deliveryAttempts: '2' })
      .batch()
      .pass(ACK_TIMEOUT_MS + 2 * RETRY_DELAY_MS)
      .batch()
      .deliver(2, 'm', 1, { deliveryAttempts: '3' });
    expect(story.complaints).toEqual([]);
  });

  it('with an ack that came when the shortest delay of a retry was over is complained of by nobody', () => {
    const story = inFlight(
      Story.begin(3, {}, RETRY_DELAY_MS / 2)
        .subscribe(3)
        .subscribers(2),
    )
      .pass(ACK_TIMEOUT_MS + RETRY_DELAY_MS / 2)
      .batch()
      .deliver(3, 'm', 1, { deliveryAttempts: '2' })
      .observe('clientGone', 3)
      .subscribers(1)
      .batch()
      .observe('brokerEnded', 3)
      .ack(2, 'm')
      .batch()
      .batch()
      .deliver(2, 'm', 1, { deliveryAttempts: '3' });
    expect(story.complaints).toEqual([]);
  });
});

const blocking = (): Story =>
  Story.begin(3, { maxQueueSize: 1, overflowStrategy: OverflowStrategy.BlockPublisher });

describe('the checker of answers sees', () => {
  shows([
    [
      'a command is answered twice',
      (s) => s.accepted(1, 'm', 1).answer(1, Command.PublishAck, 'm'),
      /answers nothing/,
    ],
    ['something is answered that was not asked', (s) => s.answer(1, Command.Pong, 'p'), /answers nothing/],
    [
      'answers change places',
      (s) =>
        s.command(1, Command.Ping, 'a').command(1, Command.Ping, 'b').batch().answer(1, Command.Pong, 'b'),
      /b of connection 1 was answered before Ping a/,
    ],
    ['a command has no answer', (s) => s.command(1, Command.Ping, 'p').batch().idle(1), /has no answer/],
    [
      'a publish waits though there is room',
      (s) => s.publish(1, 'm', 1).batch().idle(1),
      /has no answer/,
      blocking,
    ],
    [
      'a publish is refused with a code that cannot be',
      (s) => s.publish(1, 'm', 1).batch().answer(1, Command.Publish, 'm', 'QUEUE_EXISTS'),
      /refused with QUEUE_EXISTS/,
    ],
    [
      'a queue that drops its oldest says that it is full',
      (s) => s.publish(1, 'm', 1).batch().answer(1, Command.Publish, 'm', 'QUEUE_FULL'),
      /refused with QUEUE_FULL/,
    ],
    [
      'a broken frame is accepted',
      (s) => s.command(1, Command.Ping, 'p', { fault: 'body' }).batch().answer(1, Command.Pong, 'p'),
      /is broken and was accepted/,
    ],
    [
      'a blocked publish is passed over',
      (s) =>
        s.publish(1, 'a', 1).batch().publish(2, 'b', 2).batch().answer(2, Command.PublishAck, 'b').batch(),
      /was accepted before Publish a/,
      blocking,
    ],
  ]);
});

describe('the checker of deliveries sees', () => {
  shows([
    ['nobody published it', (s) => s.subscribe(2).deliver(2, 'm', 9), /nobody published it/],
    ['nobody subscribed', (s) => s.accepted(1, 'm', 1).deliver(2, 'm', 1), /has no subscription/],
    [
      'the subscription has ended',
      (s) =>
        s
          .subscribe(2)
          .command(2, Command.Unsubscribe, 'u', { queue: 'q' })
          .accepted(1, 'm', 1)
          .answer(2, Command.UnsubscribeAck, 'u')
          .deliver(2, 'm', 1),
      /has no subscription/,
    ],
    ['the id is another one', (s) => s.subscribe(2).accepted(1, 'm', 1).deliver(2, 'n', 1), /has the id n/],
    [
      'headers are missing',
      (s) => s.subscribe(2).accepted(1, 'm', 1).deliver(2, 'm', 1, { a: 'b' }),
      /other headers/,
    ],
    [
      'the payload is another one',
      (s) =>
        s
          .subscribe(2)
          .accepted(1, 'm', 1)
          .frame(2, { command: Command.Deliver, id: 'm', queue: 'q', headers: new Map([['number', '1']]) }),
      /another payload/,
    ],
    [
      'it was refused',
      (s) =>
        s
          .subscribe(2)
          .publish(1, 'm', 1)
          .batch()
          .answer(1, Command.Publish, 'm', 'MEMORY_LIMIT')
          .deliver(2, 'm', 1),
      /had been refused/,
    ],
    [
      'it was acknowledged',
      (s) => inFlight(s).ack(2, 'm').batch().pass(5000).batch().deliver(2, 'm', 1, { deliveryAttempts: '2' }),
      /after its ack took effect/,
    ],
    [
      'it was acknowledged by a client that left and does not read',
      (s) =>
        inFlight(s)
          .ack(2, 'm')
          .congest(2)
          .observe('clientGone', 2)
          .batch()
          .observe('brokerEnded', 2)
          .batch()
          .subscribe(3)
          .deliver(3, 'm', 1, { deliveryAttempts: '2' }),
      /after its ack took effect/,
    ],
    [
      'it was refused for good',
      (s) =>
        inFlight(s)
          .ack(2, 'm', 'DeserializationError')
          .batch()
          .batch()
          .deliver(2, 'm', 1, { deliveryAttempts: '2' }),
      /after its ack took effect/,
    ],
    [
      'its queue was deleted',
      (s) =>
        s
          .accepted(1, 'm', 1)
          .command(1, Command.DeleteQueue, 'd', { queue: 'q' })
          .batch()
          .answer(1, Command.DeleteQueue, 'd')
          .subscribe(2)
          .deliver(2, 'm', 1),
      /after its queue was deleted/,
    ],
    [
      'it is too old',
      (s) => s.subscribe(2, 1).accepted(1, 'm', 1).pass(300).batch().deliver(2, 'm', 1),
      /at the age of 300 ms, of 300/,
      () => Story.begin(3, { messageTtlMs: 300 }),
    ],
    [
      'it says the wrong attempt',
      (s) => s.subscribe(2).accepted(1, 'm', 1).deliver(2, 'm', 1, { deliveryAttempts: '2' }),
      /says attempt 2/,
    ],
    [
      'the broker is draining',
      (s) => s.subscribe(2).accepted(1, 'm', 1).drain().batch().batch().deliver(2, 'm', 1),
      /delivered while draining/,
    ],
    [
      'the connection takes no more',
      (s) => s.subscribe(2).congest(2).batch().accepted(1, 'm', 1).deliver(2, 'm', 1),
      /takes no more/,
    ],
    [
      'its publisher left before there was room',
      (s) =>
        s
          .subscribe(2)
          .publish(1, 'm', 1)
          .batch()
          .waiting(1)
          .idle(1)
          .observe('clientGone', 1)
          .observe('brokerEnded', 1)
          .batch()
          .batch()
          .deliver(2, 'm', 1),
      /before there was room/,
      blocking,
    ],
  ]);
});

describe('the checker of attempts sees', () => {
  shows([
    [
      'a retry comes too early',
      (s) =>
        inFlight(s)
          .pass(ACK_TIMEOUT_MS + RETRY_DELAY_MS - 1)
          .batch()
          .deliver(2, 'm', 1, { deliveryAttempts: '2' }),
      /was sent again after 99 ms, not 100/,
    ],
    [
      'a retry comes too late',
      (s) =>
        inFlight(s)
          .pass(2 * ACK_TIMEOUT_MS)
          .batch()
          .deliver(2, 'm', 1, { deliveryAttempts: '2' }),
      /was sent again 2000 ms after/,
    ],
    [
      'the pause does not double',
      (s) =>
        inFlight(s)
          .pass(ACK_TIMEOUT_MS + RETRY_DELAY_MS)
          .batch()
          .deliver(2, 'm', 1, { deliveryAttempts: '2' })
          .pass(ACK_TIMEOUT_MS + RETRY_DELAY_MS)
          .batch()
          .deliver(2, 'm', 1, { deliveryAttempts: '3' }),
      /was sent again after 100 ms, not 200/,
    ],
    [
      'there are too many of them',
      (s) =>
        inFlight(s)
          .pass(ACK_TIMEOUT_MS + RETRY_DELAY_MS)
          .batch()
          .deliver(2, 'm', 1, { deliveryAttempts: '2' }),
      /was sent 2 times, of 1/,
      () => Story.begin(3, { maxRetryAttempts: 1 }),
    ],
    [
      'two subscribers have the message at once',
      (s) => inFlight(s.subscribe(3)).pass(10).batch().deliver(3, 'm', 1, { deliveryAttempts: '2' }),
      /was sent while it was with connection 2/,
    ],
    [
      'a later subscriber gets a copy',
      (s) => inFlight(s).subscribe(3).deliver(3, 'm', 1),
      /to a subscriber that came later/,
      () => Story.begin(3, { mode: DeliveryMode.FanOutWithAck }),
    ],
  ]);
});

describe('the checkers of windows and order see', () => {
  shows([
    [
      'a subscriber holds more than it asked for',
      (s) => s.subscribe(2, 1).accepted(1, 'a', 1).deliver(2, 'a', 1).accepted(1, 'b', 2).deliver(2, 'b', 2),
      /holds 2 messages of q, of 1/,
    ],
    [
      'the younger comes first',
      (s) =>
        s.accepted(1, 'a', 1).accepted(1, 'b', 2).subscribe(2).deliver(2, 'b', 2).deliver(2, 'a', 1).batch(),
      /came after message b/,
    ],
    [
      'the younger comes first, to another subscriber',
      (s) =>
        s
          .accepted(1, 'a', 1)
          .accepted(1, 'b', 2)
          .subscribe(2)
          .deliver(2, 'b', 2)
          .subscribe(3)
          .deliver(3, 'a', 1)
          .batch(),
      /was passed over for message b/,
    ],
    [
      'the less urgent comes first',
      (s) =>
        s
          .accepted(1, 'a', 1, 0)
          .accepted(1, 'b', 2, 3)
          .subscribe(2)
          .deliver(2, 'a', 1)
          .batch()
          .deliver(2, 'b', 2)
          .batch(),
      /was passed over for message a/,
      () => Story.begin(3, { mode: DeliveryMode.PriorityBased }),
    ],
    [
      'what came back is passed over',
      (s) =>
        inFlight(s)
          .accepted(1, 'n', 2)
          .observe('clientGone', 2)
          .observe('brokerEnded', 2)
          .batch()
          .subscribe(3)
          .deliver(3, 'n', 2)
          .batch()
          .deliver(3, 'm', 1, { deliveryAttempts: '2' }),
      /had come back and was passed over for message n/,
    ],
  ]);
});
