// Checks with a model of the specification: they send random commands on several connections and compare every frame of the broker with
// the frames that the model allows. When a scenario fails, the report shows the shortest one that fails. Areas: QUEUE, PUBLISH,
// OVERFLOW, DELIVERY, DLQ, NACK.
import type { Check, CheckModule } from '../check.ts';
import { explore } from '../model/exploration.ts';

export const scenarioChecks: CheckModule = [
  // DELIVERY-001 (MUST): The broker removes an acknowledged message from its queue, in FanOutWithAck an acknowledged
  // copy, and does not deliver it again.
  {
    id: 'DELIVERY-001b',
    title:
      'sends only frames that the model allows in random scenarios on RoundRobin and PriorityBased queues',
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
  // DELIVERY-014 (MUST): In FanOutWithAck the broker delivers each message once to every subscriber that is subscribed
  // when it sends the first copy.
  {
    id: 'DELIVERY-014c',
    title: 'sends only frames that the model allows in random scenarios on fan-out queues',
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

/** A short retry delay keeps the scenarios short. Their result does not depend on it. */
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
