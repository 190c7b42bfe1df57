// Planted faults that show only when several things come together: for the checks that play histories and random scenarios.
import type { Mutant } from './mutant.ts';

const fanOutWithAck = 'src/broker/delivery/fan-out-with-ack.ts';
const fanOutWithoutAck = 'src/broker/delivery/fan-out-without-ack.ts';
const oneSubscriber = 'src/broker/delivery/one-subscriber.ts';

/** Counts, for each queue, how often the place was passed. */
function counted(indent: string): string {
  return `${indent}const counted = ((queue as unknown as { counted?: { count: number } }).counted ??= { count: 0 });\n${indent}counted.count += 1;\n`;
}

export const scenarioMutants: readonly Mutant[] = [
  {
    id: 'history-one-in-three-not-given-back',
    title: 'one in three of the messages that are given back is lost',
    file: oneSubscriber,
    find: '      settlement.waitAgain(queue, message, ending.cutShort);',
    replace: `${counted('      ')}      if (counted.count % 3 === 0) settlement.acknowledge(queue, message);\n      else settlement.waitAgain(queue, message, ending.cutShort);`,
    mustFail: ['DELIVERY-006b', 'DELIVERY-030b'],
    mayFail: ['DELIVERY-039a'],
  },
  {
    id: 'history-one-in-thirty-two-for-the-others',
    title: 'every 32nd FanOutWithAck message is not sent to the first of its subscribers',
    file: fanOutWithAck,
    find: '  for (const member of queue.subscriptions) {\n    if (member.ready) {',
    replace: `${counted('  ')}  let isFirst = counted.count % 32 === 0;\n  for (const member of queue.subscriptions) {\n    const isLeftOut = isFirst && queue.subscriptions.size > 1;\n    isFirst = false;\n    if (isLeftOut) continue;\n    if (member.ready) {`,
    mustFail: ['DELIVERY-014b'],
  },
  {
    id: 'history-one-in-thirty-two-unsent',
    title: 'every 32nd FanOutWithoutAck message is not sent',
    file: fanOutWithoutAck,
    find: '    for (const subscription of queue.subscriptions) {\n      if (!subscription.ready) continue;',
    replace: `${counted('    ')}    for (const subscription of queue.subscriptions) {\n      if (!subscription.ready || counted.count % 32 === 0) continue;`,
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
