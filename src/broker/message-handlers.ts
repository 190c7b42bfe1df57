// Handlers of publishes, subscriptions and acks. Implements PUBLISH-014, PUBLISH-019, PUBLISH-024, DELIVERY-057 to DELIVERY-064 and LIMIT-017.

import { answer } from './answers.ts';
import { closeWhenIdle } from './connection-handlers.ts';
import { type Core, MAX_CHANGES_PER_STEP } from './core.ts';
import type { InputOf } from './input-kinds.ts';
import { subscriptionBytes } from './queue/structure-bytes.ts';
import { queueFor, refusesStructure } from './queue-handlers.ts';

export function publish(core: Core, input: InputOf<'publish'>): void {
  const { connection, token, invalid } = input;
  if (invalid !== undefined && (core.settings.enableAutoCreate || core.queues.get(input.queue))) {
    return core.step.refuse(connection, token, 'INVALID_PAYLOAD', invalid);
  }
  const queue = queueFor(core, input);
  if (queue === undefined) return;
  const { publisher, subscriber } = core.connections.get(connection);
  core.publishes.publish(queue, publisher, input);
  if (subscriber.subscriptions.size === 0) core.pacing.published(queue, publisher);
}

export function subscribe(core: Core, input: InputOf<'subscribe'>): void {
  const { subscriber } = core.connections.get(input.connection);
  if (subscriber.subscriptions.has(input.queue)) return answer(core, input);
  if (subscriber.subscriptions.size >= core.settings.maxSubscriptionsPerConnection) {
    const text = `This connection has ${subscriber.subscriptions.size} subscriptions, which is the limit.`;
    return core.step.refuse(input.connection, input.token, 'LIMIT_EXCEEDED', text);
  }
  const queue = queueFor(core, input);
  if (queue === undefined || refusesStructure(core, input, subscriptionBytes(queue.name))) return;
  answer(core, input);
  core.subscriptions.add(subscriber, queue, input.maxInFlight);
}

export function unsubscribe(core: Core, input: InputOf<'unsubscribe'>): void {
  const { subscriber } = core.connections.get(input.connection);
  const subscription = subscriber.subscriptions.get(input.queue);
  if (subscription !== undefined) core.subscriptions.end(subscription, MAX_CHANGES_PER_STEP);
  answer(core, input);
}

export function acknowledge(
  core: Core,
  input: InputOf<'acknowledge'> | InputOf<'negativeAcknowledge'>,
): void {
  const connection = core.connections.find(input.connection);
  if (connection === undefined) return;
  const delivery = core.inFlight.find(connection.subscriber, input.id, input.queue);
  if (delivery === undefined) return;
  if (input.kind === 'acknowledge') core.attempts.acknowledged(delivery);
  else core.attempts.refused(delivery, input.reason);
  if (core.step.isDraining) closeWhenIdle(core, connection);
}
