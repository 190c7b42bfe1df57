// Faults planted one at a time into the broker, to show that the simulation sees what it is meant to see: texts of the sources and what
// replaces them. Each breaks a behaviour that a client can notice, and nothing that a compiler would.

import type { SimulationMutant } from './bundle.ts';
import { storageMutants } from './mutants-of-storage.ts';

const attempts = 'src/broker/attempts.ts';
const broker = 'src/broker/broker.ts';
const deliveries = 'src/broker/deliveries.ts';
const fanOutWithAck = 'src/broker/delivery/fan-out-with-ack.ts';
const fanOutWithoutAck = 'src/broker/delivery/fan-out-without-ack.ts';
const oneSubscriber = 'src/broker/delivery/one-subscriber.ts';
const publishing = 'src/broker/publishing.ts';
const queue = 'src/broker/queue.ts';
const queues = 'src/broker/queues.ts';
const retryPolicy = 'src/broker/retry-policy.ts';
const settlement = 'src/broker/settlement.ts';
const waitingMessages = 'src/broker/waiting-messages.ts';
const window = 'src/broker/window.ts';
const readyRing = 'src/broker/ready-ring.ts';
const sequenceList = 'src/broker/sequence-list.ts';

export const mutants: readonly SimulationMutant[] = [
  ...storageMutants,
  {
    title: 'an ack is counted and ends nothing',
    file: attempts,
    find: "    this.#end(delivery, { kind: 'acknowledged' });",
    replace: '',
  },
  {
    title: 'a negative ack is taken for an ack',
    file: broker,
    find: "if (input.kind === 'acknowledge') this.#attempts.acknowledged(delivery);",
    replace: 'if (Math.abs(1) === 1) this.#attempts.acknowledged(delivery);',
  },
  {
    title: 'an attempt that is refused for good is tried again',
    file: attempts,
    find: "if (reason === 'HandlerException') {",
    replace: 'if (reason) {',
  },
  {
    title: 'one attempt too many is made',
    file: attempts,
    find: 'delivery.failedAttempts >= delivery.queue.options.maxRetryAttempts',
    replace: 'delivery.failedAttempts > delivery.queue.options.maxRetryAttempts',
  },
  {
    title: 'one attempt too few is made',
    file: attempts,
    find: 'delivery.failedAttempts >= delivery.queue.options.maxRetryAttempts',
    replace: 'delivery.failedAttempts + 1 >= delivery.queue.options.maxRetryAttempts',
  },
  {
    title: 'the pause after a timeout is left out',
    file: attempts,
    find: 'this.#tools.deliveries.pause(delivery, failedAt + pauseMs);',
    replace: 'this.#tools.deliveries.pause(delivery, failedAt);',
  },
  {
    title: 'the pauses between attempts do not double',
    file: retryPolicy,
    find: 'settings.retryDelayMs * 2 ** (failures - 1)',
    replace: 'settings.retryDelayMs',
  },
  {
    title: 'the pauses between attempts know no longest',
    file: retryPolicy,
    find: 'Math.min(settings.retryDelayMs * 2 ** (failures - 1), settings.maxRetryDelayMs)',
    replace: 'settings.retryDelayMs * 2 ** (failures - 1)',
  },
  {
    title: 'an expired message is sent again when its pause is over',
    file: attempts,
    find: 'else if (queue.isExpired(message, this.#step.now)) {',
    replace: 'else if (queue.isExpired(message, Number.NEGATIVE_INFINITY)) {',
  },
  {
    title: 'a delivery that is cut short counts as failed for good',
    file: attempts,
    find: "else this.#end(delivery, { kind: 'gone', cutShort: true });",
    replace: "else this.#end(delivery, { kind: 'failed', reason: 'MaxRetriesExceeded' });",
  },
  {
    title: 'what a connection held in flight is not given back',
    file: broker,
    find: '    this.#attempts.cutShort(connection);\n',
    replace: '',
  },
  {
    title: 'attempts that fall due while a connection is congested are never made',
    file: attempts,
    find: 'for (const delivery of overdue) this.resume(delivery);',
    replace: '',
  },
  {
    title: 'a timeout counts from the first attempt',
    file: deliveries,
    find: 'delivery.ackDeadlineAt = now + this.#settings.ackTimeoutMs;',
    replace:
      'delivery.ackDeadlineAt = Math.max(now + 1, delivery.message.acceptedAt + this.#settings.ackTimeoutMs);',
  },
  {
    title: 'an ack during the pause is ignored',
    file: deliveries,
    find: 'return !delivery.queue.deleted && (',
    replace: 'return !delivery.queue.deleted && delivery.resume === undefined && (',
  },
  {
    title: 'the queue that an ack names is not looked at',
    file: deliveries,
    find: '(queueName === undefined || delivery.queue.name === queueName)',
    replace: '(queueName === undefined || queueName !== undefined)',
  },
  {
    title: 'a retry is not counted in deliveryAttempts',
    file: deliveries,
    find: '    delivery.attempt += 1;\n',
    replace: '    delivery.attempt = 1;\n',
  },
  {
    title: 'retries are not counted',
    file: deliveries,
    find: '    if (attempt > 1) stats.retryCount += 1;\n',
    replace: '',
  },
  {
    title: 'a delivery that has ended keeps its place in the window',
    file: deliveries,
    find: '    subscription.inFlightCount -= 1;\n    subscription.connection.inFlightCount -= 1;',
    replace: '    subscription.connection.inFlightCount -= 1;',
  },
  {
    title: 'a window that was asked for is not kept',
    file: window,
    find: 'Math.max(1, Math.min(asked, max))',
    replace: 'max',
  },
  {
    title: 'a window does not become narrower',
    file: window,
    find: 'this.#size = Math.max(1, this.#size >> 1);',
    replace: 'this.#size += 0;',
  },
  {
    title: 'slow acks widen the window',
    file: window,
    find: 'elapsedMs <= ackTimeoutMs * FAST_PART',
    replace: 'elapsedMs >= 0',
  },
  {
    title: 'a window holds one more than it may',
    file: 'src/broker/subscription.ts',
    find: 'this.inFlightCount < this.window.size',
    replace: 'this.inFlightCount <= this.window.size',
  },
  {
    title: 'a subscriber that does not read is sent more',
    file: 'src/broker/subscription.ts',
    find: 'this.active && this.connection.writable &&',
    replace: 'this.active &&',
  },
  {
    title: 'an ended subscription is still sent messages',
    file: broker,
    find: '    queue.ready.remove(subscription);\n',
    replace: '',
  },
  {
    title: 'an ended subscription still counts',
    file: broker,
    find: '    queue.subscriptions.delete(subscription);\n',
    replace: '',
  },
  {
    title: 'what waits is not delivered to a subscriber that comes',
    file: broker,
    find: '    this.#answer(input);\n    this.#deliveries.refreshReady(queue, subscription);',
    replace: '    this.#answer(input);\n    queue.ready.refresh(subscription);',
  },
  {
    title: 'a subscription to a deleted queue does not come alive again',
    file: queues,
    find: '      queue.subscriptions.add(subscription);\n',
    replace: '      subscription.active = false;\n',
  },
  {
    title: 'a deleted queue keeps its bytes',
    file: queues,
    find: '    this.#step.stats.queuedBytes -= queue.heldBytes;\n',
    replace: '',
  },
  {
    title: 'the places of what is in flight stay taken when the queue is deleted',
    file: queues,
    find: '  subscription.inFlightCount = 0;\n',
    replace: '',
  },
  {
    title: 'a publish blocked on a deleted queue is never answered',
    file: broker,
    find: "      this.#publishing.withdrawAll(queue, 'QUEUE_NOT_FOUND', `Queue ${queue.name} was deleted.`);\n",
    replace: '',
  },
  {
    title: 'a full queue takes one more',
    file: queue,
    find: 'this.waitingCount >= this.options.maxQueueSize',
    replace: 'this.waitingCount > this.options.maxQueueSize',
  },
  {
    title: 'a queue is full one too early',
    file: queue,
    find: 'this.waitingCount >= this.options.maxQueueSize',
    replace: 'this.waitingCount + 1 >= this.options.maxQueueSize',
  },
  {
    title: 'messages live one and a half times as long as they may',
    file: queue,
    find: 'now - message.acceptedAt >= ttl',
    replace: 'now - message.acceptedAt >= 1.5 * ttl',
  },
  {
    title: 'DropOldest drops the second oldest',
    file: publishing,
    find: 'const oldest = queue.oldestWaiting();',
    replace:
      'const first = queue.waiting.first(); if (first) queue.waiting.remove(first); const oldest = queue.waiting.first() ?? first; if (first) queue.waiting.insert(first);',
  },
  {
    title: 'DropOldest makes no room',
    file: publishing,
    find: 'if (oldest !== undefined) this.#settlement.pushOut(queue, oldest);',
    replace: '',
  },
  {
    title: 'DropNewest says nothing of it',
    file: publishing,
    find: "return this.#step.refuse(connection.id, token, 'QUEUE_FULL', full(queue));",
    replace: 'return this.#confirm(connection, token);',
  },
  {
    title: 'a blocked publish is confirmed at once',
    file: publishing,
    find: '    queue.blocked.set(message.id, blocked);\n',
    replace: '    queue.blocked.set(message.id, blocked);\n    this.#confirm(connection, token);\n',
  },
  {
    title: 'blocked publishes enter in the wrong order',
    file: publishing,
    find: 'for (const blocked of queue.blocked.values()) {',
    replace: 'for (const blocked of [...queue.blocked.values()].reverse()) {',
  },
  {
    title: 'a blocked publish is never accepted',
    file: broker,
    find: 'while (this.#publishing.admitNext(queue)) this.#settlement.dispatch(queue);',
    replace: '',
  },
  {
    title: 'the blocked publishes of a publisher that left are accepted',
    file: broker,
    find: '    this.#publishing.withdrawOf(connection);\n',
    replace: '',
  },
  {
    title: 'a repeat is taken for a new message',
    file: publishing,
    find: 'if (queue.unsettled.has(input.id)) {',
    replace: 'if (queue.unsettled.has(input.id) && input.id === "") {',
  },
  {
    title: 'a repeat of a blocked publish has no answer',
    file: publishing,
    find: 'for (const { connection, token } of blocked.repeats) this.#confirm(connection, token);',
    replace: '',
  },
  {
    title: 'an accepted publish is not counted',
    file: settlement,
    find: '    this.#step.stats.publishedCount += 1;\n    this.#enter(queue, message);',
    replace: '    this.#enter(queue, message);',
  },
  {
    title: 'what expires is not dead-lettered',
    file: settlement,
    find: 'queue.options.enableDeadLetterQueue && message.deadLetter === undefined',
    replace:
      "queue.options.enableDeadLetterQueue && reason !== 'MessageExpired' && message.deadLetter === undefined",
  },
  {
    title: 'a dead letter is dead-lettered again',
    file: settlement,
    find: 'queue.options.enableDeadLetterQueue && message.deadLetter === undefined',
    replace:
      'message.failedAttempts > 0 && (queue.options.enableDeadLetterQueue || message.deadLetter !== undefined)',
  },
  {
    title: 'a dead letter leaves a copy in its source',
    file: settlement,
    find: '      const from = { generation: queue.generation, sequence: message.sequence };\n',
    replace:
      '      const from = { generation: queue.generation, sequence: message.sequence };\n' +
      "      queue.waiting.insert(new QueuedMessage('waiting', message));\n",
  },
  {
    title: 'dead letters say that they failed once less',
    file: settlement,
    find: 'const facts = { reason, source: source.name, attempts,',
    replace: 'const facts = { reason, source: source.name, attempts: Math.max(0, attempts - 1),',
  },
  {
    title: 'every dead letter says that it has expired',
    file: settlement,
    find: 'const facts = { reason, source: source.name,',
    replace: "const facts = { reason: 'MessageExpired' as const, source: source.name,",
  },
  {
    title: 'what is discarded is not counted',
    file: settlement,
    find: '    this.#step.stats.discardedCount += 1;\n    this.#leave(queue, message, reason',
    replace: '    this.#leave(queue, message, reason',
  },
  {
    title: 'what is pushed out is not counted',
    file: settlement,
    find: '    this.#step.stats.discardedCount += 1;\n    if (queue.mode.takePartlySent',
    replace: '    if (queue.mode.takePartlySent',
  },
  {
    title: 'what is purged is not counted',
    file: settlement,
    find: '    this.#step.stats.purgedCount += 1;\n',
    replace: '',
  },
  {
    title: 'a purge leaves the last message where it is',
    file: settlement,
    find: "    this.#leave(queue, message, 'purge');\n",
    replace: "    if (queue.waitingCount > 0) this.#leave(queue, message, 'purge');\n",
  },
  {
    title: 'what was given back rests for ever',
    file: settlement,
    find: 'if (message.cutShortCount >= 2) this.#rest(queue, message);',
    replace: 'if (message.cutShortCount >= 2) queue.resting.insert(message);',
  },
  {
    title: 'what waits again is not offered',
    file: settlement,
    find: '    this.#watchAge(queue, message);\n    this.#step.touch(queue);\n  }\n\n  /** The rest of',
    replace: '    this.#watchAge(queue, message);\n  }\n\n  /** The rest of',
  },
  {
    title: 'the age of what waits again is not watched',
    file: settlement,
    find: '    this.#watchAge(queue, message);\n    this.#step.touch(queue);\n  }\n\n  /** The rest of',
    replace: '    this.#step.touch(queue);\n  }\n\n  /** The rest of',
  },
  {
    title: 'only one message expires at a time',
    file: settlement,
    find: '    if (oldest !== undefined) this.#watchAge(queue, oldest);\n',
    replace: '',
  },
  {
    title: 'what settles keeps its bytes',
    file: settlement,
    find: '    this.#step.stats.queuedBytes -= message.heldBytes;\n    if',
    replace: '    if',
  },
  {
    title: 'a retry goes to a second subscriber while the first one keeps it',
    file: oneSubscriber,
    find: "    deliveries.remove(delivery);\n    message.move('resend');",
    replace: "    message.move('resend');",
  },
  {
    title: 'urgent messages wait behind others',
    file: waitingMessages,
    find: 'levels[3].first() ?? levels[2].first() ?? levels[1].first() ?? levels[0].first()',
    replace: 'levels[0].first() ?? levels[1].first() ?? levels[2].first() ?? levels[3].first()',
  },
  {
    title: 'what comes back goes to the end',
    file: sequenceList,
    find: 'message.sequence > this.#tail.sequence) this.#append(message);',
    replace: 'message.sequence > 0) this.#append(message);',
  },
  {
    title: 'later subscribers become members of a fan-out',
    file: fanOutWithAck,
    find: '  else subscription.connection.overdue.add(delivery);',
    replace: '  else tools.settlement.dispatch(delivery.queue);',
  },
  {
    title: 'one ack is enough for all members',
    file: fanOutWithAck,
    find: '      fanOut.acknowledged = true;\n',
    replace: '      fanOut.acknowledged = true;\n      fanOut.openCount = 0;\n',
  },
  {
    title: 'a member without room never gets its copy',
    file: fanOutWithAck,
    find: '      member.backlog.push(message);\n',
    replace: '      fanOut.unsentCount -= 1;\n',
  },
  {
    title: 'a copy that failed is forgotten when another one was acknowledged',
    file: fanOutWithAck,
    find: '  if (failure !== undefined) settlement.giveUp(queue, message, failure.reason, failure.attempts);\n  else if (acknowledged)',
    replace:
      '  if (failure !== undefined && !acknowledged) settlement.giveUp(queue, message, failure.reason, failure.attempts);\n  else if (acknowledged)',
  },
  {
    title: 'copies owed to a member that left are still owed',
    file: fanOutWithAck,
    find: '  fanOut.unsentCount -= 1;\n  if (fanOut.unsentCount > 0) return;',
    replace: '  if (fanOut.unsentCount > 0) return;',
  },
  {
    title: 'only one subscriber gets what needs no ack',
    file: fanOutWithoutAck,
    find: 'deliveries.sendUnconfirmed(queue, message, subscription);',
    replace: 'deliveries.sendUnconfirmed(queue, message, subscription);\n      break;',
  },
  {
    title: 'what needs no ack is sent twice',
    file: fanOutWithoutAck,
    find: 'deliveries.sendUnconfirmed(queue, message, subscription);',
    replace:
      'deliveries.sendUnconfirmed(queue, message, subscription);\n      deliveries.sendUnconfirmed(queue, message, subscription);',
  },
  {
    title: 'a subscriber that is full stays in turn',
    file: readyRing,
    find: '    else this.remove(subscription);\n    return hasRoom;',
    replace: '    return hasRoom;',
  },
  {
    title: 'a draining broker refuses and serves all the same',
    file: broker,
    find: '    return this.#step.isDraining;\n',
    replace: '    return false;\n',
  },
  {
    title: 'connections with nothing in flight are not closed while draining',
    file: broker,
    find: 'if (connection.inFlightCount === 0) this.#step.effect',
    replace: 'if (connection.inFlightCount < 0) this.#step.effect',
  },
];
