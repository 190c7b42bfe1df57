// Faults in dead letter queues and dead letters. Areas: DLQ, DELIVERY, QUEUE, PUBLISH.
import type { Mutant } from './mutant.ts';

const settlement = 'src/broker/settlement.ts';
const queues = 'src/broker/queues.ts';
const queueOptions = 'src/model/queue-options.ts';
const content = 'src/gateway/translate/content.ts';
const fanOutWithAck = 'src/broker/delivery/fan-out-with-ack.ts';
const nameOf = '  return options.deadLetterQueueName ?? `${queue}.dlq`;';
const madeTogether = '    if (options.enableDeadLetterQueue) this.deadLetterQueueOf(queue);';
const mayBeDeadLettered = 'if (queue.options.enableDeadLetterQueue && message.deadLetter === undefined) {';

export const deadLettersMutants: readonly Mutant[] = [
  {
    id: 'dead-letters-name-unread',
    title: 'the dead letter queue is <queue>.dlq, whatever deadLetterQueueName says',
    file: queueOptions,
    find: nameOf,
    replace: '  return `${queue}.dlq`;',
    mustFail: ['DLQ-001a'],
    mayFail: [
      'DLQ-005a',
      'DLQ-007a',
      'DLQ-008a',
      'DLQ-009a',
      'DLQ-010a',
      'DLQ-011a',
      'DLQ-012a',
      'DLQ-013a',
      'DLQ-017a',
      'DLQ-018a',
      'DLQ-019a',
    ],
  },
  {
    id: 'dead-letters-other-name',
    title: 'the dead letter queue without a name of its own is <queue>.dead',
    file: queueOptions,
    find: nameOf,
    replace: '  return options.deadLetterQueueName ?? `${queue}.dead`;',
    mustFail: ['DLQ-003a', 'DLQ-004a'],
    mayFail: ['DLQ-005a', 'DLQ-006a', 'DLQ-011a', 'DLQ-012a', 'DLQ-013a', 'DLQ-018a'],
  },
  {
    id: 'dead-letters-queue-made-late',
    title: 'the dead letter queue is made by the first dead letter',
    file: queues,
    find: madeTogether,
    replace: '',
    mustFail: ['DLQ-004a', 'DLQ-006a'],
  },
  {
    id: 'dead-letters-into-the-deleted',
    title: 'dead letters go on into a dead letter queue that was deleted',
    file: queues,
    find: '    return this.#byName.get(name) ?? this.#createAlone(name, deadLetterQueueOptions(source.options));',
    replace: `    const remembered = source as { letters?: Queue };
    remembered.letters ??= this.#byName.get(name) ?? this.#createAlone(name, deadLetterQueueOptions(source.options));
    return remembered.letters;`,
    mustFail: ['DLQ-005a'],
  },
  {
    id: 'dead-letters-queue-like-its-source',
    title: 'a dead letter queue that the broker makes has the options of its source',
    file: queueOptions,
    find: '  return { ...defaultQueueOptions, maxQueueSize: source.maxQueueSize };',
    replace: '  return { ...source, enableDeadLetterQueue: false };',
    mustFail: ['DLQ-006a'],
    mayFail: ['DLQ-010a', 'DLQ-011a', 'DLQ-018a', 'DLQ-019a'],
  },
  {
    id: 'dead-letters-queue-made-anew',
    title: 'a queue that exists under the name of the dead letter queue is made anew',
    file: queues,
    find: madeTogether,
    replace: `    const existing = this.#byName.get(queue.deadLetterQueueName);
    if (options.enableDeadLetterQueue && existing !== undefined) this.delete(existing);
${madeTogether}`,
    mustFail: ['DLQ-007a'],
    mayFail: ['DLQ-008a', 'DLQ-010a', 'DLQ-009a'],
  },
  {
    id: 'dead-letters-overfill',
    title: 'a dead letter enters a full queue that is not DropOldest without pushing anything out',
    file: settlement,
    find: '    if (!queue.isFull) return;\n    this.dispatch(queue);',
    replace:
      '    if (!queue.isFull || queue.options.overflowStrategy !== 0) return;\n    this.dispatch(queue);',
    mustFail: ['DLQ-008a'],
  },
  {
    id: 'dead-letters-deleted-with-the-source',
    title: 'the dead letter queue is deleted with its source',
    file: queues,
    find: '    this.#byName.delete(queue.name);',
    replace: '    this.#byName.delete(queue.name);\n    this.#byName.delete(queue.deadLetterQueueName);',
    mustFail: ['QUEUE-020a'],
  },
  {
    id: 'dead-letters-lose-headers',
    title: 'a dead letter has only the headers of dead letters',
    file: content,
    find: '    headers: new Map([...message.headers, ...addedHeaders(effect)]),',
    replace:
      '    headers: new Map([...(effect.deadLetter === undefined ? message.headers : []), ...addedHeaders(effect)]),',
    mustFail: ['DLQ-012a'],
  },
  {
    id: 'dead-letters-source-is-their-queue',
    title: 'deadLetterSource names the dead letter queue',
    file: content,
    find: '  yield [HeaderName.DeadLetterSource, deadLetter.source];',
    replace: '  yield [HeaderName.DeadLetterSource, `${deadLetter.source}.dlq`];',
    mustFail: ['DLQ-013a', 'DLQ-011a'],
  },
  {
    id: 'dead-letters-one-attempt-too-many',
    title: 'deadLetterAttempts counts one too many',
    file: content,
    find: '  yield [HeaderName.DeadLetterAttempts, String(deadLetter.attempts)];',
    replace: '  yield [HeaderName.DeadLetterAttempts, String(deadLetter.attempts + 1)];',
    mustFail: ['DLQ-013a', 'DLQ-018a'],
  },
  {
    id: 'dead-letters-die-again',
    title: 'a dead letter that fails again is dead-lettered again',
    file: settlement,
    find: mayBeDeadLettered,
    replace: 'if (queue.options.enableDeadLetterQueue) {',
    mustFail: ['DLQ-010a'],
  },
  {
    id: 'dead-letters-known-by-header',
    title: 'a message with the headers of a dead letter is taken for one',
    file: settlement,
    find: mayBeDeadLettered,
    replace:
      "if (queue.options.enableDeadLetterQueue && message.deadLetter === undefined && !(message.content as unknown as Buffer).includes('deadLetterReason')) {",
    mustFail: ['DLQ-011a'],
  },
  {
    id: 'dead-letters-one-for-each-copy',
    title: 'every FanOutWithAck copy that fails makes a dead letter',
    file: fanOutWithAck,
    find: '      fanOut.failure ??= { reason: ending.reason, attempts: delivery.failedAttempts };',
    replace: `      if (fanOut.failure !== undefined) settlement.redirect(queue, message);
      fanOut.failure ??= { reason: ending.reason, attempts: delivery.failedAttempts };`,
    mustFail: ['DLQ-017a'],
  },
  {
    id: 'dead-letters-not-beside-an-ack',
    title: 'a FanOutWithAck message that one subscriber acknowledged is done, though another failed it',
    file: fanOutWithAck,
    find: '  if (failure !== undefined) settlement.giveUp(',
    replace: '  if (failure !== undefined && !acknowledged) settlement.giveUp(',
    mustFail: ['DELIVERY-020a'],
  },
  {
    id: 'dead-letters-stay-in-the-source',
    title: 'a message without attempts left is copied into the dead letter queue and waits again',
    file: settlement,
    find: "      this.#forget(queue, message, 'deadLetter');",
    replace: `      if (message.state === 'inFlight') this.waitAgain(queue, message, false);
      else this.#forget(queue, message, 'deadLetter');`,
    mustFail: ['DLQ-019a'],
    mayFail: ['DLQ-017a', 'DLQ-018a', 'DLQ-011a', 'DLQ-010a'],
  },
  {
    id: 'dead-letters-keep-their-id-taken',
    title: 'the id of a redirected message stays taken in its source',
    file: settlement,
    find: "    const to = this.#enterDeadLetterQueue(queue, message, 'QueueOverflow', 0);",
    replace: `    const to = this.#enterDeadLetterQueue(queue, message, 'QueueOverflow', 0);
    queue.unsettled.set(message.id, message);`,
    mustFail: ['PUBLISH-012a'],
  },
];
