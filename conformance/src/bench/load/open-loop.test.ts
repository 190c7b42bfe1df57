// The loops in virtual time, against brokers that stall: what was due during a stall counts with all of its waiting, and a generator that
// was late itself says so.
import { describe, expect, it } from 'vitest';
import { LatencyHistogram } from '../statistics/latency-histogram.ts';
import { ArrivalSchedule } from './arrival-schedule.ts';
import { ClosedLoop } from './closed-loop.ts';
import { runOpenLoop } from './open-loop.ts';
import { PublishWindow } from './publish-window.ts';

/** A broker that answers everything at once, but for the stalls: what is sent in one is answered at its end. */
class FakeBroker {
  readonly latency = new LatencyHistogram();
  nowUs = 0;
  readonly #stalls: readonly (readonly [fromUs: number, toUs: number])[];
  readonly #window: PublishWindow;
  #held: number[] = [];

  constructor(window: PublishWindow, stalls: readonly (readonly [number, number])[]) {
    this.#window = window;
    this.#stalls = stalls;
  }

  send(stampUs: number): void {
    this.#held.push(stampUs);
    this.deliver();
  }

  pass(durationUs: number): void {
    this.nowUs += durationUs;
    this.deliver();
  }

  deliver(): void {
    if (this.#stalls.some(([from, to]) => this.nowUs >= from && this.nowUs < to)) return;
    for (const stampUs of this.#held.splice(0)) {
      this.latency.add(this.nowUs - stampUs);
      this.#window.answeredCount += 1;
    }
  }
}

async function openLoop(options: {
  readonly perSecond: number;
  readonly durationMs: number;
  readonly window: number;
  readonly stalls?: readonly (readonly [number, number])[];
  /** How long the generator itself is away when it pauses. */
  readonly oversleepUs?: number;
}) {
  const window = new PublishWindow({ window: options.window });
  const broker = new FakeBroker(window, options.stalls ?? []);
  const lateness = await runOpenLoop({
    clock: { nowUs: () => broker.nowUs },
    schedule: new ArrivalSchedule({ startUs: 0, ...options }),
    window,
    send: (_, dueAtUs) => broker.send(dueAtUs),
    flush: () => {},
    turn: async () => broker.pass(1),
    pause: (durationUs) => broker.pass(Math.max(0, durationUs) + (options.oversleepUs ?? 0)),
    check: () => {},
  });
  return { latency: broker.latency.summary(), lateness: lateness.summary() };
}

describe('an arrival schedule', () => {
  it('is fixed before anything is sent', () => {
    const schedule = new ArrivalSchedule({ startUs: 100, perSecond: 1000, durationMs: 5000 });
    expect(schedule.count).toBe(5000);
    expect([0, 1, 2].map((sequence) => schedule.dueAtUs(sequence))).toEqual([100, 1100, 2100]);
  });

  it('lets several fall due at once when the rate is high, and keeps the rate', () => {
    const schedule = new ArrivalSchedule({ startUs: 0, perSecond: 100_000, durationMs: 1000 });
    expect([0, 49, 50, 99_999].map((sequence) => schedule.dueAtUs(sequence))).toEqual([0, 0, 500, 999_500]);
  });
});

describe('the open loop', () => {
  it('measures nothing but the broker when nobody stalls', async () => {
    const { latency, lateness } = await openLoop({ perSecond: 1000, durationMs: 1000, window: 10 });
    expect(latency.count).toBe(1000);
    expect(Math.max(latency.maxUs, lateness.maxUs)).toBeLessThanOrEqual(1);
  });

  it('counts the waiting of every message that was due in a stall', async () => {
    const { latency } = await openLoop({
      perSecond: 1000,
      durationMs: 1000,
      window: 10_000,
      stalls: [[200_000, 300_000]],
    });
    // A hundred of the thousand were due in the stall, and waited from 100 ms down to 1.
    expect(latency.count).toBe(1000);
    expect(latency.p50Us).toBeLessThanOrEqual(1);
    expect(latency.maxUs).toBeGreaterThanOrEqual(99_000);
    expect(latency.p99Us).toBeGreaterThanOrEqual(90_000 * 0.99);
  });

  it('counts it also where the window kept them from being sent, and blames nobody else', async () => {
    const { latency, lateness } = await openLoop({
      perSecond: 1000,
      durationMs: 1000,
      window: 4,
      stalls: [[200_000, 300_000]],
    });
    expect(latency.count).toBe(1000);
    expect(latency.p99Us).toBeGreaterThanOrEqual(90_000 * 0.99);
    expect(lateness.maxUs).toBeLessThan(1100);
  });

  it('says when it was late itself', async () => {
    const { latency, lateness } = await openLoop({
      perSecond: 100,
      durationMs: 1000,
      window: 10,
      oversleepUs: 3000,
    });
    expect(lateness.p50Us).toBeGreaterThanOrEqual(2900);
    expect(latency.p50Us).toBeGreaterThanOrEqual(2900);
  });

  it('ends with what ended the pass', async () => {
    const window = new PublishWindow({ window: 1 });
    const run = runOpenLoop({
      clock: { nowUs: () => 0 },
      schedule: new ArrivalSchedule({ startUs: 0, perSecond: 1, durationMs: 9000 }),
      window,
      send: () => {},
      flush: () => {},
      turn: async () => {},
      pause: () => {},
      check: () => {
        if (window.sentCount > 0) throw new Error('the connection broke');
      },
    });
    await expect(run).rejects.toThrow('the connection broke');
  });
});

describe('the closed loop', () => {
  it('keeps the window full until the time is over', () => {
    const window = new PublishWindow({ window: 3 });
    const sent: number[] = [];
    let nowUs = 0;
    const send = (sequence: number): number => sent.push(sequence);
    const clock = { nowUs: () => nowUs };
    const loop = new ClosedLoop({ clock, window, durationMs: 1, maxCount: 100, send });
    loop.pump();
    expect(sent).toEqual([0, 1, 2]);
    window.answeredCount = 2;
    loop.pump();
    expect(sent).toEqual([0, 1, 2, 3, 4]);
    nowUs = 1000;
    window.answeredCount = 5;
    loop.pump();
    expect([sent.length, loop.isOver, window.isEmpty]).toEqual([5, true, true]);
  });

  it('stops at the wanted number, and at the lead over the slowest subscriber', () => {
    const window = new PublishWindow({ window: 100, lead: 4 });
    const options = { clock: { nowUs: () => 0 }, window, durationMs: 1, maxCount: 6, send: () => {} };
    const loop = new ClosedLoop(options);
    loop.pump();
    expect([window.sentCount, loop.isOver]).toEqual([4, false]);
    window.receivedCount = 4;
    loop.pump();
    expect([window.sentCount, loop.isOver]).toEqual([6, true]);
  });
});
