// Handlers of the commands about queues. Implements QUEUE-001 to QUEUE-015, QUEUE-019, QUEUE-044 to QUEUE-048, PUBLISH-026, LIMIT-016
// and LIMIT-022.

import {
  defaultQueueOptions,
  impossibleOption,
  type QueueOptions,
  sameOptions,
} from '../model/queue-options.ts';
import { answer } from './answers.ts';
import { type Core, MAX_CHANGES_PER_STEP } from './core.ts';
import type { Asker, InputOf } from './input-kinds.ts';
import type { Queue } from './queue/queue.ts';
import { queueBytes, subscriptionBytes } from './queue/structure-bytes.ts';

export function createQueue(core: Core, input: InputOf<'createQueue'>): void {
  const { connection, token, queue: name, options, invalid } = input;
  const live = core.queues.get(name);
  if (live !== undefined) {
    const same = options === undefined ? invalid === undefined : sameOptions(name, options, live.options);
    if (same) return answer(core, input);
    return core.step.refuse(connection, token, 'QUEUE_EXISTS', `Queue ${name} exists with other options.`);
  }
  const wanted = options ?? defaultOptions(core);
  const impossible = invalid ?? impossibleOption(name, wanted);
  if (impossible !== undefined) {
    return core.step.refuse(connection, token, 'INVALID_PAYLOAD', `Queue ${name}: ${impossible}.`);
  }
  if (create(core, input, name, wanted) !== undefined) answer(core, input);
}

export function deleteQueue(core: Core, input: InputOf<'deleteQueue'>): void {
  const queue = core.queues.get(input.queue);
  if (queue !== undefined) {
    core.publishes.withdrawAll(queue, 'QUEUE_NOT_FOUND', `Queue ${queue.name} was deleted.`);
    core.lifecycle.clearTimers(queue);
    core.queues.delete(queue);
  }
  answer(core, input);
}

export function purgeQueue(core: Core, input: InputOf<'purgeQueue'>): void {
  const queue = core.queues.get(input.queue);
  if (queue !== undefined) return core.purges.begin(input, queue, MAX_CHANGES_PER_STEP);
  const text = `Queue ${input.queue} does not exist.`;
  core.step.refuse(input.connection, input.token, 'QUEUE_NOT_FOUND', text);
}

export function queueInfo(core: Core, input: InputOf<'queueInfo'>): void {
  answer(core, input, core.queues.get(input.queue)?.info() ?? null);
}

export function listQueues(core: Core, input: InputOf<'listQueues'>): void {
  const names = core.queues.names();
  const rights = core.connections.find(input.connection)?.rights;
  answer(core, input, rights === undefined ? names : core.visibleNames.of(rights.accessList, names));
}

/** The queue that a publish or subscribe names, created when that is allowed and helps; otherwise the command is refused. */
export function queueFor(core: Core, input: InputOf<'publish' | 'subscribe'>): Queue | undefined {
  const queue = core.queues.get(input.queue);
  if (queue !== undefined) return queue;
  if (core.settings.enableAutoCreate)
    return create(core, input, input.queue, defaultOptions(core), () => refusesInNewQueue(core, input));
  const text = `Queue ${input.queue} does not exist and is not created on its own here.`;
  core.step.refuse(input.connection, input.token, 'QUEUE_NOT_FOUND', text);
  return undefined;
}

/** Refuses a command for which so many bytes of structure would be needed, when the limit has no room for them. */
export function refusesStructure(
  { settings, step }: Core,
  { connection, token }: Asker,
  bytes: number,
): boolean {
  if (step.stats.structureBytes + bytes <= settings.maxStructureBytes) return false;
  const text = `The queues and subscriptions take as many bytes as they may, ${settings.maxStructureBytes}.`;
  step.refuse(connection, token, 'MEMORY_LIMIT', text);
  return true;
}

/** Refuses a command for which a new queue would be of no use. Returns whether it did. */
function refusesInNewQueue(core: Core, input: InputOf<'publish' | 'subscribe'>): boolean {
  if (input.kind === 'subscribe') {
    const bytes = queueBytes({ name: input.queue, deadLetterQueueName: input.queue });
    return refusesStructure(core, input, bytes + subscriptionBytes(input.queue));
  }
  const refusal = core.publishes.refusalInNewQueue(input);
  if (refusal === undefined) return false;
  core.step.refuse(input.connection, input.token, refusal.code, refusal.text);
  return true;
}

/** `refuses`: says, when nothing else prevents the queue, whether the command that it is for was refused. */
function create(
  core: Core,
  asker: Asker,
  name: string,
  options: QueueOptions,
  refuses = () => false,
): Queue | undefined {
  const { queues, settings, step } = core;
  const { connection, token } = asker;
  const missing = queues.missing(name, options);
  if (refusesStructure(core, asker, missing * queueBytes({ name, deadLetterQueueName: name })))
    return undefined;
  if (queues.size + missing <= settings.maxQueues) {
    if (refuses()) return undefined;
    const queue = queues.create(name, options);
    step.touch(queue);
    return queue;
  }
  const text = `The broker has ${queues.size} queues, which is the limit.`;
  step.refuse(connection, token, 'LIMIT_EXCEEDED', text);
  return undefined;
}

function defaultOptions({ settings }: Core): QueueOptions {
  const { defaultDeliveryMode, defaultMaxQueueSize } = settings;
  return { ...defaultQueueOptions, mode: defaultDeliveryMode, maxQueueSize: defaultMaxQueueSize };
}
