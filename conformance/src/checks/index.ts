// The list of all checks: one module per area of the specification. What is not listed here does not exist.
import type { Check } from '../check.ts';
import { acknowledgments } from './acknowledgments.ts';
import { body } from './body.ts';
import { compression } from './compression.ts';
import { connection } from './connection.ts';
import { delivery } from './delivery.ts';
import { fieldRules } from './field-rules.ts';
import { framing } from './framing.ts';
import { handshake } from './handshake.ts';
import { health } from './health.ts';
import { limits } from './limits.ts';
import { metrics } from './metrics.ts';
import { publish } from './publish.ts';
import { queueOptions } from './queue-options.ts';
import { queues } from './queues.ts';
import { recorded } from './recorded.ts';

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
];
