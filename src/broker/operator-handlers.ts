// Handlers of what only the operator asks: to look at single messages, to remove one, and to move a dead letter back to its source queue.
// A look changes nothing. Implements DASH-008, DASH-010, DASH-015 to DASH-017 and DASH-032 to DASH-034 on the core's side.

import type { Core } from './core.ts';
import type { Asker, InputOf } from './input-kinds.ts';
import type { MessageSnapshot, OperatorResult, RequeueOutcome } from './interface/operator-result.ts';
import type { QueuedMessage } from './queue/message.ts';
import type { Queue } from './queue/queue.ts';
import type { StepContext } from './queue/step-context.ts';
import { earlier } from './queue/waiting-order.ts';

/** `source`: only a dead letter that comes from this queue; absent: any message. */
type WantedMessage = { readonly id: string; readonly source?: string };

export function listMessages(core: Core, input: InputOf<'listMessages'>): void {
  const queue = namedQueue(core, input);
  if (queue === undefined) return;
  const messages: MessageSnapshot[] = [];
  let bytes = 0;
  for (const message of queue.allWaiting(input.offset)) {
    if (messages.length === input.limit || bytes > input.maxBytes) break;
    bytes += message.content.byteLength;
    messages.push(snapshot(core.step, queue, message));
  }
  tell(core, input, { kind: 'messages', messages });
}

export function readMessage(core: Core, input: InputOf<'readMessage'>): void {
  const queue = namedQueue(core, input);
  if (queue === undefined) return;
  const message = waitingMessage(queue, input) ?? messageInFlight(queue, input);
  tell(core, input, { kind: 'message', message: message && snapshot(core.step, queue, message) });
}

export function removeMessage(core: Core, input: InputOf<'removeMessage'>): void {
  const queue = namedQueue(core, input);
  if (queue === undefined) return;
  const message = waitingMessage(queue, input);
  if (message !== undefined) core.lifecycle.purge(queue, message);
  tell(core, input, { kind: 'removal', isRemoved: message !== undefined });
}

export function requeueMessage(core: Core, input: InputOf<'requeueMessage'>): void {
  const letters = namedQueue(core, input);
  if (letters === undefined) return;
  tell(core, input, { kind: 'requeue', outcome: requeue(core, letters, input) });
}

function requeue(
  { queues, lifecycle, settings }: Core,
  letters: Queue,
  wanted: WantedMessage,
): RequeueOutcome {
  const { id } = wanted;
  const letter = oldestDeadLetter(letters, letters.allWaiting(), wanted);
  if (letter?.deadLetter === undefined) return whyNoDeadLetterWaits(letters, wanted);
  if (letter.state === 'partlySent') return 'inFlight';
  const source = queues.get(letter.deadLetter.source);
  if (source === undefined) return 'sourceNotFound';
  if ((waitingMessage(source, { id }) ?? messageInFlight(source, { id })) !== undefined) return 'idInSource';
  if (source.isFull) return 'sourceFull';
  // The source was created again, with a dead letter queue of another name.
  if (letter.content.byteLength + source.deadLetterGrowthBytes > settings.maxContentBytes) return 'tooLarge';
  lifecycle.requeue(letters, letter, source);
  return 'requeued';
}

function whyNoDeadLetterWaits(letters: Queue, wanted: WantedMessage): RequeueOutcome {
  if (oldestDeadLetter(letters, letters.delivery.inFlight(), wanted) !== undefined) return 'inFlight';
  return letters.unsettled.get(wanted.id) === undefined ? 'messageNotFound' : 'notDeadLetter';
}

function namedQueue(
  core: Core,
  { connection, token, queue: name }: Asker & { queue: string },
): Queue | undefined {
  const queue = core.queues.get(name);
  if (queue === undefined)
    core.step.refuse(connection, token, 'QUEUE_NOT_FOUND', `Queue ${name} does not exist.`);
  return queue;
}

function tell({ step }: Core, { connection, token }: Asker, operatorResult: OperatorResult): void {
  step.effect({ kind: 'answered', connection, token, operatorResult });
}

/** Of several with this id, a dead letter beside one that was published with it, the one that its queue took first is meant. */
function waitingMessage(queue: Queue, wanted: WantedMessage): QueuedMessage | undefined {
  const published = publishedMessage(queue, wanted);
  const waiting = published !== undefined && isWaiting(published) ? published : undefined;
  return earlier(waiting, oldestDeadLetter(queue, queue.allWaiting(), wanted));
}

function messageInFlight(queue: Queue, wanted: WantedMessage): QueuedMessage | undefined {
  const published = publishedMessage(queue, wanted);
  const inFlight = published !== undefined && !isWaiting(published) ? published : undefined;
  return earlier(inFlight, oldestDeadLetter(queue, queue.delivery.inFlight(), wanted));
}

/** A message that was published to the queue comes from no other. */
function publishedMessage(queue: Queue, { id, source }: WantedMessage): QueuedMessage | undefined {
  return source === undefined ? queue.unsettled.get(id) : undefined;
}

/** Dead letters are looked for one by one, because their ids may repeat: the one that its queue took first is meant. */
function oldestDeadLetter(
  { deadLetterCount }: Queue,
  messages: Iterable<QueuedMessage>,
  wanted: WantedMessage,
): QueuedMessage | undefined {
  if (deadLetterCount === 0) return undefined;
  let oldest: QueuedMessage | undefined;
  for (const message of messages) if (isWanted(message, wanted)) oldest = earlier(oldest, message);
  return oldest;
}

function isWanted({ id, deadLetter }: QueuedMessage, wanted: WantedMessage): boolean {
  if (deadLetter === undefined || id !== wanted.id) return false;
  return wanted.source === undefined || wanted.source === deadLetter.source;
}

function isWaiting({ state }: QueuedMessage): boolean {
  return state === 'waiting' || state === 'backingOff' || state === 'partlySent';
}

function snapshot(step: StepContext, queue: Queue, message: QueuedMessage): MessageSnapshot {
  const { id, priority, content, sentCount, deadLetter } = message;
  return {
    id,
    queue: queue.name,
    priority,
    content,
    acceptedWallAt: step.wallAt(message.acceptedAt),
    sentCount,
    isInFlight: !isWaiting(message),
    deadLetter,
  };
}
