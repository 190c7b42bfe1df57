// Faults planted into what the broker tells its store, what it makes of what the store gives back, and how it waits for it. The
// others stand in mutants.ts.

import type { SimulationMutant } from './bundle.ts';

const brokerRecovery = 'src/broker/recovery.ts';
const brokerService = 'src/backend/local/broker-service.ts';
const engine = 'src/backend/local/engine.ts';
const queues = 'src/broker/queues.ts';
const settlement = 'src/broker/settlement.ts';

export const storageMutants: readonly SimulationMutant[] = [
  {
    title: 'what came of a batch goes out before the store is done',
    file: engine,
    find: '    const committed = this.#commit(records);\n',
    replace:
      '    for (const outcome of outcomes.splice(0)) this.#carryOut(outcome);\n' +
      '    for (const connection of this.#touched) connection.flush();\n' +
      '    const committed = this.#commit(records);\n',
  },
  {
    title: 'a store that fails is taken to be done',
    file: engine,
    find: '        (error: unknown) => this.#fail(batch, error),\n',
    replace: '        () => this.#finish(batch, outcomes),\n',
  },
  {
    title: 'a store that fails is nothing that clients hear of',
    file: engine,
    find: "      connection.notify(disconnectFields(this.#parts.environment.freshId(), 'storage_error'));\n",
    replace: '',
  },
  {
    title: 'clients are taken while the store is away',
    file: brokerService,
    find: '      outOfServiceReason,\n      onStorageFailure: () => undefined,\n',
    replace: '      onStorageFailure: () => undefined,\n',
  },
  {
    title: 'the broker goes on with an empty store after a failure',
    file: brokerService,
    find: '      return { store, broker: await recoverBroker(store, this.#options.broker, this.#parts) };',
    replace:
      '      const kept = probe ? nothing : store;\n' +
      '      return { store, broker: await recoverBroker(kept, this.#options.broker, this.#parts) };',
  },
  {
    title: 'a store that fails is never tried again',
    file: brokerService,
    find: '      () => this.#retryLater(),\n      () => undefined,\n',
    replace: '      () => undefined,\n      () => undefined,\n',
  },
  {
    title: 'acks are not told to the store',
    file: settlement,
    find: "    this.#step.record({ kind: 'messageRemoved', generation: queue.generation, sequence: message.sequence });\n",
    replace:
      "    if (event === 'acknowledge') return;\n" +
      "    this.#step.record({ kind: 'messageRemoved', generation: queue.generation, sequence: message.sequence });\n",
  },
  {
    title: 'what is sent without acks stays in the store',
    file: settlement,
    find: "    this.#step.record({ kind: 'messageRemoved', generation: queue.generation, sequence: message.sequence });\n",
    replace:
      "    if (event === 'sendUnconfirmed') return;\n" +
      "    this.#step.record({ kind: 'messageRemoved', generation: queue.generation, sequence: message.sequence });\n",
  },
  {
    title: 'what is purged stays in the store',
    file: settlement,
    find: "    this.#step.record({ kind: 'messageRemoved', generation: queue.generation, sequence: message.sequence });\n",
    replace:
      "    if (event === 'purge') return;\n" +
      "    this.#step.record({ kind: 'messageRemoved', generation: queue.generation, sequence: message.sequence });\n",
  },
  {
    title: 'only urgent messages are told to the store',
    file: settlement,
    find: "    this.#step.record({ kind: 'messageAdded', ...stored(queue, message, this.#step.wallNow) });\n",
    replace:
      "    if (message.priority > 0) this.#step.record({ kind: 'messageAdded', ...stored(queue, message, this.#step.wallNow) });\n",
  },
  {
    title: 'a dead letter leaves the store with its source',
    file: settlement,
    find: "      this.#step.record({ kind: 'deadLettered', from, to });\n",
    replace: "      if (to.id !== '') this.#step.record({ kind: 'messageRemoved', ...from });\n",
  },
  {
    title: 'a dead letter is in the store of its source as well',
    file: settlement,
    find: "      this.#step.record({ kind: 'deadLettered', from, to });\n",
    replace: "      if (from.sequence > 0) this.#step.record({ kind: 'messageAdded', ...to });\n",
  },
  {
    title: 'failed attempts are not told to the store',
    file: settlement,
    find: "    this.#step.record({ kind: 'attemptFailed', generation: queue.generation, sequence, failedAttempts });\n",
    replace:
      "    if (sequence < 0) this.#step.record({ kind: 'attemptFailed', generation: queue.generation, sequence, failedAttempts });\n",
  },
  {
    title: 'failed attempts from the store are forgotten',
    file: settlement,
    find: '    message.failedAttempts = stored.failedAttempts;\n    message.sentCount = stored.failedAttempts;\n',
    replace: '',
  },
  {
    title: 'what the store gives back is taken up twice',
    file: brokerRecovery,
    find: '    if (!this.#settlement.restore(home.queue, stored, home.youngestAt)) {\n',
    replace:
      '    const isNew = this.#settlement.restore(home.queue, stored, home.youngestAt);\n' +
      '    this.#settlement.restore(home.queue, { ...stored, sequence: sequence + 0.5 }, home.youngestAt);\n' +
      '    if (!isNew) {\n',
  },
  {
    title: 'every tenth message from the store is left out',
    file: brokerRecovery,
    find: '    if (sequence <= this.#step.lastSequence)',
    replace: '    if (sequence % 10 === 0) return;\n    if (sequence <= this.#step.lastSequence)',
  },
  {
    title: 'messages from the store are young again',
    file: brokerRecovery,
    find: 'this.#step.now - Math.max(0, this.#step.wallNow - wallAt)',
    replace: 'this.#step.now + Math.min(0, wallAt)',
  },
  {
    title: 'dead letters from the store are left out',
    file: brokerRecovery,
    find: '    if (sequence <= this.#step.lastSequence)',
    replace: '    if (stored.deadLetter !== undefined) return;\n    if (sequence <= this.#step.lastSequence)',
  },
  {
    title: 'new messages go before those from the store',
    file: settlement,
    find: '    return this.#place(queue, message, stored.sequence, acceptedAt);\n',
    replace:
      '    const isNew = this.#place(queue, message, stored.sequence + 1_000_000, acceptedAt);\n' +
      '    this.#step.lastSequence = stored.sequence;\n' +
      '    return isNew;\n',
  },
  {
    title: 'queues from the store have other options',
    file: queues,
    find: '    return this.#add(stored);\n',
    replace:
      '    return this.#add({ ...stored, options: { ...stored.options, maxQueueSize: stored.options.maxQueueSize + 1 } });\n',
  },
  {
    title: 'queues from the store are created now',
    file: queues,
    find: '    return this.#add(stored);\n',
    replace: '    return this.#add({ ...stored, createdWallAt: this.#step.wallNow + 1 });\n',
  },
  {
    title: 'a deleted queue stays in the store',
    file: queues,
    find: "    this.#step.record({ kind: 'queueDeleted', generation: queue.generation });\n",
    replace: '',
  },
  {
    title: 'a queue is not told to the store',
    file: queues,
    find: "    this.#step.record({ kind: 'queueCreated', ...stored });\n",
    replace: '',
  },
  {
    title: 'generations from the store are given again',
    file: queues,
    find: '    this.#lastGeneration = Math.max(this.#lastGeneration, stored.generation);\n',
    replace: '',
  },
];
