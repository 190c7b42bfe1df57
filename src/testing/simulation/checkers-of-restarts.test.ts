// The checkers of restarts find faults: histories over two lives of a broker with one broken rule each, and the same histories without it.
// The checkers of one life are tested in checkers.test.ts and checkers-of-sums.test.ts.

import { describe, expect, it } from 'vitest';
import { OverflowStrategy } from '../../model/overflow-strategy.ts';
import type { QueueOptions } from '../../model/queue-options.ts';
import { Command } from '../../protocol/command.ts';
import { ACK_TIMEOUT_MS, RETRY_DELAY_MS, Story } from './story.ts';
import { shows } from './story-cases.ts';

/** A queue that discards nothing by itself. */
const keeping = (options: Partial<QueueOptions> = {}): Story =>
  Story.begin(3, { overflowStrategy: OverflowStrategy.DropNewest, maxRetryAttempts: 4, ...options });

const oneKept = (s: Story): Story => s.accepted(1, 'm', 1).waiting(1).figures({ queuedBytes: 300 });

/** A crash at any moment, then connection 4 in the next life. */
const crash = (s: Story): Story => s.batch().lifeEnds('crash').serves().open();

const acknowledged = (s: Story): Story =>
  s.subscribe(2).accepted(1, 'm', 1).deliver(2, 'm', 1).pass(5).ack(2, 'm').batch();

const connected = (s: Story): Story =>
  s.command(1, Command.Connect, 'c').batch().answer(1, Command.ConnectAck, 'c');

describe('a history of several lives without fault', () => {
  it('is complained of by nobody', () => {
    const story = acknowledged(
      keeping().figures({ publishedCount: 1, deliveredCount: 1, acknowledgedCount: 1 }),
    );
    story.accepted(3, 'n', 2).waiting(1).figures({ publishedCount: 2, queuedBytes: 300 });
    crash(story).figures({ queuedBytes: 300 }).subscribe(4);
    story
      .waiting(0)
      .figures({ inFlightCount: 1, deliveredCount: 1, queuedBytes: 300 })
      .batch()
      .deliver(4, 'n', 2);
    story.pass(5).ack(4, 'n').waiting(0).figures({ inFlightCount: 0, acknowledgedCount: 1, queuedBytes: 0 });
    expect(story.batch().complaints).toEqual([]);
  });

  it('with a store that fails is complained of by nobody', () => {
    const story = connected(keeping()).publish(1, 'm', 1).batch().lifeEnds('storeFailed');
    story.frame(1, { command: Command.Error, id: 'm', errorCode: 'STORAGE_ERROR' });
    story.frame(1, { command: Command.Disconnect, id: 'd', headers: new Map([['reason', 'storage_error']]) });
    story.observe('brokerEnded', 1).open().command(4, Command.Connect, 'c');
    story.frame(4, { command: Command.Error, id: 'c', errorCode: 'STORAGE_ERROR' }).observe('brokerEnded', 4);
    story.serves().open().command(5, Command.Connect, 'c').batch().answer(5, Command.ConnectAck, 'c');
    expect(story.idle(5).complaints).toEqual([]);
  });
});

