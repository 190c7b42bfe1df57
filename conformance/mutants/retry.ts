// Faults in retries: when, how often, to whom, and what an ack means during the pause. Areas: RETRY, DELIVERY, QUEUE.
import type { Mutant } from './mutant.ts';

const attempts = 'src/broker/attempts.ts';
const broker = 'src/broker/broker.ts';
const policy = 'src/broker/retry-policy.ts';
const fanOutWithAck = 'src/broker/delivery/fan-out-with-ack.ts';
const lastAttempt = '    if (delivery.failedAttempts >= delivery.queue.options.maxRetryAttempts) {';

export const retryMutants: readonly Mutant[] = [
  {
    id: 'retry-never',
    title: 'there is one attempt, whatever maxRetryAttempts says',
    file: attempts,
    find: lastAttempt,
    replace: '    if (delivery.failedAttempts >= 1) {',
    mustFail: ['RETRY-001a', 'RETRY-007a'],
    mayFail: ['RETRY-002a', 'RETRY-004a', 'RETRY-011a', 'RETRY-011b'],
  },
  {
    id: 'retry-once-too-often',
    title: 'there is one attempt more than maxRetryAttempts says',
    file: attempts,
    find: lastAttempt,
    replace: '    if (delivery.failedAttempts > delivery.queue.options.maxRetryAttempts) {',
    mustFail: ['RETRY-007a', 'RETRY-009a', 'NACK-006a'],
    mayFail: ['NACK-004a', 'NACK-007a', 'RETRY-010a'],
  },
  {
    id: 'retry-pause-grows-by-steps',
    title: 'the pause grows by the same step each time',
    file: policy,
    find: 'settings.retryDelayMs * 2 ** (failures - 1)',
    replace: 'settings.retryDelayMs * failures',
    mustFail: ['RETRY-002a'],
  },
  {
    id: 'retry-pause-triples',
    title: 'the pause grows threefold each time',
    file: policy,
    find: 'settings.retryDelayMs * 2 ** (failures - 1)',
    replace: 'settings.retryDelayMs * 3 ** (failures - 1)',
    mustFail: ['RETRY-002a'],
  },
  {
    id: 'retry-pause-without-limit',
    title: 'the pause grows without limit',
    file: policy,
    find: 'Math.min(settings.retryDelayMs * 2 ** (failures - 1), settings.maxRetryDelayMs)',
    replace: 'settings.retryDelayMs * 2 ** (failures - 1)',
    mustFail: ['RETRY-004a'],
  },
  {
    id: 'retry-without-end',
    title: 'a message without attempts left waits again where there is no dead letter queue',
    file: 'src/broker/settlement.ts',
    find: "    this.#step.stats.discardedCount += 1;\n    this.#leave(queue, message, reason === 'MessageExpired' ? 'expire' : 'drop');",
    replace: `    if (reason !== 'MessageExpired') return this.waitAgain(queue, message, false);
    this.#step.stats.discardedCount += 1;
    this.#leave(queue, message, 'expire');`,
    mustFail: ['RETRY-009a', 'RETRY-010a'],
  },
  {
    id: 'retry-to-the-same',
    title: 'the next attempt goes to the same subscriber, though there is another',
    file: 'src/broker/delivery/one-subscriber.ts',
    find: '  const other = queue.ready.firstOtherThan(subscription);',
    replace: '  const other = subscription.active ? undefined : queue.ready.firstOtherThan(subscription);',
    mustFail: ['RETRY-011a', 'RETRY-011b'],
  },
  {
    id: 'retry-not-after-another-ack',
    title: 'a FanOutWithAck copy is not sent again once another subscriber acknowledged its own',
    file: fanOutWithAck,
    find: '  if (!subscription.active) {\n    tools.deliveries.remove(delivery);',
    replace:
      '  if (!subscription.active || fanOutOf(delivery.message).acknowledged) {\n    tools.deliveries.remove(delivery);',
    mustFail: ['DELIVERY-016a', 'DELIVERY-056a'],
  },
  {
    id: 'retry-to-every-member',
    title: 'a FanOutWithAck message is sent again to all its subscribers',
    file: fanOutWithAck,
    find: '  } else if (subscription.connection.writable) tools.deliveries.resend(delivery);',
    replace: `  } else if (subscription.connection.writable) {
    tools.deliveries.resend(delivery);
    for (const member of delivery.queue.subscriptions) {
      if (member !== subscription) tools.deliveries.sendUnconfirmed(delivery.queue, delivery.message, member);
    }
  }`,
    mustFail: ['DELIVERY-016a', 'NACK-008a'],
    mayFail: ['DELIVERY-056a'],
  },
  {
    id: 'retry-held-by-the-unsubscribed',
    title: 'what is in flight at an Unsubscribe stays so until the connection ends',
    file: attempts,
    find: '      if (delivery === undefined) break;',
    replace: '      if (delivery === undefined) break;\n      if (!delivery.subscription.active) continue;',
    mustFail: ['DELIVERY-060a', 'DELIVERY-062a'],
  },
  {
    id: 'retry-pause-frees-the-place',
    title: 'a message has no place in the window during the pause',
    file: 'src/broker/deliveries.ts',
    find: '    this.#deadlines.remove(delivery);\n    delivery.resume = this.#timers.set(',
    replace: `    this.#deadlines.remove(delivery);
    delivery.subscription.inFlightCount -= 1;
    this.refreshReady(delivery.queue, delivery.subscription);
    delivery.resume = this.#timers.set(`,
    mustFail: ['DELIVERY-004a'],
  },
  {
    id: 'retry-pause-takes-no-acks',
    title: 'acks that come during the pause are not taken',
    file: broker,
    find: "    if (input.kind === 'acknowledge') this.#attempts.acknowledged(delivery);",
    replace:
      "    if (delivery.isPaused) return;\n    if (input.kind === 'acknowledge') this.#attempts.acknowledged(delivery);",
    mustFail: ['DELIVERY-007a', 'DELIVERY-008a'],
  },
  {
    id: 'retry-no-rest',
    title: 'a message is offered again at once, however often it was left',
    file: 'src/broker/settlement.ts',
    find: '    if (message.cutShortCount >= 2) this.#rest(queue, message);',
    replace: '    if (message.cutShortCount >= 3) this.#rest(queue, message);',
    mustFail: ['DELIVERY-041a'],
  },
  {
    id: 'retry-rest-one-step-short',
    title: 'a message that was left k times rests for retryDelay(k - 1)',
    file: 'src/broker/settlement.ts',
    find: 'retryDelayMs(message.cutShortCount, ',
    replace: 'retryDelayMs(message.cutShortCount - 1, ',
    mustFail: ['DELIVERY-041a'],
  },
  {
    id: 'retry-of-deleted-queues',
    title: 'messages in flight of a deleted queue are sent again',
    file: 'src/broker/queues.ts',
    find: '    queue.deleted = true;\n',
    replace: '',
    mustFail: ['QUEUE-017b'],
    mayFail: ['QUEUE-014a', 'QUEUE-016a', 'QUEUE-017a', 'QUEUE-018a'],
  },
];
