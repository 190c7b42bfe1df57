// Checks by model: random commands on several connections and queues, judged by what a broker may do after all that was seen. They know no
// scenario beforehand; when one fails, the shortest that fails is shown. Areas: QUEUE, PUBLISH, OVERFLOW, DELIVERY, DLQ, NACK.
import type { Check, CheckModule } from '../check.ts';
import { explore } from '../model/exploration.ts';

export const scenarioChecks: CheckModule = [
  {
    id: 'DELIVERY-001b',
    title: 'follows the rules in random scenarios on RoundRobin and PriorityBased queues',
    clauses: [
      'DELIVERY-001',
      'QUEUE-009',
      'QUEUE-025',
      'PUBLISH-002',
      'OVERFLOW-002',
      'DELIVERY-011',
      'DELIVERY-031',
      'DELIVERY-035',
      'DELIVERY-038',
      'DLQ-001',
    ],
    ...common(),
    run: (ctx) => explore(ctx, ['RoundRobin', 'PriorityBased']),
  },
  {
    id: 'DELIVERY-014c',
    title: 'follows the rules in random scenarios on FanOutWithAck and FanOutWithoutAck queues',
    clauses: [
      'DELIVERY-014',
      'QUEUE-009',
      'QUEUE-025',
      'PUBLISH-002',
      'OVERFLOW-002',
      'DELIVERY-015',
      'DELIVERY-016',
      'DELIVERY-024',
      'DELIVERY-025',
      'DELIVERY-056',
      'DLQ-017',
    ],
    ...common(),
    run: (ctx) => explore(ctx, ['FanOutWithAck', 'FanOutWithoutAck']),
  },
] satisfies readonly Check[];

/** A short pause before the next attempt keeps the scenarios short; they do not depend on it. */
function common(): Pick<Check, 'profile' | 'broad' | 'evidence' | 'prefers' | 'accepts'> {
  return {
    profile: 'model',
    broad: true,
    evidence: { frames: 500, messages: 50, assertions: 200 },
    accepts: ['every outcome that the specification allows'],
    prefers: {
      timing: { retryDelayMs: 20 },
      queueDefaults: { enableAutoCreate: true, deliveryMode: 'RoundRobin', maxQueueSize: 10_000 },
    },
  };
}
