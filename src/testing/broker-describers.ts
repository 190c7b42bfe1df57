// One readable line per input and per effect of the broker core, for the assertions of tests and the scenarios that failing properties
// print.

import type { Effect } from '../broker/interface/effect.ts';
import type { Input } from '../broker/interface/input.ts';
import type { MessageSnapshot, OperatorResult } from '../broker/interface/operator-result.ts';
import type { Principal } from '../model/access.ts';
import type { QueueInfo } from '../model/queue-info.ts';

/** The harness's token: the command in words, and its queue. */
export type HarnessToken = { readonly words: string; readonly queue: string };

/** The token of an effect, which the harness must have created. */
export function tokenOf(effect: { readonly token: unknown }): HarnessToken {
  const token = effect.token;
  if (typeof token === 'object' && token !== null && 'words' in token && 'queue' in token) {
    return { words: String(token.words), queue: String(token.queue) };
  }
  throw new Error('The core answered with a token that nobody gave it.');
}

/** `2: publish q m1 ok`, `1 <- q m1`, `1 <- q m1 (attempt 2)`, `1 <- q.dlq m1 (MaxRetriesExceeded in q after 3)`. */
export function describeEffect(effect: Effect): string {
  const { connection } = effect;
  switch (effect.kind) {
    case 'answered':
      return `${connection}: ${tokenOf(effect).words} ${describeAnswer(effect)}`;
    case 'refused':
      return `${connection}: ${tokenOf(effect).words} ${effect.code}`;
    case 'deliver':
      return `${connection} <- ${effect.queue} ${effect.id}${describeDelivery(effect)}`;
    case 'saturated':
    case 'ahead':
    case 'close':
      return `${connection}: ${effect.kind}`;
  }
}

function describeDelivery(effect: Extract<Effect, { kind: 'deliver' }>): string {
  const { attempt, deadLetter } = effect;
  const letter =
    deadLetter === undefined
      ? []
      : [`${deadLetter.reason} in ${deadLetter.source} after ${deadLetter.attempts}`];
  const notes = [...(attempt > 1 ? [`attempt ${attempt}`] : []), ...letter];
  return notes.length === 0 ? '' : ` (${notes.join(', ')})`;
}

function describeAnswer({ result, operatorResult }: Extract<Effect, { kind: 'answered' }>): string {
  return operatorResult === undefined ? describeResult(result) : describeOperatorResult(operatorResult);
}

function describeOperatorResult(result: OperatorResult): string {
  switch (result.kind) {
    case 'messages':
      return `[${result.messages.map(describeSnapshot).join(', ')}]`;
    case 'message':
      return result.message === undefined ? 'no such message' : describeSnapshot(result.message);
    case 'removal':
      return result.isRemoved ? 'ok' : 'no such message';
    case 'requeue':
      return result.outcome;
  }
}

/** `m1`, `m2 (in flight, sent 2 times)`. */
function describeSnapshot({ id, isInFlight, sentCount }: MessageSnapshot): string {
  const notes = [...(isInFlight ? ['in flight'] : []), ...(sentCount > 0 ? [`sent ${sentCount} times`] : [])];
  return notes.length === 0 ? id : `${id} (${notes.join(', ')})`;
}

function describeResult(result: QueueInfo | null | readonly string[] | undefined): string {
  if (result === undefined) return 'ok';
  if (result === null) return 'no such queue';
  if (isNames(result)) return `[${result.join(', ')}]`;
  return `${result.messageCount} waiting, ${result.subscriberCount} subscribed`;
}

function isNames(result: QueueInfo | readonly string[]): result is readonly string[] {
  return Array.isArray(result);
}

/** The harness call for this input, as text for a test. */
export function describeInput(input: Input): string {
  switch (input.kind) {
    case 'connected':
      return `h.connect(${describePrincipal(input.principal)}); // ${input.connection}`;
    case 'rightsChanged':
      return `h.changeRights(${describePrincipal(input.principal)});`;
    case 'disconnected':
      return `h.disconnect(${input.connection});`;
    case 'writable':
      return `h.writable(${input.connection}, ${input.writable});`;
    case 'publish': {
      const { priority } = input;
      const invalid = input.invalid === undefined ? '' : ', invalid: true';
      const extras = `{ priority: ${priority}, byteLength: ${input.content.byteLength}${invalid} }`;
      return `h.publish(${input.connection}, '${input.queue}', '${input.id}', ${extras});`;
    }
    case 'subscribe': {
      const window = input.maxInFlight === undefined ? '' : `, ${input.maxInFlight}`;
      return `h.subscribe(${input.connection}, '${input.queue}'${window});`;
    }
    case 'acknowledge':
      return `h.ack(${input.connection}, '${input.id}'${input.queue === undefined ? '' : `, '${input.queue}'`});`;
    case 'negativeAcknowledge': {
      const queue = input.queue === undefined ? '' : `, '${input.queue}'`;
      return `h.nack(${input.connection}, '${input.id}', '${input.reason}'${queue});`;
    }
    case 'createQueue': {
      if (input.invalid !== undefined) return `h.createUnreadable(${input.connection}, '${input.queue}');`;
      const options = input.options === undefined ? '' : `, ${JSON.stringify(input.options)}`;
      return `h.createQueue(${input.connection}, '${input.queue}'${options});`;
    }
    case 'unsubscribe':
    case 'deleteQueue':
    case 'purgeQueue':
    case 'queueInfo':
      return `h.${input.kind}(${input.connection}, '${input.queue}');`;
    case 'listMessages': {
      const { offset, limit, maxBytes } = input;
      return `h.listMessages(${input.connection}, '${input.queue}', ${JSON.stringify({ offset, limit, maxBytes })});`;
    }
    case 'readMessage':
    case 'removeMessage':
    case 'requeueMessage': {
      const source = input.source === undefined ? '' : `, '${input.source}'`;
      return `h.${input.kind}(${input.connection}, '${input.queue}', '${input.id}'${source});`;
    }
    case 'listQueues':
    case 'barrier':
      return `h.${input.kind}(${input.connection});`;
    case 'tick':
      return 'h.tick();';
    case 'drain':
      return 'h.drain();';
  }
}

function describePrincipal(principal: Principal | undefined): string {
  return principal === undefined ? '' : JSON.stringify(principal);
}
