// Planted faults that show only when several things come together: for the checks that play histories and random scenarios.
import type { Mutant } from './mutant.ts';

const fanOutWithAck = 'src/broker/delivery/fan-out-with-ack.ts';
const fanOutWithoutAck = 'src/broker/delivery/fan-out-without-ack.ts';
const oneSubscriber = 'src/broker/delivery/one-subscriber.ts';

export const scenarioMutants: readonly Mutant[] = [
  {
    id: 'history-one-in-three-not-given-back',
    title: 'one in three of the messages that are given back is lost',
    file: oneSubscriber,
    find: '      settlement.waitAgain(queue, message, ending.cutShort);',
    replace:
      '      if (message.sequence % 3 === 2) settlement.acknowledge(queue, message);\n      else settlement.waitAgain(queue, message, ending.cutShort);',
    mustFail: ['DELIVERY-006b', 'DELIVERY-030b'],
    mayFail: ['DELIVERY-039a'],
  },
  {
    id: 'history-one-in-thirty-two-for-the-others',
    title: 'every 32nd FanOutWithAck message is not sent to the first of its subscribers',
    file: fanOutWithAck,
    find: '  for (const member of queue.subscriptions) {\n    if (member.ready) {',
    replace:
      '  let isFirst = message.sequence % 32 === 31;\n  for (const member of queue.subscriptions) {\n    const isLeftOut = isFirst && queue.subscriptions.size > 1;\n    isFirst = false;\n    if (isLeftOut) continue;\n    if (member.ready) {',
    mustFail: ['DELIVERY-014b'],
  },
  {
    id: 'history-one-in-thirty-two-unsent',
    title: 'every 32nd FanOutWithoutAck message is not sent',
    file: fanOutWithoutAck,
    find: '      deliveries.sendUnconfirmed(queue, message, subscription);',
    replace:
      '      if (message.sequence % 32 !== 31) deliveries.sendUnconfirmed(queue, message, subscription);',
    mustFail: ['DELIVERY-024b'],
  },
  {
    id: 'scenario-two-in-flight-wait',
    title: 'two messages in flight are counted as one that waits',
    file: 'src/broker/queue.ts',
    find: 'return this.waiting.size + this.resting.size + this.partlySent.size;',
    replace:
      'return this.waiting.size + this.resting.size + this.partlySent.size + (this.inFlightCount === 2 ? 1 : 0);',
    mustFail: ['DELIVERY-001b', 'DELIVERY-014c'],
    mayFail: ['DELIVERY-003a', 'DELIVERY-039a', 'DELIVERY-046a'],
  },
];
