// The feed in virtual time: the table it keeps, and how it connects again.

import { describe, expect, it } from 'vitest';
import { liveChange, liveQueue, liveSnapshot } from '../../testing/fake-dashboard.ts';
import { VirtualEnvironment } from '../../testing/virtual-environment.ts';
import type { EventReceiver, StreamEnd } from './event-request.ts';
import { LiveFeed } from './live-feed.ts';

const snapshot = liveSnapshot([liveQueue(1, 'a')], [[1, 10, 0, 0, 0, 0, 0, 0, 0]]);

function startFeed() {
  const environment = new VirtualEnvironment();
  const receivers: EventReceiver[] = [];
  const updates: boolean[] = [];
  const failures: StreamEnd[] = [];
  let closedCount = 0;
  const feed = new LiveFeed({
    open: (receiver) => {
      receivers.push(receiver);
      return () => {
        closedCount += 1;
      };
    },
    ...environment,
    onUpdate: (isChange) => void updates.push(isChange),
    onFailure: (end) => void failures.push(end),
  });
  const current = () => receivers.at(-1) as EventReceiver;
  const send = (name: string, event: unknown) => current().onEvent({ name, data: JSON.stringify(event) });
  const end = (reason: string, asksForCredentials = false) => current().onEnd({ reason, asksForCredentials });
  return { environment, feed, receivers, updates, failures, send, end, closedCount: () => closedCount };
}

const waiting = (feed: LiveFeed) => [...(feed.table?.rows.values() ?? [])].map((row) => row.waitingCount);

describe('the feed', () => {
  it('keeps the table of the snapshot and the changes, and ignores other events', () => {
    const { feed, send, updates } = startFeed();
    send('hello', 1);
    expect(feed.table).toBeUndefined();
    send('snapshot', snapshot);
    send('change', liveChange([[1, 11, 0, 0, 0, 0, 0, 0, 0]]));
    expect(waiting(feed)).toEqual([11]);
    expect(updates).toEqual([false, true]);
  });

  it('fails when the first connection fails', () => {
    const { end, failures, receivers } = startFeed();
    end('nobody listens');
    expect(failures).toEqual([{ reason: 'nobody listens', asksForCredentials: false }]);
    expect(receivers).toHaveLength(1);
  });

  it('keeps the table when the connection ends, and connects again every second until a snapshot arrives', async () => {
    const { environment, feed, send, end, receivers, updates } = startFeed();
    send('snapshot', snapshot);
    end('the connection was lost');
    await environment.advance(999);
    expect([receivers.length, feed.lost]).toEqual([1, { forMs: 999, reason: 'the connection was lost' }]);
    await environment.advance(1);
    end('nobody listens');
    await environment.advance(1000);
    expect([receivers.length, feed.lost]).toEqual([3, { forMs: 2000, reason: 'nobody listens' }]);
    expect(waiting(feed)).toEqual([10]);
    send('snapshot', liveSnapshot([], []));
    expect([feed.lost, waiting(feed)]).toEqual([undefined, []]);
    expect(updates).toEqual([false, false, false, false]);
  });

  it('fails when the broker does not accept the credentials any more', () => {
    const { send, end, failures } = startFeed();
    send('snapshot', snapshot);
    end('no', true);
    expect(failures).toHaveLength(1);
  });

  it('refuses events that it cannot read, and a change before the snapshot of its connection', async () => {
    const { environment, send, end, receivers } = startFeed();
    expect(() => receivers[0]?.onEvent({ name: 'snapshot', data: '{' })).toThrow(
      'snapshot of the broker cannot',
    );
    expect(() => send('snapshot', {})).toThrow('cannot be read');
    expect(() => send('change', liveChange([]))).toThrow('before the snapshot');
    send('snapshot', snapshot);
    end('lost');
    await environment.advance(1000);
    expect(() => send('change', liveChange([]))).toThrow('before the snapshot');
  });

  it('ends its connection and its attempts when it is closed', async () => {
    const open = startFeed();
    open.feed.close();
    expect(open.closedCount()).toBe(1);
    const { environment, feed, send, end, receivers } = startFeed();
    send('snapshot', snapshot);
    end('lost');
    feed.close();
    await environment.advance(5000);
    expect(receivers).toHaveLength(1);
  });
});
