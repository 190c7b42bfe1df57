// When each broker has last sent a frame to any check. It tells a broker that is busy with other checks from one that does not answer at all.
import type { Broker } from '../target/broker.ts';
import { within } from '../within.ts';

type Activity = { lastFrameAt: number; readonly waiting: Set<() => void> };

const activities = new WeakMap<Broker, Activity>();

/** `atMs`: milliseconds since the start of the run. */
export function noteFrame(broker: Broker, atMs: number): void {
  const activity = activityOf(broker);
  activity.lastFrameAt = atMs;
  for (const resolve of activity.waiting) resolve();
}

/**
 * Whether a frame came from the broker at or after `sinceMs`, in milliseconds since the start of the run. Waits for one up to `forMs`: a broker
 * that handles thousands of messages before it turns to anybody else sends nothing in the meantime.
 */
export async function sendsSince(broker: Broker, sinceMs: number, forMs: number): Promise<boolean> {
  const activity = activityOf(broker);
  if (activity.lastFrameAt >= sinceMs) return true;
  let onFrame = (): void => undefined;
  const nextFrame = new Promise<true>((resolve) => {
    onFrame = () => resolve(true);
  });
  activity.waiting.add(onFrame);
  const came = await within(nextFrame, forMs);
  activity.waiting.delete(onFrame);
  return came === true;
}

function activityOf(broker: Broker): Activity {
  const activity = activities.get(broker) ?? { lastFrameAt: Number.NEGATIVE_INFINITY, waiting: new Set() };
  activities.set(broker, activity);
  return activity;
}
