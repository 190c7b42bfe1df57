// Which handler each kind of input has.

import { answer } from './answers.ts';
import { connected, disconnected, drain, writable } from './connection-handlers.ts';
import type { Core } from './core.ts';
import type { InputKind, InputOf } from './input-kinds.ts';
import { acknowledge, publish, subscribe, unsubscribe } from './message-handlers.ts';
import { listMessages, readMessage, removeMessage, requeueMessage } from './operator-handlers.ts';
import { createQueue, deleteQueue, listQueues, purgeQueue, queueInfo } from './queue-handlers.ts';
import { rightsChanged } from './rights.ts';

type Handlers = { readonly [Kind in InputKind]: (core: Core, input: InputOf<Kind>) => void };

const handlers: Handlers = {
  connected,
  disconnected,
  writable,
  rightsChanged,
  publish,
  subscribe,
  unsubscribe,
  acknowledge,
  negativeAcknowledge: acknowledge,
  createQueue,
  deleteQueue,
  purgeQueue,
  listMessages,
  readMessage,
  removeMessage,
  requeueMessage,
  queueInfo,
  listQueues,
  barrier: answer,
  /** What is due was done before; see broker.ts. */
  tick: () => undefined,
  drain,
};

export function handle<Kind extends InputKind>(core: Core, input: InputOf<Kind>): void {
  const handler: (core: Core, input: InputOf<Kind>) => void = handlers[input.kind as Kind];
  handler(core, input);
}
