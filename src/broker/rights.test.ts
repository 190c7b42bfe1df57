// Rights at the core: the gate before the commands, the list that shows each user its own, and changes that reach open connections.

import { describe, expect, it } from 'vitest';
import { type Principal, QueueOperation, type QueueOperationName } from '../model/access.ts';
import { DeliveryMode } from '../model/delivery-mode.ts';
import { BrokerHarness, testSettings } from '../testing/broker-harness.ts';
import { ids, testCore } from '../testing/core-harness.ts';
import { Broker } from './broker.ts';
import { OPERATOR } from './interface/input.ts';

/** A user with one entry for each pair of a pattern and operations. */
function user(
  username: string,
  rights: Readonly<Record<string, readonly QueueOperationName[]>> = {},
): Principal {
  const accessList = Object.entries(rights).map(([queuePattern, names]) => ({
    queuePattern,
    operations: names.map((name) => QueueOperation[name]),
  }));
  return { username, isSuperuser: false, accessList };
}

const ALL = Object.keys(QueueOperation) as QueueOperationName[];

describe('the gate', () => {
  const commands = [
    ['Publish', (h: BrokerHarness, who: number) => h.publish(who, 'q', 'm1')],
    ['Subscribe', (h: BrokerHarness, who: number) => h.subscribe(who, 'q')],
    ['CreateQueue', (h: BrokerHarness, who: number) => h.createQueue(who, 'q')],
    ['DeleteQueue', (h: BrokerHarness, who: number) => h.deleteQueue(who, 'q')],
    ['PurgeQueue', (h: BrokerHarness, who: number) => h.purgeQueue(who, 'q')],
    ['GetQueueInfo', (h: BrokerHarness, who: number) => h.queueInfo(who, 'q')],
    ['ListQueues', (h: BrokerHarness, who: number) => h.listQueues(who)],
  ] as const;

  it.each(commands)(
    'asks for %s, and carries nothing out without it [AUTH-016, AUTH-021, AUTH-022]',
    (needed, send) => {
      const h = testCore();
      h.createQueue(h.connect(), 'q');
      h.publish(1, 'q', 'm0');
      const others = user('ann', { q: ALL.filter((name) => name !== needed) });
      expect(send(h, h.connect(others))).toEqual([expect.stringMatching(/ NOT_AUTHORIZED$/)]);
      expect(h.broker.queueInfo('q')).toMatchObject({ messageCount: 1, subscriberCount: 0 });
      const [line] = send(h, h.connect(user('bob', { Q: [needed] })));
      expect(line).not.toMatch(/NOT_AUTHORIZED/);
    },
  );

  it('asks nobody who has no user, no superuser and no operator [AUTH-017]', () => {
    const h = testCore();
    const root = h.connect({ username: 'root', isSuperuser: true, accessList: [] });
    expect([h.publish(h.connect(), 'q', 'm1'), h.publish(root, 'q', 'm2')].flat()).toEqual([
      '2: publish q m1 ok',
      '1: publish q m2 ok',
    ]);
    const alone = new BrokerHarness(new Broker(testSettings));
    alone.connect(user('ann'));
    expect(alone.purgeQueue(OPERATOR, 'q')).toEqual(['0: purgeQueue q QUEUE_NOT_FOUND']);
  });

  it('lets a user that has no rights end subscriptions and acknowledge', () => {
    const h = testCore();
    const ann = h.connect(user('ann', { q: ['Subscribe', 'Publish'] }));
    h.subscribe(ann, 'q');
    h.publish(ann, 'q', 'm1');
    h.changeRights(user('ann', { q: ['Subscribe'] }));
    h.ack(ann, 'm1');
    expect(h.broker.stats().acknowledgedCount).toBe(1);
    h.changeRights(user('ann'));
    expect(h.unsubscribe(ann, 'q')).toEqual(['1: unsubscribe q ok']);
  });

  it('tells nobody without the right whether a queue exists [ERROR-014]', () => {
    const h = testCore({ enableAutoCreate: false });
    h.createQueue(h.connect(), 'exists');
    const ann = h.connect(user('ann'));
    for (const queue of ['exists', 'missing']) {
      expect(h.publish(ann, queue, 'm')).toEqual([`2: publish ${queue} m NOT_AUTHORIZED`]);
      expect(h.createUnreadable(ann, queue)).toEqual([`2: createQueue ${queue} NOT_AUTHORIZED`]);
      expect(h.queueInfo(ann, queue)).toEqual([`2: queueInfo ${queue} NOT_AUTHORIZED`]);
    }
  });

  it('asks for no right to create the queue that a publish or a subscribe creates [AUTH-030]', () => {
    const h = testCore();
    const ann = h.connect(user('ann', { '*': ['Publish', 'Subscribe'] }));
    h.publish(ann, 'p', 'm1');
    h.subscribe(ann, 's');
    expect(h.broker.queueNames()).toEqual(['p', 's']);
  });

  it('refuses every command while the broker drains, allowed or not', () => {
    const h = testCore();
    const ann = h.connect(user('ann'));
    h.drain();
    expect(h.publish(ann, 'q', 'm')).toEqual(['1: publish q m SHUTTING_DOWN']);
  });
});

