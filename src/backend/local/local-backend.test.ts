// A broker over a store that is opened, fails and works again: what clients see of it, and that nothing acknowledged is lost.

import { describe, expect, it } from 'vitest';
import { anyContent } from '../../testing/test-content.ts';
import { ack, ping, publish, subscribe } from '../../testing/tested-clients.ts';
import { TestedService } from '../../testing/tested-service.ts';
import { VirtualDisk } from '../../testing/virtual-disk.ts';
import { headersOf } from '../../testing/wire-client.ts';
import { StartCancelled } from '../backend.ts';

/** A broker with one message stored, and a client. */
async function withOneStored() {
  const disk = new VirtualDisk();
  const tested = await TestedService.started(disk);
  const client = await tested.connect();
  expect(await tested.exchange(client, publish('q', 'm1'))).toEqual(['PublishAck m1 q']);
  return { tested, client, disk };
}

/** The answer to a client that connects now. */
function connectLines(tested: TestedService): Promise<readonly string[]> {
  return tested.exchange(tested.attach(), { command: 0, id: 'c' });
}

describe('a broker that starts', () => {
  it('has what the one before it has stored [DURABLE-003, DURABLE-004, DURABLE-008]', async () => {
    const { tested, disk, client } = await withOneStored();
    await tested.exchange(client, publish('q', 'm2'), subscribe('r'));
    const second = await TestedService.started(disk);
    expect(await second.exchange(await second.connect(), { command: 43, id: 'l' })).toEqual(['ListQueues l']);
    expect(second.service.stats()).toMatchObject({ queueCount: 2, publishedCount: 0 });
    const subscriber = await second.connect();
    expect(await second.exchange(subscriber, subscribe('q'))).toEqual([
      'SubscribeAck subscribe-q q',
      'Deliver m1 q',
      'Deliver m2 q',
    ]);
  });

  it('delivers nothing again whose ack was committed [DURABLE-005, DURABLE-006]', async () => {
    const { tested, disk } = await withOneStored();
    const subscriber = await tested.subscriber('q');
    await tested.exchange(subscriber, ack('m1'));
    const second = await TestedService.started(disk);
    expect(second.service.queueInfo('q')?.messageCount).toBe(0);
  });

  it('has nothing whose removal was committed: purged, evicted, sent in FanOutWithoutAck, or deleted [DURABLE-027]', async () => {
    const { tested, disk, client } = await withOneStored();
    const create = (queue: string, options: object) =>
      ({ command: 40, id: 'c', queue, payload: JSON.stringify(options) }) as const;
    await tested.exchange(
      client,
      create('small', { maxQueueSize: 1 }),
      publish('small', 's1'),
      publish('small', 's2'),
      create('ticks', { mode: 'FanOutWithoutAck' }),
      subscribe('ticks'),
      publish('ticks', 't1'),
      publish('gone', 'g1'),
      { command: 41, id: 'd', queue: 'gone' },
    );
    const purged = tested.service.operator.purgeQueue('q');
    await tested.settle();
    await purged;
    const second = await TestedService.started(disk);
    const count = (queue: string) => second.service.queueInfo(queue)?.messageCount;
    expect([count('q'), count('small'), count('ticks'), count('gone')]).toEqual([0, 1, 0, undefined]);
    expect((await second.exchange(await second.connect(), subscribe('small'))).at(-1)).toBe(
      'Deliver s2 small',
    );
  });

  it('has no message that the operator removed, and a dead letter that was requeued in its source queue alone [DURABLE-003, DURABLE-027]', async () => {
    const { tested, disk, client } = await withOneStored();
    const redirecting = {
      overflowStrategy: 'RedirectToDlq',
      maxQueueSize: 1,
      enableDeadLetterQueue: true,
      deadLetterQueueName: 'letters',
    };
    await tested.exchange(
      client,
      { command: 40, id: 'c', queue: 'small', payload: JSON.stringify(redirecting) },
      publish('small', 's1'),
      publish('small', 's2'),
    );
    const { operator } = tested.service;
    const changes = [operator.removeMessage('small', 's1'), operator.requeueMessage('letters', 's2')];
    await tested.settle();
    expect(await Promise.all(changes)).toEqual([true, 'requeued']);
    const second = await TestedService.started(disk);
    const count = (queue: string) => second.service.queueInfo(queue)?.messageCount;
    expect([count('q'), count('small'), count('letters')]).toEqual([1, 1, 0]);
    expect((await second.exchange(await second.connect(), subscribe('small'))).at(-1)).toBe(
      'Deliver s2 small',
    );
  });

  it('takes nobody before it has recovered, and is ready then [HEALTH-011]', async () => {
    const tested = new TestedService();
    expect(tested.service.readiness()).toEqual({ ready: false, reason: 'recovering from the store' });
    const early = tested.attach();
    expect(await tested.exchange(early, { command: 0, id: 'c' })).toEqual(['Error c STORAGE_ERROR']);
    await tested.service.start();
    expect(tested.service.readiness()).toEqual({ ready: true });
    expect(await connectLines(tested)).toEqual(['ConnectAck c']);
  });

  it('does not start on a store that cannot be opened, or that contradicts itself', async () => {
    const disk = new VirtualDisk();
    disk.hasFailed = true;
    await expect(new TestedService(disk).service.start()).rejects.toThrow('the disk has failed');
    disk.hasFailed = false;
    const content = anyContent(1);
    const message = { generation: 1, sequence: 1, id: 'm', priority: 1, content, acceptedWallAt: 0 } as const;
    disk.kept.take([{ kind: 'messageAdded', ...message }]);
    await expect(new TestedService(disk).service.start()).rejects.toThrow(
      /^the store contradicts itself: Message m /,
    );
    expect(disk.closeCount).toBe(1);
  });
});

