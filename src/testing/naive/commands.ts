// The naive broker's answers to commands (QUEUE, PUBLISH, DELIVERY, OVERFLOW, LIMIT).

import type { RefusalCode } from '../../broker/interface/effect.ts';
import type { CreateQueueInput, Input, PublishInput, SubscribeInput } from '../../broker/interface/input.ts';
import type { MessageContent } from '../../broker/interface/message-content.ts';
import { admitDeadLetters } from './dead-letters.ts';
import { addMessage, canEnter, createQueue, finishIfEnded, purge, pushOutOldest } from './giving-up.ts';
import { deadLetterName, defaultOptions, isPossible, meanTheSame } from './options.ts';
import { isShown } from './rights.ts';
import {
  connectionOf,
  findQueue,
  infoOf,
  isOverdue,
  type NaiveConnection,
  type NaiveCopy,
  type NaiveQueue,
  type NaiveState,
  type NaiveSubscription,
  nextOrder,
  queuedBytes,
  weightOf,
} from './state.ts';

type CommandInput = Extract<Input, { readonly token: unknown }>;

export function answer(state: NaiveState, input: CommandInput): void {
  state.effects.push({ kind: 'answered', connection: input.connection, token: input.token });
}

export function refuse(state: NaiveState, input: CommandInput, code: RefusalCode): void {
  state.effects.push({ kind: 'refused', connection: input.connection, token: input.token, code, text: '' });
}

export function handleCreateQueue(state: NaiveState, input: CreateQueueInput): void {
  const options = input.options ?? defaultOptions(state.settings);
  const refusal = refusalOfCreate(state, input);
  if (refusal !== undefined) {
    refuse(state, input, refusal);
    return;
  }
  if (findQueue(state, input.queue) === undefined) createQueue(state, input.queue, options);
  answer(state, input);
}

function refusalOfCreate(
  state: NaiveState,
  { queue: name, options: asked, invalid }: CreateQueueInput,
): RefusalCode | undefined {
  const live = findQueue(state, name);
  if (live !== undefined) {
    if (invalid !== undefined) return 'QUEUE_EXISTS';
    return asked === undefined || meanTheSame(name, live.options, asked) ? undefined : 'QUEUE_EXISTS';
  }
  const options = asked ?? defaultOptions(state.settings);
  if (invalid !== undefined || !isPossible(name, options)) return 'INVALID_PAYLOAD';
  const needed = [name, ...(options.enableDeadLetterQueue ? [deadLetterName(name, options)] : [])];
  const missing = needed.filter((one) => findQueue(state, one) === undefined);
  return state.queues.length + missing.length > state.settings.maxQueues ? 'LIMIT_EXCEEDED' : undefined;
}

export function handleDeleteQueue(state: NaiveState, input: Extract<Input, { kind: 'deleteQueue' }>): void {
  const queue = findQueue(state, input.queue);
  if (queue !== undefined) refuseBlocked(state, queue, 'QUEUE_NOT_FOUND');
  state.queues = state.queues.filter((one) => one !== queue);
  answer(state, input);
}

export function handlePurgeQueue(state: NaiveState, input: Extract<Input, { kind: 'purgeQueue' }>): void {
  const queue = findQueue(state, input.queue);
  if (queue === undefined) {
    refuse(state, input, 'QUEUE_NOT_FOUND');
    return;
  }
  purge(state, queue);
  answer(state, input);
}

/** Refuses all publishes that wait for room in the queue. */
export function refuseBlocked(state: NaiveState, queue: NaiveQueue, code: RefusalCode): void {
  for (const { connection, token } of queue.blocked.flatMap((one) => one.askers)) {
    state.effects.push({ kind: 'refused', connection: connection.id, token, code, text: '' });
  }
  queue.blocked = [];
}

export function handleQueueInfo(state: NaiveState, input: Extract<Input, { kind: 'queueInfo' }>): void {
  const result = infoOf(state, input.queue) ?? null;
  state.effects.push({ kind: 'answered', connection: input.connection, token: input.token, result });
}

export function handleListQueues(state: NaiveState, input: Extract<Input, { kind: 'listQueues' }>): void {
  const { principal } = connectionOf(state, input.connection);
  const names = state.queues.map((queue) => queue.name);
  const result = names.filter((name) => isShown(principal, name));
  state.effects.push({ kind: 'answered', connection: input.connection, token: input.token, result });
}

/** The queue that a publish or subscribe names, made if that is allowed; undefined when the command was refused. */
function queueFor(state: NaiveState, input: PublishInput | SubscribeInput): NaiveQueue | undefined {
  const live = findQueue(state, input.queue);
  if (live !== undefined) return live;
  const content = input.kind === 'publish' ? input.content : undefined;
  if (!state.settings.enableAutoCreate) refuse(state, input, 'QUEUE_NOT_FOUND');
  else if (state.queues.length + 1 > state.settings.maxQueues) refuse(state, input, 'LIMIT_EXCEEDED');
  else if ((content?.byteLength ?? 0) > state.settings.maxContentBytes)
    refuse(state, input, 'MESSAGE_TOO_LARGE');
  else if (content !== undefined && exceedsMemory(state, content)) refuse(state, input, 'MEMORY_LIMIT');
  else return createQueue(state, input.queue, defaultOptions(state.settings));
  return undefined;
}

export function handleSubscribe(state: NaiveState, input: SubscribeInput): void {
  const connection = connectionOf(state, input.connection);
  const own = state.subscriptions.filter((one) => one.connection === connection);
  if (own.some((one) => one.queueName === input.queue)) answer(state, input);
  else if (own.length >= state.settings.maxSubscriptionsPerConnection) refuse(state, input, 'LIMIT_EXCEEDED');
  else if (queueFor(state, input) !== undefined) {
    answer(state, input);
    state.subscriptions.push(newSubscription(state, connection, input));
  }
}