describe('the list of queues', () => {
  it('shows each user the queues that its patterns match [AUTH-023]', () => {
    const h = testCore();
    const admin = h.connect();
    for (const queue of ['orders.eu', 'secret', 'orders.us', 'bills']) h.createQueue(admin, queue);
    const ann = h.connect(user('ann', { 'orders.*': ['ListQueues'], bills: ['Publish'] }));
    const bob = h.connect(user('bob', { secret: ['ListQueues'] }));
    expect([admin, ann, bob].flatMap((who) => h.listQueues(who))).toEqual([
      '1: listQueues [orders.eu, secret, orders.us, bills]',
      '2: listQueues [orders.eu, orders.us, bills]',
      '3: listQueues [secret]',
    ]);
  });

  it('shows other queues at once when the rights or the queues change [AUTH-023, AUTH-027]', () => {
    const h = testCore();
    const admin = h.connect();
    for (const queue of ['a', 'b']) h.createQueue(admin, queue);
    const ann = h.connect(user('ann', { a: ['ListQueues'] }));
    expect(h.listQueues(ann)).toEqual(['2: listQueues [a]']);
    h.changeRights(user('ann', { b: ['ListQueues'] }));
    expect(h.listQueues(ann)).toEqual(['2: listQueues [b]']);
    h.deleteQueue(admin, 'b');
    expect(h.listQueues(ann)).toEqual(['2: listQueues []']);
    h.createQueue(admin, 'b');
    expect(h.listQueues(ann)).toEqual(['2: listQueues [b]']);
  });
});

