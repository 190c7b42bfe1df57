// Queue declarations: the queues that a client wants to exist, and what is checked before it connects. Pure. Implements CLIENT-028.

import { DeliveryMode } from '../../model/delivery-mode.ts';
import { numberOfName } from '../../model/named-numbers.ts';
import { OverflowStrategy } from '../../model/overflow-strategy.ts';
import { isQueueName } from '../../model/queue-name.ts';
import { defaultQueueOptions, impossibleOption, type QueueOptions } from '../../model/queue-options.ts';
import { ClientError } from '../errors.ts';
import { isPlain, shown } from '../option-checks.ts';
import { type CreateQueueOptions, problemOfOptions } from '../queue-answers.ts';

/** A queue that must exist, and the options that it should have. An omitted option may have any value in an existing queue. */
export type QueueDeclaration = Omit<CreateQueueOptions, 'messageTtlMs'> & {
  readonly name: string;
  /** In milliseconds; null: the queue should have none. */
  readonly messageTtlMs?: number | null;
};

/** What the client does with an existing queue that differs from its declaration (Soft or Hard); Info differences change nothing. */
export const conflictStrategies = ['Ignore', 'Fail', 'Override'] as const;
export type ConflictStrategy = (typeof conflictStrategies)[number];

/** A declaration cannot be carried out by any broker. `code` is `INVALID_DECLARATION`. */
export class DeclarationError extends ClientError {
  constructor(problem: string) {
    super('INVALID_DECLARATION', problem);
  }
}

/**
 * Checks declarations without a broker.
 * @throws DeclarationError that names the queue, the option and what is allowed
 */
export function checkDeclarations(queues: readonly QueueDeclaration[], strategy?: ConflictStrategy): void {
  if (strategy !== undefined && !conflictStrategies.includes(strategy)) {
    const allowed = conflictStrategies.join(', ');
    throw new DeclarationError(`the conflict strategy must be one of ${allowed}; it is ${shown(strategy)}`);
  }
  const names = new Set<string>();
  for (const declared of queues) {
    if (!isPlain(declared))
      throw new DeclarationError(
        `declared queue: came ${shown(declared)}; allowed is a name, or an object with a name`,
      );
    checkName(declared.name, names);
    const problem = problemOf(declared);
    if (problem !== undefined) throw new DeclarationError(`declared queue ${declared.name}: ${problem}`);
    names.add(declared.name);
  }
}

/** The options for CreateQueue; undefined when the declaration has only a name, so that the broker uses its defaults. */
export function declaredOptions({ name, ...options }: QueueDeclaration): CreateQueueOptions | undefined {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  if (given.length === 0) return undefined;
  // No message TTL is what a CreateQueue without it means.
  return Object.fromEntries(given.filter(([, value]) => value !== null));
}

function checkName(name: unknown, others: ReadonlySet<string>): void {
  if (typeof name !== 'string' || !isQueueName(name)) {
    const allowed = '1 to 256 letters, digits, "-", "_" or "."';
    throw new DeclarationError(`declared queue ${JSON.stringify(name)}: a queue name has ${allowed}`);
  }
  if (others.has(name)) throw new DeclarationError(`declared queue ${name}: it is declared twice`);
}

function problemOf(declared: QueueDeclaration): string | undefined {
  const options = declaredOptions(declared) ?? {};
  return problemOfOptions(options) ?? impossibleOption(declared.name, completeOptions(options));
}

/** With the default of the protocol for each omitted option: what a broker makes of a CreateQueue with these options. */
function completeOptions({ mode, overflowStrategy, ...rest }: CreateQueueOptions): QueueOptions {
  return {
    ...defaultQueueOptions,
    ...rest,
    ...(mode !== undefined && { mode: numberOfName(DeliveryMode, mode) }),
    ...(overflowStrategy !== undefined && {
      overflowStrategy: numberOfName(OverflowStrategy, overflowStrategy),
    }),
  };
}