/** A broker whose start waits, on the way named, until `proceed` is called. */
function stalledStart(stage: 'open' | 'recover') {
  const disk = new VirtualDisk();
  let proceed: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    proceed = resolve;
  });
  const openStore = async () => {
    if (stage === 'open') await gate;
    const store = await disk.openStore();
    if (stage === 'open') return store;
    return {
      ...store,
      recover: async function* () {
        await gate;
        yield* store.recover();
      },
    };
  };
  const tested = new TestedService({ openStore });
  const start = tested.service.start();
  start.catch(() => undefined);
  return { disk, tested, start, proceed };
}

describe('a broker that is drained while it starts', () => {
  it.each(['open', 'recover'] as const)(
    'never serves, and has closed its store when the drain resolves (during %s)',
    async (stage) => {
      const { disk, tested, start, proceed } = stalledStart(stage);
      await tested.settle();
      let isDrained = false;
      const drained = tested.service.drain().then(() => {
        isDrained = true;
      });
      await tested.settle();
      expect(isDrained).toBe(false);
      proceed();
      await expect(start).rejects.toThrow(StartCancelled);
      await drained;
      expect([disk.openCount, disk.closeCount]).toEqual([1, 1]);
      expect(tested.service.readiness().ready).toBe(false);
      const late = tested.attach();
      await tested.settle();
      expect(late.isOver).toBe(true);
    },
  );

  it('does not even open a store when it is drained before it starts', async () => {
    const tested = new TestedService();
    const drained = tested.service.drain();
    await tested.settle();
    await drained;
    await expect(tested.service.start()).rejects.toThrow(StartCancelled);
  });
});

it('a store that fails while the broker drains is closed once', async () => {
  const { tested, client, disk } = await withOneStored();
  const subscriber = await tested.subscriber('q');
  const drained = tested.service.drain();
  await tested.settle();
  disk.isFull = true;
  subscriber.send(ack('m1'));
  await tested.settle();
  await drained;
  expect(client.isOver).toBe(true);
  expect([disk.openCount, disk.closeCount]).toEqual([1, 1]);
});