describe('a change of rights', () => {
  it('applies to every open connection of the user, and to no other [AUTH-027]', () => {
    const h = testCore();
    const before = user('ann', { q: ['Publish'] });
    const [one, two] = [h.connect(before), h.connect(before)];
    const bob = h.connect({ ...before, username: 'bob' });
    h.publish(one, 'q', 'm1');
    h.changeRights(user('ann', { r: ['Publish'] }));
    expect([h.publish(one, 'q', 'm2'), h.publish(two, 'q', 'm3'), h.publish(bob, 'q', 'm4')].flat()).toEqual([
      '1: publish q m2 NOT_AUTHORIZED',
      '2: publish q m3 NOT_AUTHORIZED',
      '3: publish q m4 ok',
    ]);
    expect(h.publish(two, 'r', 'm5')).toEqual(['2: publish r m5 ok']);
  });

  it('ends the subscriptions that lost their right, and gives their messages back at once [AUTH-026]', () => {
    const h = testCore();
    const ann = h.connect(user('ann', { '*': ['Subscribe'] }));
    const other = h.connect();
    h.subscribe(ann, 'q');
    h.subscribe(ann, 'kept');
    h.publishAll(other, 'q', ids(2));
    h.publish(other, 'kept', 'k1');
    h.subscribe(other, 'q');
    expect(h.changeRights(user('ann', { kept: ['Subscribe'] }))).toEqual([
      '2 <- q m1 (attempt 2)',
      '2 <- q m2 (attempt 2)',
    ]);
    expect(h.publish(other, 'kept', 'k2')).toContain('1 <- kept k2');
    expect(h.broker.queueInfo('q')?.subscriberCount).toBe(1);
  });

  it('counts no failed attempt for what it gives back, and ignores a late ack [AUTH-026]', () => {
    const h = testCore();
    const admin = h.connect();
    h.createQueue(admin, 'q', { maxRetryAttempts: 1 });
    const ann = h.connect(user('ann', { q: ['Subscribe'] }));
    h.subscribe(ann, 'q');
    h.publish(admin, 'q', 'm1');
    h.changeRights(user('ann'));
    h.ack(ann, 'm1');
    h.advance(60_000);
    expect(h.waiting('q')).toBe(1);
    expect(h.broker.stats()).toMatchObject({ acknowledgedCount: 0, discardedCount: 0, inFlightCount: 0 });
  });

  it.each(Object.values(DeliveryMode))('leaves nothing behind in delivery mode %i [AUTH-026]', (mode) => {
    const h = testCore();
    const admin = h.connect();
    h.createQueue(admin, 'q', { mode });
    const ann = h.connect(user('ann', { q: ['Subscribe'] }));
    h.subscribe(ann, 'q', 2);
    h.publishAll(admin, 'q', ids(4));
    h.writable(ann, false);
    h.advance(40_000);
    h.changeRights(user('ann'));
    h.deleteQueue(admin, 'q');
    h.advance(1);
    expect(h.broker.stats()).toMatchObject({ queuedBytes: 0, inFlightCount: 0 });
    h.disconnect(ann);
    expect(h.broker.stats().structureBytes).toBe(0);
  });

  it('ends a subscription that waits for its queue to be created [AUTH-026]', () => {
    const h = testCore();
    const admin = h.connect();
    const ann = h.connect(user('ann', { q: ['Subscribe'] }));
    h.subscribe(ann, 'q');
    h.deleteQueue(admin, 'q');
    h.changeRights(user('ann'));
    expect(h.publish(admin, 'q', 'm1')).toEqual(['1: publish q m1 ok']);
  });

  it('gives back more messages than one step may change in the next steps, and none of a subscription made since [AUTH-026]', () => {
    const h = new BrokerHarness(new Broker({ ...testSettings, maxInFlightPerSubscriber: 2500 }));
    const admin = h.connect();
    const rights = user('ann', { q: ['Subscribe'] });
    const ann = h.connect(rights);
    h.subscribe(ann, 'q', 2500);
    h.publishAll(admin, 'q', ids(2500));
    h.changeRights(user('ann'));
    expect(h.waiting('q')).toBe(1000);
    h.changeRights({ ...rights });
    expect(h.subscribe(ann, 'q', 3)).toHaveLength(4);
    h.advance(1);
    expect(h.waiting('q')).toBe(2497);
    expect(h.broker.stats().inFlightCount).toBe(3);
  });

  it('keeps a publish that waits for room: it was let through before [AUTH-027]', () => {
    const h = testCore();
    const admin = h.connect();
    h.createQueue(admin, 'q', { maxQueueSize: 1, overflowStrategy: 2 });
    const ann = h.connect(user('ann', { q: ['Publish'] }));
    h.publishAll(ann, 'q', ids(2));
    h.changeRights(user('ann'));
    expect(h.subscribe(admin, 'q')).toContain('2: publish q m2 ok');
  });

  it('lets a draining connection close when it has nothing in flight any more [AUTH-026, SHUTDOWN-008]', () => {
    const h = testCore();
    const admin = h.connect();
    const ann = h.connect(user('ann', { q: ['Subscribe'] }));
    h.subscribe(ann, 'q');
    h.publish(admin, 'q', 'm1');
    expect(h.drain()).toEqual(['1: close']);
    expect(h.changeRights(user('ann'))).toEqual(['2: close']);
  });

  it('lets a draining connection close that did not take the copy that was due [AUTH-026, SHUTDOWN-008]', () => {
    const h = testCore();
    const admin = h.connect();
    h.createQueue(admin, 'q', { mode: DeliveryMode.FanOutWithAck });
    const ann = h.connect(user('ann', { q: ['Subscribe'] }));
    h.subscribe(ann, 'q');
    h.publish(admin, 'q', 'm1');
    h.writable(ann, false);
    h.nack(ann, 'm1');
    h.advance(1000);
    expect(h.drain()).toEqual(['1: close']);
    expect(h.changeRights(user('ann'))).toEqual(['2: close']);
  });

  it('gives back all at once while draining, however much it is, for no later step comes [AUTH-026, SHUTDOWN-008]', () => {
    const h = new BrokerHarness(new Broker({ ...testSettings, maxInFlightPerSubscriber: 2500 }));
    const admin = h.connect();
    const ann = h.connect(user('ann', { q: ['Subscribe'] }));
    h.subscribe(ann, 'q', 2500);
    h.publishAll(admin, 'q', ids(2500));
    h.drain();
    expect(h.changeRights(user('ann'))).toEqual(['2: close']);
    expect(h.waiting('q')).toBe(2500);
  });

  it('of somebody who is not connected does nothing', () => {
    const h = testCore();
    const ann = h.connect(user('ann', { q: ['Publish'] }));
    h.disconnect(ann);
    expect(h.changeRights(user('ann'))).toEqual([]);
    expect(h.publish(h.connect(user('ann', { q: ['Publish'] })), 'q', 'm1')).toEqual(['2: publish q m1 ok']);
  });
});
