// That each judge can fail: histories of brokers that break one promise each, and the same histories kept. A judge that is content with
// everything would be worse than none.

import { describe, expect, it } from 'vitest';
import { DeliveryMode, OverflowStrategy } from '../../broker/queue-options.ts';
import { Command } from '../../protocol/command.ts';
import { ACK_TIMEOUT_MS, RETRY_DELAY_MS, SHUTDOWN_MS, Story } from './story.ts';

type Case = readonly [broken: string, tell: (story: Story) => Story, complaint: RegExp, story?: () => Story];

const begin = (): Story => Story.begin(3);
const withDeadLetters = (): Story => Story.begin(3, { enableDeadLetterQueue: true }).queue('q.dlq').batch();

/** A message in flight on connection 2. */
const inFlight = (story: Story): Story => story.subscribe(2).accepted(1, 'm', 1).deliver(2, 'm', 1);

function shows(cases: readonly Case[]): void {
  const named = cases.map(([broken, tell, complaint, story]) => ({ broken, tell, complaint, story }));
  it.each(named)('that $broken', ({ tell, complaint, story = begin }) => {
    expect(tell(story()).complaints).toContainEqual(expect.stringMatching(complaint));
  });
}

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
});

const blocking = (): Story =>
  Story.begin(3, { maxQueueSize: 1, overflowStrategy: OverflowStrategy.BlockPublisher });

