// The naive broker's answers to the operator: single messages looked at, removed, and moved back from a dead letter queue (DASH).

import type { Input, OneMessageInput } from '../../broker/interface/input.ts';
import type {
  MessageSnapshot,
  OperatorResult,
  RequeueOutcome,
} from '../../broker/interface/operator-result.ts';
import { isTooLarge } from './commands.ts';
import { addMessage, removeMessage, removeWaiting } from './giving-up.ts';
import {
  findQueue,
  isInFlight,
  isWaiting,
  type NaiveMessage,
  type NaiveQueue,
  type NaiveState,
  offerableMessages,
  waitingMessages,
} from './state.ts';

export type OperatorInput = Extract<
  Input,
  { kind: 'listMessages' | 'readMessage' | 'removeMessage' | 'requeueMessage' }
>;

export function handleOperator(state: NaiveState, input: OperatorInput): void {
  const { connection, token } = input;
  const queue = findQueue(state, input.queue);
  state.effects.push(
    queue === undefined
      ? { kind: 'refused', connection, token, code: 'QUEUE_NOT_FOUND', text: '' }
      : { kind: 'answered', connection, token, operatorResult: resultOf(state, queue, input) },
  );
}

function resultOf(state: NaiveState, queue: NaiveQueue, input: OperatorInput): OperatorResult {
  const snapshot = (message: NaiveMessage) => snapshotOf(queue, message);
  switch (input.kind) {
    case 'listMessages': {
      const page = allWaiting(state, queue).slice(input.offset, input.offset + input.limit);
      const bytesBefore = (index: number) =>
        page.slice(0, index).reduce((sum, { content }) => sum + content.byteLength, 0);
      const messages = page.filter((_, index) => bytesBefore(index) <= input.maxBytes).map(snapshot);
      return { kind: 'messages', messages };
    }
    case 'readMessage': {
      const of = (messages: readonly NaiveMessage[]) =>
        meant(messages.filter(isFrom(input.source)), input.id);
      const message = of(waitingMessages(queue)) ?? of(messagesInFlight(queue));
      return { kind: 'message', message: message && snapshot(message) };
    }
    case 'removeMessage': {
      const message = meant(waitingMessages(queue).filter(isFrom(input.source)), input.id);
      if (message !== undefined) removeWaiting(state, queue, message);
      return { kind: 'removal', isRemoved: message !== undefined };
    }
    case 'requeueMessage':
      return { kind: 'requeue', outcome: requeue(state, queue, input) };
  }
}

function requeue(
  state: NaiveState,
  letters: NaiveQueue,
  { id, source: wanted }: OneMessageInput,
): RequeueOutcome {
  const isMeant = ({ deadLetter }: NaiveMessage) =>
    deadLetter !== undefined && (wanted ?? deadLetter.source) === deadLetter.source;
  const letter = meant(waitingMessages(letters).filter(isMeant), id);
  if (letter?.deadLetter === undefined) {
    if (meant(messagesInFlight(letters).filter(isMeant), id) !== undefined) return 'inFlight';
    return meant(
      letters.messages.filter((one) => one.deadLetter === undefined),
      id,
    ) === undefined
      ? 'messageNotFound'
      : 'notDeadLetter';
  }
  if (letter.copies.length > 0) return 'inFlight';
  const source = findQueue(state, letter.deadLetter.source);
  if (source === undefined) return 'sourceNotFound';
  if (source.messages.some((one) => one.id === id)) return 'idInSource';
  if (waitingMessages(source).length >= source.options.maxQueueSize) return 'sourceFull';
  if (isTooLarge(state, source, letter.content)) return 'tooLarge';
  removeMessage(letters, letter);
  addMessage(state, source, letter, undefined);
  state.counters.requeuedCount += 1;
  return 'requeued';
}

function allWaiting(state: NaiveState, queue: NaiveQueue): NaiveMessage[] {
  const waiting = waitingMessages(queue).sort((a, b) => a.order - b.order);
  const offerable = offerableMessages(state, queue);
  const partlySent = waiting.filter((one) => one.copies.length > 0);
  const held = waiting.filter((one) => one.copies.length === 0 && !offerable.includes(one));
  return [...partlySent, ...offerable, ...held];
}

function messagesInFlight(queue: NaiveQueue): NaiveMessage[] {
  return queue.messages.filter((one) => one.copies.some(isInFlight) && !isWaiting(one));
}

/** Whether a message is a dead letter of that queue; undefined: any message is meant. */
function isFrom(source: string | undefined): (message: NaiveMessage) => boolean {
  return ({ deadLetter }) => source === undefined || deadLetter?.source === source;
}

/** The one that was accepted first. */
function meant(messages: readonly NaiveMessage[], id: string): NaiveMessage | undefined {
  return messages.filter((one) => one.id === id).sort((a, b) => a.order - b.order)[0];
}

function snapshotOf(queue: NaiveQueue, message: NaiveMessage): MessageSnapshot {
  const { id, priority, content, deadLetter, acceptedWallAt, sendings } = message;
  return {
    id,
    queue: queue.name,
    priority,
    content,
    acceptedWallAt,
    sentCount: sendings,
    isInFlight: !isWaiting(message),
    deadLetter,
  };
}
