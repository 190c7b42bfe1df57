// Faults in BlockPublisher: publishes that wait for room. Areas: OVERFLOW, PUBLISH, QUEUE.
import type { Mutant } from './mutant.ts';

const publishing = 'src/broker/publishing.ts';
const broker = 'src/broker/broker.ts';

/** All that begin with a publisher that is blocked. */
const blocked = [
  ...['OVERFLOW-010a', 'OVERFLOW-012a', 'OVERFLOW-013a', 'OVERFLOW-014a', 'OVERFLOW-015a', 'OVERFLOW-016a'],
  ...['OVERFLOW-017a', 'OVERFLOW-018a', 'OVERFLOW-019a', 'OVERFLOW-020a'],
] as const;

export const blockingMutants: readonly Mutant[] = [
  {
    id: 'blocking-confirms-at-once',
    title: 'a blocked Publish gets PublishAck while it waits',
    file: publishing,
    find: `    queue.heldBytes += message.heldBytes;
    this.#step.stats.queuedBytes += message.heldBytes;
  }

  #unblock`,
    replace: `    queue.heldBytes += message.heldBytes;
    this.#step.stats.queuedBytes += message.heldBytes;
    this.#confirm(connection, token);
  }

  #unblock`,
    mustFail: ['OVERFLOW-010a'],
    mayFail: blocked,
  },
  {
    id: 'blocking-keeps-the-last',
    title: 'of several blocked publishes of a connection only the last is kept',
    file: publishing,
    find: '    queue.blocked.set(message.id, blocked);\n    connection.blocked.add(blocked);',
    replace: `    for (const earlier of [...connection.blocked]) this.#unblock(earlier);
    queue.blocked.set(message.id, blocked);
    connection.blocked.add(blocked);`,
    mustFail: ['OVERFLOW-012a'],
    mayFail: ['OVERFLOW-020a'],
  },
  {
    id: 'blocking-shuts-the-queue',
    title: 'nobody can subscribe to a queue on which a publisher is blocked',
    file: broker,
    find: '    const window = new Window(',
    replace: `    if (queue.blocked.size > 0) return this.#step.refuse(input.connection, input.token, 'QUEUE_FULL', '');
    const window = new Window(`,
    mustFail: ['OVERFLOW-013a'],
    mayFail: blocked,
  },
  {
    id: 'blocking-last-come-first',
    title: 'the Publish that was blocked last enters first',
    file: publishing,
    find: '    for (const blocked of queue.blocked.values()) {\n      this.#unblock(blocked);\n      this.#accept(',
    replace:
      '    for (const blocked of [...queue.blocked.values()].reverse()) {\n      this.#unblock(blocked);\n      this.#accept(',
    mustFail: ['OVERFLOW-014a', 'OVERFLOW-012a'],
    mayFail: ['OVERFLOW-020a'],
  },
  {
    id: 'blocking-outlives-the-publisher',
    title: 'the blocked message of a publisher that has left enters all the same',
    file: publishing,
    find: `        this.#unblock(blocked);
        blocked.message.move('withdraw');
        this.#step.touch(blocked.queue);`,
    replace: '',
    mustFail: ['OVERFLOW-018a'],
  },
  {
    id: 'blocking-counts-for-the-age',
    title: 'the age of a blocked message counts from its arrival',
    file: publishing,
    find: '    const blocked = new BlockedPublish(queue, message, connection, token);',
    replace: `    const arrivedAt = this.#step.now;
    Object.defineProperty(message, 'acceptedAt', { get: () => arrivedAt, set: () => undefined });
    const blocked = new BlockedPublish(queue, message, connection, token);`,
    mustFail: ['OVERFLOW-019a'],
  },
  {
    id: 'blocking-one-too-many',
    title: 'a connection may have one blocked Publish more than configured',
    file: publishing,
    find: 'connection.blockedCount < this.#settings.maxBlockedPublishes',
    replace: 'connection.blockedCount <= this.#settings.maxBlockedPublishes',
    mustFail: ['OVERFLOW-020a'],
  },
  {
    id: 'blocking-swallows-acks',
    title: 'acks of a connection with a blocked Publish are not taken',
    file: broker,
    find: '    if (connection === undefined) return;\n    const delivery = this.#deliveries.find(',
    replace:
      '    if (connection === undefined || connection.blocked.size > 0) return;\n    const delivery = this.#deliveries.find(',
    mustFail: ['OVERFLOW-015a'],
  },
  {
    id: 'blocking-swallows-questions',
    title: 'QueueInfo and ListQueues of a connection with a blocked Publish are not answered',
    file: broker,
    find: '    if (!this.#refusesWhileDraining(input)) this.#answer(input, picture());',
    replace: `    if ((this.#connections.get(input.connection)?.blocked.size ?? 0) > 0) return;
    if (!this.#refusesWhileDraining(input)) this.#answer(input, picture());`,
    mustFail: ['OVERFLOW-016a'],
  },
  {
    id: 'blocking-holds-other-queues',
    title: 'publishes to other queues wait behind a blocked one of their connection',
    file: publishing,
    find: '    if (hasRoom(queue)) this.#accept(',
    replace: `    if (hasRoom(queue) && connection.blocked.size > 0) this.#block(queue, connection, input.token, message);
    else if (hasRoom(queue)) this.#accept(`,
    mustFail: ['OVERFLOW-017a'],
  },
  {
    id: 'blocking-repeats-are-confirmed',
    title: 'the repeat of a blocked Publish gets PublishAck at once',
    file: publishing,
    find: '    if (this.#mayBlock(connection, 0)) {',
    replace:
      '    if (first) this.#confirm(connection, input.token);\n    else if (this.#mayBlock(connection, 0)) {',
    mustFail: ['PUBLISH-007a'],
  },
  {
    id: 'blocking-outlives-the-queue',
    title: 'publishes that are blocked on a queue are not answered when it is deleted',
    file: broker,
    find: "      this.#publishing.withdrawAll(queue, 'QUEUE_NOT_FOUND', `Queue ${queue.name} was deleted.`);\n",
    replace: '',
    mustFail: ['QUEUE-019a'],
  },
];
