// Tests of LoadPace: the time is that of the publisher's own Pings, it grows while none is answered, and a lost Pong is forgotten.
import { describe, expect, it } from 'vitest';
import { LoadPace } from './load-pace.ts';

describe('the pace of a load', () => {
  it('is 0 before the first Ping', () => {
    expect(new LoadPace<string>(4000).roundTripMs('A', 10)).toBe(0);
  });

  it('is the time from the last answered Ping to its Pong', () => {
    const pace = new LoadPace<string>(4000);
    pace.sent('A', { id: '1', sentAt: 100 });
    pace.answered('A', '1', 150);
    pace.sent('A', { id: '2', sentAt: 200 });
    pace.answered('A', '2', 230);
    expect(pace.roundTripMs('A', 9000)).toBe(30);
  });

  it('grows while a Ping has no answer, from the oldest of them', () => {
    const pace = new LoadPace<string>(4000);
    pace.sent('A', { id: '1', sentAt: 100 });
    pace.sent('A', { id: '2', sentAt: 600 });
    expect(pace.roundTripMs('A', 1100)).toBe(1000);
    pace.answered('A', '1', 1200);
    expect(pace.roundTripMs('A', 1300)).toBe(1100);
  });

  it('forgets a Ping whose Pong is lost', () => {
    const pace = new LoadPace<string>(4000);
    pace.sent('A', { id: '1', sentAt: 0 });
    pace.answered('A', '1', 40);
    pace.sent('A', { id: '2', sentAt: 100 });
    expect(pace.roundTripMs('A', 4000)).toBe(3900);
    expect(pace.roundTripMs('A', 4100)).toBe(40);
  });

  it('is of one publisher, and ignores the Pongs of others', () => {
    const pace = new LoadPace<string>(4000);
    pace.sent('A', { id: '1', sentAt: 0 });
    pace.answered('B', '1', 10);
    expect(pace.roundTripMs('B', 500)).toBe(0);
    expect(pace.roundTripMs('A', 500)).toBe(500);
  });
});
