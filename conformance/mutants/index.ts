// Every planted fault: one module per area. What is not listed here does not exist.
import { bodyMutants } from './body.ts';
import { compressionMutants } from './compression.ts';
import { connectionMutants } from './connection.ts';
import { deliveryMutants } from './delivery.ts';
import { framingMutants } from './framing.ts';
import { httpMutants } from './http.ts';
import { limitMutants } from './limits.ts';
import type { Mutant } from './mutant.ts';
import { publishMutants } from './publish.ts';
import { queueMutants } from './queues.ts';

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
];
