// When refused connections are closed: a few at once, the others at the end of the turn.
import { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CLOSED_AT_ONCE, MAX_WAITING, RefusedConnections, TURN_MS } from './refused-connections.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});

afterEach(() => {
  vi.useRealTimers();
});

/** Refuses so many connections. Returns them. */
function refusedBy(refused: RefusedConnections, count: number): readonly Socket[] {
  const sockets = Array.from({ length: count }, () => new Socket());
  for (const socket of sockets) refused.close(socket);
  return sockets;
}

function closedCount(sockets: readonly Socket[]): number {
  return sockets.filter(({ destroyed }) => destroyed).length;
}

describe('refused connections', () => {
  it('are closed at once while they are few [LIMIT-024]', () => {
    const refused = new RefusedConnections();
    for (let turn = 0; turn < 3; turn += 1) {
      expect(closedCount(refusedBy(refused, CLOSED_AT_ONCE))).toBe(CLOSED_AT_ONCE);
      vi.advanceTimersByTime(TURN_MS);
    }
  });

  it('are closed at the end of the turn when there were many, and then a few at once again [LIMIT-024]', () => {
    const refused = new RefusedConnections();
    const sockets = refusedBy(refused, CLOSED_AT_ONCE + 3);
    expect(closedCount(sockets)).toBe(CLOSED_AT_ONCE);
    vi.advanceTimersByTime(TURN_MS - 1);
    expect(closedCount(sockets)).toBe(CLOSED_AT_ONCE);
    vi.advanceTimersByTime(1);
    expect(closedCount(sockets)).toBe(CLOSED_AT_ONCE + 3);
    expect(closedCount(refusedBy(refused, 1))).toBe(1);
  });

  it('do not wait when many others wait', () => {
    const refused = new RefusedConnections();
    const sockets = refusedBy(refused, CLOSED_AT_ONCE + MAX_WAITING + 5);
    expect(closedCount(sockets)).toBe(CLOSED_AT_ONCE + 5);
    vi.advanceTimersByTime(TURN_MS);
    expect(closedCount(sockets)).toBe(sockets.length);
  });

  it('keep nothing that they are sent while they wait, and are not read if they were not', () => {
    const refused = new RefusedConnections();
    refusedBy(refused, CLOSED_AT_ONCE);
    const [read, unread] = [new Socket(), new Socket().pause()];
    for (const socket of [read, unread]) refused.close(socket);
    expect([read.readableFlowing, unread.readableFlowing]).toEqual([true, false]);
  });

  it('may fail while they wait', () => {
    const refused = new RefusedConnections();
    const [last] = refusedBy(refused, CLOSED_AT_ONCE + 1).slice(-1);
    expect(() => last?.emit('error', new Error('read ECONNRESET'))).not.toThrow();
    vi.advanceTimersByTime(TURN_MS);
    expect(last?.destroyed).toBe(true);
  });

  it('keep the process alive while they wait: the listener waits for their end [SHUTDOWN-009]', () => {
    vi.useRealTimers();
    const timerCount = (): number =>
      process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
    const before = timerCount();
    refusedBy(new RefusedConnections(), CLOSED_AT_ONCE + 1);
    expect(timerCount()).toBe(before + 1);
  });
});
