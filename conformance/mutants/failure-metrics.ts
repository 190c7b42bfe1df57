// Faults in counting what goes wrong with messages. Areas: METRICS, OVERFLOW, RETRY, DLQ.
import type { Mutant } from './mutant.ts';

const settlement = 'src/broker/settlement.ts';

export const failureMetricsMutants: readonly Mutant[] = [
  {
    id: 'metrics-first-retry-uncounted',
    title: 'the second attempt is not counted as a retry',
    file: 'src/broker/deliveries.ts',
    find: '    if (attempt > 1) stats.retryCount += 1;',
    replace: '    if (attempt > 2) stats.retryCount += 1;',
    mustFail: ['METRICS-011a'],
  },
  {
    id: 'metrics-dead-letters-counted-once',
    title: 'total_dead_lettered tells only whether there was a dead letter',
    file: settlement,
    find: '    this.#step.stats.deadLetteredCount += 1;',
    replace: '    this.#step.stats.deadLetteredCount = 1;',
    mustFail: ['METRICS-012a', 'DLQ-009a'],
  },
  {
    id: 'metrics-pushed-out-uncounted',
    title: 'messages that are pushed out are not counted',
    file: settlement,
    find: '    this.#step.stats.discardedCount += 1;\n    if (queue.mode.takePartlySent(',
    replace: '    if (queue.mode.takePartlySent(',
    mustFail: ['OVERFLOW-006a', 'DLQ-009a'],
  },
  {
    id: 'metrics-missed-copies-uncounted',
    title: 'copies that a subscriber missed are not counted',
    file: settlement,
    find: '    this.#step.stats.discardedCount += missedCount;',
    replace: '    this.#step.stats.discardedCount += missedCount * 0;',
    mustFail: ['DELIVERY-029a'],
  },
  {
    id: 'metrics-discarded-uncounted',
    title: 'messages that are discarded after their last attempt are not counted',
    file: settlement,
    find: "    this.#step.stats.discardedCount += 1;\n    this.#leave(queue, message, reason === 'MessageExpired' ? 'expire' : 'drop');",
    replace: "    this.#leave(queue, message, reason === 'MessageExpired' ? 'expire' : 'drop');",
    mustFail: ['RETRY-010a'],
  },
];
