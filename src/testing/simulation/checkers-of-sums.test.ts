// The checkers of sums and endings find faults: counters, contents of queues, dead letters, terminal states of messages, and the end of the
// broker. The others are tested in checkers.test.ts.

import { describe } from 'vitest';
import { DeliveryMode } from '../../model/delivery-mode.ts';
import { OverflowStrategy } from '../../model/overflow-strategy.ts';
import { Command } from '../../protocol/command.ts';
import { SHUTDOWN_MS, Story } from './story.ts';
import { inFlight, shows, withDeadLetters } from './story-cases.ts';

describe('the checkers of figures and queues see', () => {
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
      (s) => inFlight(s).figures({ publishedCount: 1, deliveredCount: 1 }).ack(2, 'm').batches(5).idle(),
      /acknowledgedCount is 0, and 1 acks took effect/,
    ],
    [
      'an ack of nothing is counted',
      (s) => s.ack(2, 'nobody').figures({ acknowledgedCount: 1 }).batches(7).idle(),
      /acknowledgedCount is 1, and 0 acks could count/,
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

describe('the checker of dead letters sees', () => {
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

describe('the checkers of fates and endings see', () => {
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