function newSubscription(
  state: NaiveState,
  connection: NaiveConnection,
  input: SubscribeInput,
): NaiveSubscription {
  const fixed = input.maxInFlight !== undefined;
  const asked = input.maxInFlight ?? 8;
  const window = Math.max(1, Math.min(asked, state.settings.maxInFlightPerSubscriber));
  return { place: nextOrder(state), connection, queueName: input.queue, window, fixed };
}

export function handleUnsubscribe(state: NaiveState, input: Extract<Input, { kind: 'unsubscribe' }>): void {
  answer(state, input);
  endSubscriptions(
    state,
    (one) => one.connection.id === input.connection && one.queueName === input.queue,
    (copy) => copy.state === 'unsent' || isOverdue(copy),
  );
}

/** Removes subscriptions, and those of their copies that are lost with them. */
export function endSubscriptions(
  state: NaiveState,
  chosen: (subscription: NaiveSubscription) => boolean,
  isLost: (copy: NaiveCopy) => boolean,
): void {
  state.subscriptions = state.subscriptions.filter((one) => !chosen(one));
  for (const queue of state.queues) {
    for (const message of [...queue.messages]) {
      const lost = message.copies.filter((copy) => chosen(copy.subscription) && isLost(copy));
      if (lost.length === 0) continue;
      for (const copy of lost) copy.state = 'ended';
      finishIfEnded(state, queue, message);
      admitDeadLetters(state);
    }
  }
}

export function handlePublish(state: NaiveState, input: PublishInput): void {
  if (input.invalid !== undefined && canHaveQueue(state, input.queue)) {
    refuse(state, input, 'INVALID_PAYLOAD');
    return;
  }
  const queue = queueFor(state, input);
  if (queue === undefined) return;
  if (isTooLarge(state, queue, input.content)) refuse(state, input, 'MESSAGE_TOO_LARGE');
  else if (handleRepeat(state, queue, input)) return;
  else if (exceedsMemory(state, input.content)) refuse(state, input, 'MEMORY_LIMIT');
  else if (queue.blocked.length > 0 || !canEnter(state, queue)) overflow(state, queue, input);
  else accept(state, queue, input);
}

function exceedsMemory(state: NaiveState, content: MessageContent): boolean {
  return queuedBytes(state) + weightOf(content) > state.settings.maxQueuedBytes;
}

/** A refused message creates no queue, but a missing queue that may not be created is reported first. */
function canHaveQueue(state: NaiveState, name: string): boolean {
  return findQueue(state, name) !== undefined || state.settings.enableAutoCreate;
}

export function isTooLarge(state: NaiveState, queue: NaiveQueue, content: MessageContent): boolean {
  const name = deadLetterName(queue.name, queue.options);
  const longer = Buffer.byteLength(name) - Buffer.byteLength(queue.name);
  const growth = queue.options.enableDeadLetterQueue ? Math.max(0, longer) : 0;
  return content.byteLength + growth > state.settings.maxContentBytes;
}

function accept(state: NaiveState, queue: NaiveQueue, input: PublishInput): void {
  addMessage(state, queue, input, undefined);
  state.counters.publishedCount += 1;
  answer(state, input);
}

/** Whether the publish named a message that the queue has already; then it has been dealt with. */
function handleRepeat(state: NaiveState, queue: NaiveQueue, input: PublishInput): boolean {
  if (queue.messages.some((one) => one.id === input.id && one.deadLetter === undefined)) {
    answer(state, input);
    return true;
  }
  const blocked = queue.blocked.find((one) => one.id === input.id);
  if (blocked === undefined) return false;
  const connection = connectionOf(state, input.connection);
  if (mayBlockMore(state, connection, 0)) {
    blocked.askers.push({ connection, token: input.token });
  } else {
    refuse(state, input, 'QUEUE_FULL');
  }
  return true;
}

function overflow(state: NaiveState, queue: NaiveQueue, input: PublishInput): void {
  switch (queue.options.overflowStrategy) {
    case 0:
      pushOutOldest(state, queue);
      accept(state, queue, input);
      break;
    case 1:
      refuse(state, input, 'QUEUE_FULL');
      break;
    case 2:
      block(state, queue, input);
      break;
    case 3:
      state.deadLetters.push({
        source: queue,
        message: input,
        failure: { reason: 'QueueOverflow', attempts: 0 },
      });
      state.counters.publishedCount += 1;
      answer(state, input);
      break;
  }
}

function block(state: NaiveState, queue: NaiveQueue, input: PublishInput): void {
  const connection = connectionOf(state, input.connection);
  if (!mayBlockMore(state, connection, input.content.byteLength)) {
    refuse(state, input, 'QUEUE_FULL');
    return;
  }
  const asker = { connection, token: input.token };
  queue.blocked.push({ id: input.id, priority: input.priority, content: input.content, askers: [asker] });
}

/** Whether the connection may have one more blocked command; a repeat brings no bytes of its own. */
function mayBlockMore(state: NaiveState, connection: NaiveConnection, byteLength: number): boolean {
  const blocked = state.queues.flatMap((queue) => queue.blocked);
  const asked = blocked.flatMap((one) => one.askers).filter((asker) => asker.connection === connection);
  const own = blocked.filter((one) => one.askers[0]?.connection === connection);
  const bytes = own.reduce((sum, one) => sum + one.content.byteLength, 0);
  return (
    asked.length < state.settings.maxBlockedPublishes && bytes + byteLength <= state.settings.maxBlockedBytes
  );
}
