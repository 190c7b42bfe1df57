// A user's rights have changed: every connection of the user has the new ones at once, and a subscription that lost its right ends, with its
// messages given back. Commands that were let through before, such as a publish that waits for room, stay. Implements AUTH-026 and AUTH-027.

import { QueueOperation } from '../model/access.ts';
import { closeWhenIdle } from './connection-handlers.ts';
import type { Connection } from './connections.ts';
import { type Core, MAX_CHANGES_PER_STEP } from './core.ts';
import type { Subscription } from './delivery/subscriber.ts';
import type { InputOf } from './input-kinds.ts';
import { TimerRank } from './queue/timer-rank.ts';

export function rightsChanged(core: Core, { principal }: InputOf<'rightsChanged'>): void {
  // While draining no timer fires that could go on later.
  let left = core.step.isDraining ? Number.POSITIVE_INFINITY : MAX_CHANGES_PER_STEP;
  for (const connection of core.users.change(principal)) {
    const { subscriber } = connection;
    const inFlightBefore = subscriber.inFlightCount;
    const lost = [...subscriber.subscriptions.values()].filter(
      ({ queueName }) => !connection.rights?.accessList.allows(QueueOperation.Subscribe, queueName),
    );
    for (const subscription of lost) left -= core.subscriptions.end(subscription, left);
    left -= giveBack(core, connection, new Set(lost), left);
    if (core.step.isDraining && inFlightBefore > 0) closeWhenIdle(core, connection);
  }
}

/** Gives back what was in flight on subscriptions that have ended: at most `limit` messages now and the others later; returns how many. */
function giveBack(
  core: Core,
  connection: Connection,
  ended: ReadonlySet<Subscription>,
  limit: number,
): number {
  if (ended.size === 0) return 0;
  const { subscriber } = connection;
  const { count, isComplete } = core.attempts.interruptedOn(subscriber, ended, limit);
  if (!isComplete) {
    const goOn = (more: number) => giveBack(core, connection, ended, more);
    core.timers.set(core.step.now, goOn, TimerRank.Ending);
  }
  return count;
}
