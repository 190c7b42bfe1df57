// Faults in the expiry of messages. Areas: TTL, DLQ.
import type { Mutant } from './mutant.ts';

const settlement = 'src/broker/settlement.ts';
const attempts = 'src/broker/attempts.ts';
const options = 'src/protocol/queue-options-json.ts';

const readTtl = "...(typeof ttl === 'string' ? { messageTtlMs: parseTimeSpan(ttl) ?? Number.NaN } : {}),";

export const expiryMutants: readonly Mutant[] = [
  {
    id: 'expiry-ten-times-later',
    title: 'messages may be ten times as old as their queue says',
    file: options,
    find: readTtl,
    replace: readTtl.replace('parseTimeSpan(ttl) ?? Number.NaN', '(parseTimeSpan(ttl) ?? Number.NaN) * 10'),
    mustFail: ['TTL-001a', 'TTL-005a', 'TTL-007a'],
    mayFail: ['TTL-003a', 'TTL-009a', 'TTL-010a', 'TTL-010b', 'TTL-012a'],
  },
  {
    id: 'expiry-ten-times-sooner',
    title: 'messages expire after a tenth of their time',
    file: options,
    find: readTtl,
    replace: readTtl.replace('parseTimeSpan(ttl) ?? Number.NaN', '(parseTimeSpan(ttl) ?? Number.NaN) / 10'),
    mustFail: ['TTL-001b', 'TTL-005a', 'TTL-007a'],
    mayFail: ['TTL-003a', 'TTL-001a', 'TTL-010a', 'TTL-010b', 'TTL-009a', 'TTL-011a'],
  },
  {
    id: 'expiry-two-seconds-late',
    title: 'expired messages are looked for two seconds late',
    file: settlement,
    find: '    const dueAt = message.acceptedAt + ttl;',
    replace: '    const dueAt = message.acceptedAt + ttl + 2000;',
    mustFail: ['TTL-005a', 'TTL-007a'],
    mayFail: ['TTL-001a', 'TTL-012a', 'TTL-003a'],
  },
  {
    id: 'expiry-without-a-ttl',
    title: 'messages of a queue without messageTtl expire',
    file: options,
    find: readTtl,
    replace: readTtl.replace(' : {}),', ' : { messageTtlMs: 200 }),'),
    mustFail: ['TTL-012a'],
  },
  {
    id: 'expiry-reason-of-retries',
    title: 'expired messages are dead-lettered as MaxRetriesExceeded',
    file: settlement,
    find: "    this.giveUp(queue, message, 'MessageExpired', message.failedAttempts);\n  }\n\n  #enter(",
    replace:
      "    this.giveUp(queue, message, 'MaxRetriesExceeded', message.failedAttempts);\n  }\n\n  #enter(",
    mustFail: ['TTL-007a'],
  },
  {
    id: 'expiry-letters-keep-their-age',
    title: 'a dead letter is as old as the message was',
    file: settlement,
    find: '    this.#enter(queue, letter);',
    replace: '    this.#enter(queue, letter);\n    letter.acceptedAt = message.acceptedAt;',
    mustFail: ['TTL-003a'],
  },
  {
    id: 'expiry-to-a-queue-that-is-off',
    title: 'a queue dead-letters into the queue that it names, though its dead letter queue is off',
    file: settlement,
    find: 'if (queue.options.enableDeadLetterQueue && message.deadLetter === undefined) {',
    replace:
      'if ((queue.options.enableDeadLetterQueue || queue.options.deadLetterQueueName !== undefined) && message.deadLetter === undefined) {',
    mustFail: ['DLQ-020a'],
  },
  {
    id: 'expiry-in-flight',
    title: 'an ack of a message that is over its TTL does not count',
    file: attempts,
    find: "    this.#end(delivery, { kind: 'acknowledged' });",
    replace: `    const isExpired = delivery.queue.isExpired(delivery.message, this.#step.now);
    this.#end(delivery, isExpired ? { kind: 'failed', reason: 'MessageExpired' } : { kind: 'acknowledged' });`,
    mustFail: ['TTL-009a'],
  },
  {
    id: 'expiry-not-at-a-retry',
    title: 'a message over its TTL is sent again',
    file: attempts,
    find: '    else if (queue.isExpired(message, this.#step.now)) {',
    replace: '    else if (queue.isExpired(message, message.acceptedAt)) {',
    mustFail: ['TTL-010a'],
  },
  {
    id: 'expiry-given-back-is-lost',
    title: 'a message that is given back over its TTL is not dead-lettered',
    file: settlement,
    find: "      this.giveUp(queue, message, 'MessageExpired', message.failedAttempts);\n      return;",
    replace: "      this.#leave(queue, message, 'expire');\n      return;",
    mustFail: ['TTL-010b'],
  },
  {
    id: 'expiry-before-retries',
    title: 'a message over its TTL whose last attempt fails counts as expired',
    file: attempts,
    find: "      this.#end(delivery, { kind: 'failed', reason });\n    } else",
    replace: `      const isExpired = delivery.queue.isExpired(delivery.message, this.#step.now);
      this.#end(delivery, { kind: 'failed', reason: isExpired ? 'MessageExpired' : reason });
    } else`,
    mustFail: ['TTL-011a'],
  },
];
