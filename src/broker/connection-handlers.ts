// Handlers of what happens to connections, and of the shutdown that ends them. Implements DELIVERY-038, OVERFLOW-018, SHUTDOWN-005,
// SHUTDOWN-007 and SHUTDOWN-008.

import { SHUTTING_DOWN } from './answers.ts';
import type { Connection } from './connections.ts';
import { type Core, MAX_CHANGES_PER_STEP } from './core.ts';
import type { InputOf } from './input-kinds.ts';

export function connected(core: Core, input: InputOf<'connected'>): void {
  const connection = core.connections.add(input.connection);
  if (input.principal !== undefined) core.users.join(connection, input.principal);
  if (core.step.isDraining) closeWhenIdle(core, connection);
}

export function disconnected(core: Core, input: InputOf<'disconnected'>): void {
  const connection = core.connections.find(input.connection);
  if (connection === undefined) return;
  const { publisher, subscriber } = connection;
  core.connections.delete(input.connection);
  core.users.leave(connection);
  core.publishes.withdrawOf(publisher);
  // Attempts that are due and not made end with the connection, like all that it has in flight.
  core.inFlight.takeOverdue(subscriber);
  let left = MAX_CHANGES_PER_STEP;
  for (const subscription of [...subscriber.subscriptions.values()]) {
    left -= core.subscriptions.end(subscription, left);
  }
  core.attempts.interrupted(subscriber);
  core.inFlight.deleteSubscriber(subscriber);
}

/** Tells whether the connection takes more frames. Queues that waited for a saturated connection go on, with it or without it. */
export function writable(core: Core, input: InputOf<'writable'>): void {
  const subscriber = core.connections.find(input.connection)?.subscriber;
  if (subscriber === undefined) return;
  const wasSaturated = core.bursts.endSaturation(subscriber);
  subscriber.writable = input.writable;
  if (wasSaturated) {
    for (const { membership } of subscriber.subscriptions.values()) membership?.touch();
  }
  subscriber.refresh();
  if (input.writable && !core.step.isDraining) core.attempts.retryOverdue(subscriber);
}

export function drain(core: Core): void {
  if (core.step.isDraining) return;
  core.step.isDraining = true;
  core.purges.cancelAll(SHUTTING_DOWN);
  for (const name of core.queues.names()) {
    const queue = core.queues.get(name);
    if (queue !== undefined) core.publishes.withdrawAll(queue, 'SHUTTING_DOWN', SHUTTING_DOWN);
  }
  for (const connection of core.connections.all()) closeWhenIdle(core, connection);
}

/** While draining: a connection with nothing in flight can be closed. */
export function closeWhenIdle({ step }: Core, { id, subscriber }: Connection): void {
  if (subscriber.inFlightCount === 0) step.effect({ kind: 'close', connection: id });
}
