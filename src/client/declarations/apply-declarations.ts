// Applies queue declarations to a connected broker: creates missing queues, compares the others, and carries out the conflict strategy.
// Knows no connection: the caller hands in the operations. Implements CLIENT-015, CLIENT-024 to CLIENT-027 and CLIENT-029.

import { CommandError } from '../errors.ts';
import type { CreateQueueOptions, QueueDetails } from '../queue-answers.ts';
import { differences, isConflict, type QueueDifference } from './differences.ts';
import { QueueConflictError } from './queue-conflict-error.ts';
import { type ConflictStrategy, declaredOptions, type QueueDeclaration } from './queue-declaration.ts';

/** The operations of a client that declarations need. */
export interface QueueOperations {
  queueInfo(queue: string): Promise<QueueDetails | undefined>;
  createQueue(queue: string, options?: CreateQueueOptions): Promise<void>;
  deleteQueue(queue: string): Promise<void>;
}

export type DeclarationOptions = {
  /** Checked by `checkDeclarations`. */
  readonly queues: readonly QueueDeclaration[];
  /** Default Ignore. */
  readonly strategy?: ConflictStrategy;
  /** Only creates missing queues, and compares none: the queues were compared at the first connect. Default false. */
  readonly isReconnect?: boolean;
  /** Called with each difference, of every severity, before the strategy is carried out. Must not throw. */
  readonly onDifference?: (difference: QueueDifference) => void;
};

/** Other clients may create and delete a queue while this one does. After so many attempts the last error is the result. */
const MAX_ATTEMPTS = 5;

/**
 * Creates each missing queue and compares the others, in the order of the declarations.
 * @throws QueueConflictError with strategy Fail, after all queues were created or compared; it lists the differences of all. Rejects with
 * the errors of the operations, such as CommandError `NOT_AUTHORIZED`
 */
export async function applyDeclarations(
  operations: QueueOperations,
  options: DeclarationOptions,
): Promise<void> {
  const conflicts: QueueDifference[] = [];
  for (const declared of options.queues) {
    const found = await applyDeclaration(operations, declared, options);
    if (found.some(isConflict)) conflicts.push(...found);
  }
  if (options.strategy === 'Fail' && conflicts.length > 0) throw new QueueConflictError(conflicts);
}

/** The differences that the queue keeps. */
async function applyDeclaration(
  operations: QueueOperations,
  declared: QueueDeclaration,
  { strategy = 'Ignore', isReconnect = false, onDifference }: DeclarationOptions,
): Promise<readonly QueueDifference[]> {
  for (let attempt = 1; ; attempt += 1) {
    const live = await operations.queueInfo(declared.name);
    const found = live === undefined || isReconnect ? [] : differences(declared, live);
    for (const difference of found) onDifference?.(difference);
    const isReplaced = strategy === 'Override' && found.some(isConflict);
    if (live !== undefined && !isReplaced) return found;
    if (isReplaced) await unless('QUEUE_NOT_FOUND', operations.deleteQueue(declared.name));
    const creation = operations.createQueue(declared.name, declaredOptions(declared));
    // Another client has created the queue meanwhile: it is read again and judged.
    if (attempt === MAX_ATTEMPTS) await creation;
    else if (!(await unless('QUEUE_EXISTS', creation))) continue;
    return [];
  }
}

/** Whether the operation succeeded; false if the broker refused it with this code. Rejects with every other error. */
async function unless(code: string, operation: Promise<void>): Promise<boolean> {
  try {
    await operation;
    return true;
  } catch (error) {
    if (error instanceof CommandError && error.code === code) return false;
    throw error;
  }
}
