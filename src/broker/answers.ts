// The positive answer to a command, and the texts of refusals that several handlers share.

import type { QueueInfo } from '../model/queue-info.ts';
import type { Core } from './core.ts';
import type { Asker } from './input-kinds.ts';

export const SHUTTING_DOWN = 'The broker is shutting down.';

/** `result`: for QueueInfo (null: no such queue) and ListQueues. */
export function answer(
  { step }: Core,
  { connection, token }: Asker,
  result?: QueueInfo | null | readonly string[],
): void {
  step.effect(
    result === undefined
      ? { kind: 'answered', connection, token }
      : { kind: 'answered', connection, token, result },
  );
}
