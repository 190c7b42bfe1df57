// The differences between a declared queue and the existing one, and how severe each is: a table of one rule per option. Pure. Implements
// CLIENT-016 to CLIENT-023.

import { formatTimeSpan, parseTimeSpan } from '../../protocol/time-span.ts';
import type { QueueDetails } from '../queue-answers.ts';
import type { QueueDeclaration } from './queue-declaration.ts';

/** Info differences are reported only; the conflict strategy applies to Soft and Hard ones. */
export type DifferenceSeverity = 'Info' | 'Soft' | 'Hard';

export type DeclaredOption = Exclude<keyof QueueDeclaration, 'name'>;

export type QueueDifference = {
  readonly queue: string;
  readonly option: DeclaredOption;
  /** The declared value; null: no message TTL. */
  readonly declared: string | number | boolean | null;
  /** The value of the existing queue; null: no message TTL. */
  readonly live: string | number | boolean | null;
  readonly severity: DifferenceSeverity;
};

/** Every option that is declared with another value than the existing queue has. An omitted option is not compared. */
export function differences(declared: QueueDeclaration, live: QueueDetails): readonly QueueDifference[] {
  const found: QueueDifference[] = [];
  for (const { option, declaredValue, liveValue, severity } of rules) {
    const pair = { declared: declaredValue(declared), live: liveValue(live) };
    if (pair.declared === undefined || pair.declared === pair.live) continue;
    const judged = severity(declared, live);
    if (judged === undefined) continue;
    found.push({ queue: declared.name, option, declared: pair.declared, live: pair.live, severity: judged });
  }
  return found;
}

/** Whether the conflict strategy applies to the difference. */
export function isConflict({ severity }: QueueDifference): boolean {
  return severity !== 'Info';
}

type Rule = {
  readonly option: DeclaredOption;
  /** Undefined: the declaration omits the option. */
  readonly declaredValue: (declared: QueueDeclaration) => QueueDifference['declared'] | undefined;
  readonly liveValue: (live: QueueDetails) => QueueDifference['live'];
  /** How severe a difference is; undefined: in this combination the option has no effect, so there is no difference. */
  readonly severity: (declared: QueueDeclaration, live: QueueDetails) => DifferenceSeverity | undefined;
};

const rules: readonly Rule[] = [
  {
    option: 'mode',
    declaredValue: ({ mode }) => mode,
    liveValue: ({ deliveryMode }) => deliveryMode,
    severity: () => 'Hard',
  },
  {
    option: 'maxQueueSize',
    declaredValue: ({ maxQueueSize }) => maxQueueSize,
    liveValue: ({ maxSize }) => maxSize,
    severity: () => 'Info',
  },
  {
    option: 'messageTtlMs',
    declaredValue: ({ messageTtlMs: ttl }) => (typeof ttl === 'number' ? asOnTheWire(ttl) : ttl),
    liveValue: ({ messageTtlMs }) => messageTtlMs ?? null,
    severity: ({ messageTtlMs: ttl }, live) =>
      typeof ttl === 'number' && ttl < (live.messageTtlMs ?? Number.POSITIVE_INFINITY) ? 'Soft' : 'Info',
  },
  {
    option: 'enableDeadLetterQueue',
    declaredValue: ({ enableDeadLetterQueue }) => enableDeadLetterQueue,
    liveValue: ({ enableDeadLetterQueue }) => enableDeadLetterQueue,
    severity: ({ enableDeadLetterQueue }) => (enableDeadLetterQueue === true ? 'Info' : 'Soft'),
  },
  {
    option: 'deadLetterQueueName',
    declaredValue: ({ deadLetterQueueName }) => deadLetterQueueName,
    liveValue: ({ name, deadLetterQueueName }) => deadLetterQueueName ?? `${name}.dlq`,
    severity: (declared, live) =>
      declared.enableDeadLetterQueue === true && live.enableDeadLetterQueue ? 'Hard' : undefined,
  },
  {
    option: 'overflowStrategy',
    declaredValue: ({ overflowStrategy }) => overflowStrategy,
    liveValue: ({ overflowStrategy }) => overflowStrategy,
    severity: ({ overflowStrategy }, { enableDeadLetterQueue }) =>
      overflowStrategy === 'RedirectToDlq' && !enableDeadLetterQueue ? 'Hard' : 'Info',
  },
  {
    option: 'maxRetryAttempts',
    declaredValue: ({ maxRetryAttempts }) => maxRetryAttempts,
    liveValue: ({ maxRetryAttempts }) => maxRetryAttempts,
    severity: () => 'Info',
  },
];

/** Rounded to the ten-thousandths of a millisecond that a broker receives, so that a created queue equals its declaration. */
function asOnTheWire(durationMs: number): number {
  return parseTimeSpan(formatTimeSpan(durationMs)) ?? durationMs;
}
