// The open loop: messages fall due by a schedule and are sent as soon as they are due and the window has room. Each carries the moment
// at which it fell due, so waiting for the window, for the process or for the broker all count. How late the generator
// itself was, with room in the window, is kept apart: a generator that is late measures itself.
import { LatencyHistogram } from '../statistics/latency-histogram.ts';
import type { ArrivalSchedule } from './arrival-schedule.ts';
import type { LoadClock } from './load-clock.ts';
import type { PublishWindow } from './publish-window.ts';

export type OpenLoopOptions = {
  readonly clock: LoadClock;
  readonly schedule: ArrivalSchedule;
  readonly window: PublishWindow;
  readonly send: (sequence: number, dueAtUs: number) => void;
  /** Hands over to the socket what was sent. */
  readonly flush: () => void;
  /** Lets the event loop read what has come. */
  readonly turn: () => Promise<void>;
  /** Lets at most this time pass; may return early. */
  readonly pause: (durationUs: number) => void;
  /** Throws what ended the pass. */
  readonly check: () => void;
};

/** Resolves when every message of the schedule was sent, with how late the generator was. */
export async function runOpenLoop(options: OpenLoopOptions): Promise<LatencyHistogram> {
  const { clock, schedule, window } = options;
  const lateness = new LatencyHistogram();
  // Since when the next message could have been sent: due, and room in the window.
  let roomSinceUs = clock.nowUs();
  while (window.sentCount < schedule.count) {
    options.check();
    const hadRoom = window.hasRoom;
    const sentCount = sendDue(options, lateness, roomSinceUs);
    if (sentCount > 0) options.flush();
    else if (window.hasRoom) options.pause(schedule.dueAtUs(window.sentCount) - clock.nowUs());
    await options.turn();
    if (!hadRoom && window.hasRoom) roomSinceUs = clock.nowUs();
  }
  return lateness;
}

function sendDue(options: OpenLoopOptions, lateness: LatencyHistogram, roomSinceUs: number): number {
  const { clock, schedule, window, send } = options;
  const nowUs = clock.nowUs();
  const before = window.sentCount;
  while (window.sentCount < schedule.count && window.hasRoom) {
    const dueAtUs = schedule.dueAtUs(window.sentCount);
    if (dueAtUs > nowUs) break;
    lateness.add(nowUs - Math.max(dueAtUs, roomSinceUs));
    send(window.sentCount, dueAtUs);
    window.sentCount += 1;
  }
  return window.sentCount - before;
}