describe('after a commit has failed', () => {
  it('publishers and everybody else are told, and Connect is refused [DURABLE-017, DURABLE-018, DURABLE-020]', async () => {
    const { tested, client, disk } = await withOneStored();
    const other = await tested.connect();
    disk.isFull = true;
    client.send(publish('q', 'm2'));
    await tested.settle();
    const frames = client.take();
    expect(frames.map(({ command }) => command)).toEqual([99, 2]);
    expect(headersOf(other.take()[0])).toEqual({ reason: 'storage_error' });
    expect(await connectLines(tested)).toEqual(['Error c STORAGE_ERROR']);
    expect(tested.service.readiness()).toEqual({
      ready: false,
      reason: 'the store has failed: the disk is full',
    });
    expect(await tested.exchange(tested.attach(), ping())).toEqual(['Pong ping']);
    await expect(tested.service.operator.purgeQueue('q')).rejects.toThrow('the store has failed');
  });

  it('it recovers once a probe succeeds, and has lost nothing [DURABLE-019, DURABLE-021]', async () => {
    const { tested, client, disk } = await withOneStored();
    disk.isFull = true;
    await tested.exchange(client, publish('q', 'm2'));
    await tested.advance(60_000);
    expect(disk.probeCount).toBeGreaterThan(5);
    expect(disk.probeCount).toBeLessThan(20);
    disk.isFull = false;
    await tested.advance(10_000);
    expect(tested.service.readiness()).toEqual({ ready: true });
    const subscriber = await tested.connect();
    expect(await tested.exchange(subscriber, subscribe('q'))).toEqual([
      'SubscribeAck subscribe-q q',
      'Deliver m1 q',
    ]);
    expect(disk.openCount - disk.closeCount).toBe(1);
    expect(tested.logged).toContain('the store works again');
  });

  it('what was stored in spite of the failure is there, for its publisher cannot know [DURABLE-017]', async () => {
    const { tested, client, disk } = await withOneStored();
    disk.deceivesOnce = true;
    expect((await tested.exchange(client, publish('q', 'm2')))[0]).toBe('Error m2 q STORAGE_ERROR');
    await tested.advance(100);
    expect(tested.service.queueInfo('q')?.messageCount).toBe(2);
  });

  it('it waits for a store that cannot even be opened [DURABLE-019]', async () => {
    const { tested, client, disk } = await withOneStored();
    disk.isFull = true;
    disk.hasFailed = true;
    await tested.exchange(client, publish('q', 'm2'));
    await tested.advance(30_000);
    disk.isFull = false;
    disk.hasFailed = false;
    await tested.advance(10_000);
    expect(tested.service.queueInfo('q')?.messageCount).toBe(1);
  });

  it('its counters go on [METRICS-007]', async () => {
    const { tested, client, disk } = await withOneStored();
    disk.deceivesOnce = true;
    await tested.exchange(client, publish('q', 'm2'));
    await connectLines(tested);
    await tested.advance(1_000);
    await tested.exchange(await tested.connect(), publish('q', 'm3'));
    expect(tested.service.stats()).toMatchObject({
      publishedCount: 3,
      errorsCount: 2,
      connectionsAcceptedCount: 3,
      activeConnectionCount: 1,
      averageDeliveryLatencyMs: 0,
    });
  });

  it('it can be stopped while it waits, and does not come back', async () => {
    const { tested, client, disk } = await withOneStored();
    disk.isFull = true;
    await tested.exchange(client, publish('q', 'm2'));
    const stopped = tested.service.drain();
    await tested.settle();
    await stopped;
    disk.isFull = false;
    await tested.advance(60_000);
    expect(disk.openCount).toBe(disk.closeCount);
    expect(tested.service.readiness().ready).toBe(false);
  });
});
