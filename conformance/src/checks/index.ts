// The list of all checks: one module per area of the specification. What is not listed here does not exist.
import type { Check } from '../check.ts';
import { acknowledgments } from './acknowledgments.ts';
import { blocking } from './blocking.ts';
import { body } from './body.ts';
import { bounds } from './bounds.ts';
import { compression } from './compression.ts';
import { connection } from './connection.ts';
import { deadLetters } from './dead-letters.ts';
import { delivery } from './delivery.ts';
import { durableMessages } from './durable-messages.ts';
import { durableQueues } from './durable-queues.ts';
import { expiry } from './expiry.ts';
import { failureMetrics } from './failure-metrics.ts';
import { fanOut } from './fan-out.ts';
import { fieldRules } from './field-rules.ts';
import { framing } from './framing.ts';
import { handshake } from './handshake.ts';
import { health } from './health.ts';
import { histories } from './histories.ts';
import { limits } from './limits.ts';
import { metrics } from './metrics.ts';
import { negativeAcks } from './negative-acks.ts';
import { overflow } from './overflow.ts';
import { priority } from './priority.ts';
import { publish } from './publish.ts';
import { queueOptions } from './queue-options.ts';
import { queues } from './queues.ts';
import { recorded } from './recorded.ts';
import { retry } from './retry.ts';
import { scenarios } from './scenarios.ts';
import { volume } from './volume.ts';

export const checks: readonly Check[] = [
  ...framing,
  ...body,
  ...fieldRules,
  ...handshake,
  ...connection,
  ...queues,
  ...queueOptions,
  ...publish,
  ...delivery,
  ...acknowledgments,
  ...compression,
  ...recorded,
  ...health,
  ...metrics,
  ...limits,
  ...fanOut,
  ...priority,
  ...overflow,
  ...blocking,
  ...retry,
  ...expiry,
  ...deadLetters,
  ...negativeAcks,
  ...failureMetrics,
  ...bounds,
  ...histories,
  ...volume,
  ...durableMessages,
  ...durableQueues,
  ...scenarios,
];
