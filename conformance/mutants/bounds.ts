// Faults in the bounds on what clients can make a broker hold. Area: LIMIT.
import type { Mutant } from './mutant.ts';

const broker = 'src/broker/broker.ts';

export const boundsMutants: readonly Mutant[] = [
  {
    id: 'bounds-bytes-ten-times',
    title: 'the bytes held may be ten times as many as configured',
    file: 'src/broker/publishing.ts',
    find: '    if (this.#step.stats.queuedBytes + message.heldBytes > this.#settings.maxQueuedBytes) {',
    replace:
      '    if (this.#step.stats.queuedBytes + message.heldBytes > this.#settings.maxQueuedBytes * 10) {',
    mustFail: ['LIMIT-013a'],
  },
  {
    id: 'bounds-bytes-never-freed',
    title: 'the bytes of settled messages still count',
    file: 'src/broker/settlement.ts',
    find: '    this.#step.stats.queuedBytes -= message.heldBytes;\n',
    replace: '',
    mustFail: ['LIMIT-014a'],
  },
  {
    id: 'bounds-one-queue-too-many',
    title: 'there may be one queue more than maxQueues',
    file: broker,
    find: '    if (this.#queues.size + this.#queues.missing(name, options) <= this.#settings.maxQueues) {',
    replace:
      '    if (this.#queues.size + this.#queues.missing(name, options) <= this.#settings.maxQueues + 1) {',
    mustFail: ['LIMIT-016a'],
  },
  {
    id: 'bounds-one-subscription-too-many',
    title: 'a connection may have one subscription more than maxSubscriptionsPerConnection',
    file: broker,
    find: '    if (connection.subscriptions.size >= this.#settings.maxSubscriptionsPerConnection) {',
    replace: '    if (connection.subscriptions.size > this.#settings.maxSubscriptionsPerConnection) {',
    mustFail: ['LIMIT-017a'],
  },
];