describe('the judge of answers sees', () => {
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

describe('the judge of deliveries sees', () => {
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

describe('the judge of attempts sees', () => {
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

describe('the judges of windows and order see', () => {
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

describe('the judges of figures and queues see', () => {
  shows([
    [
      'a counter falls',
      (s) => s.figures({ deliveredCount: 2 }).batch().figures({ deliveredCount: 1 }).batch(),
      /fell from 2/,
    ],
    [
      'a message is nowhere',
      (s) => s.figures({ publishedCount: 1 }).batch(),
      /1 published are not 0 waiting/,
    ],
    [
      'a message is in two places',
      (s) => s.waiting(1).figures({ publishedCount: 1, inFlightCount: 1, queuedBytes: 600 }).batch(),
      /1 published are not 1 waiting, 1 in flight/,
    ],
    ['deliveries are not counted', (s) => inFlight(s).idle(), /deliveredCount is 0, and 1 were seen/],
    [
      'an ack is not counted',
      (s) =>
        // The acks are looked at after every eighth batch.
        inFlight(s)
          .figures({ publishedCount: 1, deliveredCount: 1 })
          .ack(2, 'm')
          .batch()
          .batch()
          .batch()
          .batch()
          .batch()
          .idle(),
      /acknowledgedCount is 0, and 1 acks took effect/,
    ],
    [
      'messages are held in no bytes',
      (s) => s.waiting(1).figures({ publishedCount: 1 }).batch(),
      /are held in no bytes/,
    ],
    [
      'a queue holds more than it may',
      (s) => s.waiting(3).batch(),
      /q holds 3 waiting messages, of 2/,
      () => Story.begin(3, { maxQueueSize: 2 }),
    ],
    [
      'a queue refuses what it has room for',
      (s) => s.publish(1, 'm', 1).batch().answer(1, Command.Publish, 'm', 'QUEUE_FULL'),
      /refused a publish with 0 waiting messages, of 2/,
      () => Story.begin(3, { maxQueueSize: 2, overflowStrategy: OverflowStrategy.DropNewest }),
    ],
    [
      'a queue holds what is too old',
      (s) => s.accepted(1, 'm', 1).waiting(1).batch().pass(400).batch().idle(),
      /only 0 may be young enough/,
      () => Story.begin(3, { messageTtlMs: 300 }),
    ],
    [
      'a message waits although somebody has room',
      (s) => s.subscribe(2).waiting(1).batch().batch().idle(2),
      /connection 2 holds none/,
    ],
  ]);
});

describe('the judge of dead letters sees', () => {
  const dead = (reason: string, attempts: number) => (s: Story) =>
    inFlight(s.subscribe(3, undefined, 'q.dlq'))
      .batch()
      .deliver(3, 'm', 1, s.letter(reason, attempts), 'q.dlq');
  shows([
    ['too few attempts were made', dead('MaxRetriesExceeded', 3), /was sent 1 times, of 3/, withDeadLetters],
    [
      'the number of attempts is wrong',
      dead('MaxRetriesExceeded', 2),
      /says 2 attempts, of 3/,
      withDeadLetters,
    ],
    ['no handler failed', dead('HandlerException', 3), /was never refused so/, withDeadLetters],
    ['no payload was refused', dead('DeserializationError', 1), /was never refused so/, withDeadLetters],
    ['nothing was too old', dead('MessageExpired', 0), /was not old enough/, withDeadLetters],
    ['nothing was redirected', dead('QueueOverflow', 0), /does not redirect/, withDeadLetters],
    ['there is no such reason', dead('Tired', 0), /does not exist/, withDeadLetters],
    [
      'it is dead-lettered a second time',
      (s) => {
        dead('MaxRetriesExceeded', 3)(s);
        return s
          .pass(5)
          .deliver(3, 'm', 1, { ...s.letter('MaxRetriesExceeded', 3), deliveryAttempts: '2' }, 'q.dlq');
      },
      /a second time/,
      withDeadLetters,
    ],
    [
      'it is delivered from its source afterwards',
      (s) =>
        dead('MaxRetriesExceeded', 3)(s).pass(2000).batch().deliver(2, 'm', 1, { deliveryAttempts: '2' }),
      /after it was dead-lettered/,
      withDeadLetters,
    ],
  ]);
});

describe('the judges of fates and endings see', () => {
  shows([
    ['a message still waits at the end', (s) => s.waiting(1).batch().finished(), /1 messages still wait/],
    [
      'a message is still in flight',
      (s) => s.figures({ inFlightCount: 1 }).batch().finished(),
      /still in flight/,
    ],
    [
      'bytes are still held',
      (s) => s.figures({ queuedBytes: 9 }).batch().finished(),
      /bytes of messages are still held/,
    ],
    [
      'an answer is still owed',
      (s) => s.command(1, Command.Ping, 'p').batch().finished(),
      /still owed 1 answers/,
    ],
    [
      'a message is lost',
      (s) => s.accepted(1, 'm', 1).finished(),
      /is lost, and nothing allows that/,
      () => Story.begin(3, { overflowStrategy: OverflowStrategy.DropNewest }),
    ],
    [
      'a loss is not counted',
      (s) => s.accepted(1, 'm', 1).finished(),
      /1 messages are lost and 0 were discarded/,
    ],
    [
      'a repeat is delivered',
      (s) =>
        s
          .accepted(1, 'm', 1)
          .accepted(1, 'm', 2)
          .subscribe(2)
          .deliver(2, 'm', 1)
          .deliver(2, 'm', 2)
          .finished(),
      /is a repeat and was delivered/,
    ],
    [
      'a failed copy is forgotten',
      (s) => inFlight(s).ack(2, 'm', 'DeserializationError').batch().finished(),
      /failed for a subscriber and is not in q.dlq/,
      withDeadLetters,
    ],
    [
      'a member of a fan-out gets nothing',
      (s) => inFlight(s.subscribe(3)).finished(),
      /was never sent to connection 3/,
      () =>
        Story.begin(3, { mode: DeliveryMode.FanOutWithAck, overflowStrategy: OverflowStrategy.DropNewest }),
    ],
    [
      'the younger is pushed out',
      (s) => s.accepted(1, 'a', 1).accepted(1, 'b', 2).subscribe(2).batch().deliver(2, 'a', 1).finished(),
      /b .* was pushed out and message a/,
      () => Story.begin(3, { maxQueueSize: 1 }),
    ],
    ['a connection is closed for no reason', (s) => s.observe('brokerEnded', 1), /closed for no reason/],
    [
      'an end is announced that does not come',
      (s) =>
        s.frame(1, {
          command: Command.Disconnect,
          id: 'd',
          headers: new Map([['reason', 'server_shutdown']]),
        }),
      /an end that does not come/,
    ],
    [
      'a client is not told of the end',
      (s) => s.command(1, Command.Connect, 'c').batch().answer(1, Command.ConnectAck, 'c').drain().ended(),
      /connection 1 was not told of the end/,
    ],
    [
      'the end takes too long',
      (s) =>
        s
          .drain()
          .pass(SHUTDOWN_MS + 21)
          .ended(),
      /took 521 ms to end, of 500/,
    ],
    ['the end waits for nothing', (s) => s.drain().pass(100).ended(), /waited for nothing/],
    ['a connection outlives the end', (s) => s.drain().ended(), /connection 1 is open after the end/],
    [
      'a command is served to the end',
      (s) => s.drain().batch().command(1, Command.ListQueues, 'l').batch().answer(1, Command.ListQueues, 'l'),
      /was served after the draining began/,
    ],
  ]);
});
