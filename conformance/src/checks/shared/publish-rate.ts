// Keeps many publishes of one connection under the rate of messages that the target declares, so that the broker refuses none of them for the
// haste of the runner. Waits only where a rate is known. Area: LIMIT (messages by client).
import { setTimeout as pause } from 'node:timers/promises';
import type { CheckContext } from '../../check.ts';

/** The shares of the rate: on average, and in one group that is sent at once. Together they are the whole rate of any second. */
const [averageShare, groupShare] = [0.8, 0.2];

/** How many publishes may be sent at once: `wanted`, or fewer. */
export function groupWithinRate({ target }: Pick<CheckContext, 'target'>, wanted: number): number {
  const { publishesPerSecond = Number.POSITIVE_INFINITY } = target;
  return Math.max(1, Math.min(wanted, Math.floor(publishesPerSecond * groupShare)));
}

/** Waits until `count` publishes since `sinceMs` are no more than the rate allows. */
export async function keepRate(
  { target, now }: Pick<CheckContext, 'target' | 'now'>,
  { sinceMs, count }: { readonly sinceMs: number; readonly count: number },
): Promise<void> {
  const { publishesPerSecond } = target;
  if (publishesPerSecond === undefined) return;
  const dueMs = sinceMs + (count * 1000) / (publishesPerSecond * averageShare);
  if (dueMs > now()) await pause(Math.ceil(dueMs - now()));
}