describe('the checker of survivals sees', () => {
  shows([
    [
      'a confirmed message is not there',
      (s) => oneKept(s).batch().waiting(0).lifeEnds('crash').serves(),
      /holds 0 messages after a restart, and not the 1/,
      keeping,
    ],
    [
      'a confirmed message never comes to its end',
      (s) => crash(oneKept(s)).waiting(0).batch().finished(),
      /was confirmed and is lost with a restart/,
      keeping,
    ],
    [
      'there is more than was published',
      (s) => oneKept(s).batch().waiting(2).lifeEnds('crash').serves(),
      /holds 2 messages after a restart, and 1 may be there/,
      keeping,
    ],
    [
      'there is less than was there at rest',
      (s) => s.waiting(2).figures({ queuedBytes: 600 }).batch().idle().waiting(1).lifeEnds('crash').serves(),
      /1 messages are there after a restart, and 2 were held/,
      keeping,
    ],
    [
      'a shutdown loses what was waiting',
      (s) => s.waiting(1).figures({ queuedBytes: 300 }).batch().waiting(0).lifeEnds('exit').serves(),
      /0 messages are there after a restart, and 1 were held/,
      keeping,
    ],
    [
      'what was acknowledged comes again',
      (s) => crash(acknowledged(s)).subscribe(4).deliver(4, 'm', 1),
      /was through before it/,
      keeping,
    ],
    [
      'a dead letter is in its source again',
      (s) => {
        s.queue('q.dlq').batch().accepted(1, 'm', 1).subscribe(2, undefined, 'q.dlq');
        s.deliver(2, 'm', 1, s.letter('QueueOverflow', 0), 'q.dlq');
        return crash(s).subscribe(4).deliver(4, 'm', 1);
      },
      /was through before it/,
      keeping,
    ],
    [
      'failed attempts are forgotten',
      (s) => {
        s.subscribe(2).accepted(1, 'm', 1).deliver(2, 'm', 1);
        for (const attempt of [2, 3])
          s.pass(ACK_TIMEOUT_MS + attempt * RETRY_DELAY_MS)
            .batch()
            .deliver(2, 'm', 1, { deliveryAttempts: String(attempt) });
        return crash(s).subscribe(4).deliver(4, 'm', 1);
      },
      /says attempt 1, and 2 had failed before a restart/,
      keeping,
    ],
    [
      'messages change places',
      (s) =>
        crash(s.accepted(1, 'a', 1).accepted(1, 'b', 2))
          .subscribe(4)
          .deliver(4, 'b', 2)
          .batch()
          .deliver(4, 'a', 1),
      /message a .* was passed over after a restart for message b/,
      keeping,
    ],
    [
      'the time without a broker does not count',
      (s) =>
        crash(s.accepted(1, 'm', 1))
          .pass(600)
          .subscribe(4)
          .deliver(4, 'm', 1),
      /was delivered at the age of 600 ms, of 500, after a restart/,
      () => keeping({ messageTtlMs: 500 }),
    ],
    [
      'a queue has other options',
      (s) => s.lifeEnds('crash').queue('q', { maxQueueSize: 7 }).serves(),
      /queue q is .*"maxQueueSize":7/,
      keeping,
    ],
    [
      'a queue is missing',
      (s) => s.lifeEnds('crash').noQueue('q').serves(),
      /queue q is undefined after a restart/,
      () => keeping().batch(),
    ],
  ]);
});

describe('the checkers of answers and endings see', () => {
  shows([
    [
      'an answer comes from a broker without its store',
      (s) => s.publish(1, 'm', 1).batch().lifeEnds('storeFailed').answer(1, Command.PublishAck, 'm'),
      /was served although the broker had lost its store/,
    ],
    [
      'a delivery comes from a broker without its store',
      (s) => s.subscribe(2).accepted(1, 'm', 1).lifeEnds('storeFailed').deliver(2, 'm', 1),
      /was delivered although the broker had lost its store/,
    ],
    [
      'a client is taken without a store',
      (s) =>
        s.lifeEnds('storeFailed').open().command(4, Command.Connect, 'c').answer(4, Command.ConnectAck, 'c'),
      /was served although the broker had lost its store/,
    ],
    [
      'a client is refused for another reason',
      (s) =>
        s
          .lifeEnds('storeFailed')
          .open()
          .command(4, Command.Connect, 'c')
          .answer(4, Command.Connect, 'c', 'LIMIT_EXCEEDED'),
      /was refused with LIMIT_EXCEEDED, and the store has failed/,
    ],
    [
      'a client is not told that the store has failed',
      (s) => connected(s).lifeEnds('storeFailed').observe('brokerEnded', 1),
      /was not told that the store has failed/,
    ],
    [
      'a client gets reason server_shutdown instead',
      (s) =>
        connected(s)
          .lifeEnds('storeFailed')
          .frame(1, {
            command: Command.Disconnect,
            id: 'd',
            headers: new Map([['reason', 'server_shutdown']]),
          }),
      /told a reason that it cannot be/,
    ],
  ]);
});
