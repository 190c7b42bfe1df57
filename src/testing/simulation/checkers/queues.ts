// Checks queues: they exceed their size only by returned messages, contain no expired messages and none that a subscriber with room should
// have, and publishes are refused only when the queue is full (OVERFLOW, TTL, DELIVERY).

import { DeliveryMode } from '../../../model/delivery-mode.ts';
import type { QueueInfo } from '../../../model/queue-info.ts';
import { Command } from '../../../protocol/command.ts';
import type { Fact, Ledger } from '../ledger.ts';
import type { SeenConnection, SeenSubscription } from '../ledger-entries.ts';
import type { Checker, Complain } from './checker.ts';

export function queuesChecker(slackMs: number): Checker {
  let before: Infos = new Map();
  let infos: Infos = new Map();
  let publishedBefore = 0;
  let published = 0;
  return (fact, ledger, complain) => {
    switch (fact.kind) {
      case 'stepped':
        before = infos;
        infos = infosOf(ledger);
        publishedBefore = published;
        published = fact.now.publishedCount;
        for (const info of infos.values()) checkSize(info, ledger, complain);
        return;
      case 'answered':
        if (published === publishedBefore) checkFullness(fact, before, infos, ledger, complain);
        return;
      case 'idle':
        for (const info of infos.values()) {
          if (info.messageCount === 0 || ledger.isDisturbed(info.name, ledger.epoch)) continue;
          checkAge(info, fact.at - slackMs, ledger, complain);
          checkMoves(info, fact.restful, ledger, complain);
        }
        return;
      default:
        return;
    }
  };
}

export type Infos = ReadonlyMap<string, QueueInfo>;

export function infosOf(ledger: Ledger): Infos {
  return new Map(
    [...ledger.queues.values()].flatMap(({ name, info }) => (info === undefined ? [] : [[name, info]])),
  );
}

function checkSize({ name, messageCount, options }: QueueInfo, ledger: Ledger, complain: Complain): void {
  const over = messageCount - options.maxQueueSize;
  if (over > 0 && over > returned(name, ledger))
    complain(`${name} holds ${messageCount} waiting messages, of ${options.maxQueueSize}`);
}

/** How many messages may have returned to the queue from subscribers; those lost on the way to one were not observed. */
function returned(name: string, ledger: Ledger): number {
  // While draining, refused messages return immediately.
  if (ledger.leftCount > 0 || ledger.isDraining) return Number.POSITIVE_INFINITY;
  let count = 0;
  for (const connection of ledger.connections.values()) {
    for (const { queue, subscription, sends } of connection.copies.values()) {
      const mayComeBack =
        subscription.isEnding || connection.leavingSince !== undefined || connection.wasCongested;
      if (queue === name && (mayComeBack || sends.length > 1)) count += 1;
    }
  }
  return count;
}

/** In a batch without accepted and returned messages, the queue was as full as before or after. */
function checkFullness(
  { command, frame }: Extract<Fact, { kind: 'answered' }>,
  before: ReadonlyMap<string, QueueInfo>,
  after: ReadonlyMap<string, QueueInfo>,
  ledger: Ledger,
  complain: Complain,
): void {
  if (frame.command !== Command.Error || frame.errorCode !== 'QUEUE_FULL' || ledger.leftCount > 0) return;
  const name = command.sent.queue;
  const [first, then] = [before.get(name), after.get(name)];
  if (first === undefined || then === undefined || ledger.isDisturbed(name, command.afterEpoch + 1)) return;
  const most = Math.max(first.messageCount, then.messageCount);
  if (most < then.options.maxQueueSize && returned(name, ledger) === 0)
    complain(`${name} refused a publish with ${most} waiting messages, of ${then.options.maxQueueSize}`);
}

/** Dead letters cannot be counted before they are delivered: dead letter queues are left out. */
function checkAge(
  { name, messageCount, options }: QueueInfo,
  now: number,
  ledger: Ledger,
  complain: Complain,
): void {
  const ttl = options.messageTtlMs;
  if (ttl === undefined || ledger.isDraining || isDeadLetterQueue(name, ledger)) return;
  let young = 0;
  for (const message of ledger.messages.values()) {
    const mayBeThere =
      message.state === 'accepted' ? message.acceptedAt > now - ttl : message.state !== 'refused';
    if (message.queue === name && mayBeThere) young += 1;
  }
  if (messageCount > young)
    complain(`${name} holds ${messageCount} messages and only ${young} may be young enough`);
}

function isDeadLetterQueue(name: string, ledger: Ledger): boolean {
  return [...ledger.queues.values()].some(
    ({ name: source, info }) =>
      info?.options.enableDeadLetterQueue === true &&
      name === (info.options.deadLetterQueueName ?? `${source}.dlq`),
  );
}

/** Repeatedly interrupted messages may be in backoff; after the end of two connections that is not known. */
function checkMoves(info: QueueInfo, restful: ReadonlySet<number>, ledger: Ledger, complain: Complain): void {
  if (ledger.isDraining || ledger.leftCount > 1 || info.options.mode === DeliveryMode.FanOutWithAck) return;
  for (const number of restful) {
    const connection = ledger.connections.get(number);
    const subscription = connection?.subscriptions.get(info.name);
    if (connection === undefined || subscription === undefined) continue;
    if (hasRoom(connection, subscription, info))
      complain(`${info.messageCount} messages wait in ${info.name}, and connection ${number} holds none`);
  }
}

function hasRoom(
  connection: SeenConnection,
  subscription: SeenSubscription,
  { options }: QueueInfo,
): boolean {
  if (connection.leavingSince !== undefined || subscription.isEnding) return false;
  if (options.mode === DeliveryMode.FanOutWithoutAck) return true;
  return [...subscription.copies].every(({ settledEpoch }) => settledEpoch !== undefined);
}
