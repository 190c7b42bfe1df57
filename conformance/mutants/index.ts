// Every planted fault: one module per area. What is not listed here does not exist.
import { blockingMutants } from './blocking.ts';
import { bodyMutants } from './body.ts';
import { boundsMutants } from './bounds.ts';
import { compressionMutants } from './compression.ts';
import { connectionMutants } from './connection.ts';
import { deadLettersMutants } from './dead-letters.ts';
import { deliveryMutants } from './delivery.ts';
import { durableMutants } from './durable.ts';
import { expiryMutants } from './expiry.ts';
import { failureMetricsMutants } from './failure-metrics.ts';
import { fanOutMutants } from './fan-out.ts';
import { framingMutants } from './framing.ts';
import { httpMutants } from './http.ts';
import { limitMutants } from './limits.ts';
import type { Mutant } from './mutant.ts';
import { negativeAcksMutants } from './negative-acks.ts';
import { overflowMutants } from './overflow.ts';
import { priorityMutants } from './priority.ts';
import { publishMutants } from './publish.ts';
import { queueMutants } from './queues.ts';
import { retryMutants } from './retry.ts';
import { scenarioMutants } from './scenarios.ts';

export const mutants: readonly Mutant[] = [
  ...framingMutants,
  ...bodyMutants,
  ...connectionMutants,
  ...queueMutants,
  ...publishMutants,
  ...deliveryMutants,
  ...compressionMutants,
  ...httpMutants,
  ...limitMutants,
  ...fanOutMutants,
  ...priorityMutants,
  ...overflowMutants,
  ...blockingMutants,
  ...retryMutants,
  ...expiryMutants,
  ...deadLettersMutants,
  ...negativeAcksMutants,
  ...failureMetricsMutants,
  ...boundsMutants,
  ...scenarioMutants,
  ...durableMutants,
];
