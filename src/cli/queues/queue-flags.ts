// The options of a queue as flags of `truemq queues create`: read and checked before the broker is asked. Implements QUEUE-002 to QUEUE-007 for the
// command line.

import type { CreateQueueOptions } from '../../client/index.ts';
import { DURATION_FORMS, parseDuration } from '../../config/duration.ts';
import { DeliveryMode, type DeliveryModeName } from '../../model/delivery-mode.ts';
import { numberOfName } from '../../model/named-numbers.ts';
import { OverflowStrategy, type OverflowStrategyName } from '../../model/overflow-strategy.ts';
import { defaultQueueOptions, impossibleOption } from '../../model/queue-options.ts';
import { type Arguments, type FlagKind, parseChoice, parseCount, UsageError } from '../arguments.ts';

const modes = Object.keys(DeliveryMode) as DeliveryModeName[];
const strategies = Object.keys(OverflowStrategy) as OverflowStrategyName[];

export const queueFlags = {
  mode: 'text',
  'max-queue-size': 'text',
  'message-ttl': 'text',
  'enable-dead-letter-queue': 'switch',
  'dead-letter-queue-name': 'text',
  'overflow-strategy': 'text',
  'max-retry-attempts': 'text',
} as const satisfies Readonly<Record<string, FlagKind>>;

export const QUEUE_FLAGS_HELP = `  --mode ${modes.join('|')}
                          how the messages are distributed [RoundRobin]
  --max-queue-size N      messages that may wait [10000]
  --message-ttl DURATION  how old a message may become: ${DURATION_FORMS} [no limit]
  --enable-dead-letter-queue
                          keep messages that nobody could handle
  --dead-letter-queue-name NAME
                          where to keep them [QUEUE.dlq]
  --overflow-strategy ${strategies.join('|')}
                          what happens to a message when the queue is full [DropOldest]
  --max-retry-attempts N  attempts that may fail before a message is given up [3]`;

/** The options that were given; the broker has defaults for the others. @throws UsageError */
export function parseQueueOptions(queue: string, given: Arguments): CreateQueueOptions {
  const { texts, switches } = given;
  const deadLetterQueueName = texts.get('dead-letter-queue-name');
  const isEnabled = switches.has('enable-dead-letter-queue');
  if (deadLetterQueueName !== undefined && !isEnabled) {
    throw new UsageError(
      '--dead-letter-queue-name: the dead letter queue is off; --enable-dead-letter-queue turns it on',
    );
  }
  const options: CreateQueueOptions = {
    ...read(texts, 'mode', 'mode', (text, flag) => parseChoice(flag, text, modes)),
    ...read(texts, 'max-queue-size', 'maxQueueSize', (text, flag) => parseCount(flag, text, 1)),
    ...read(texts, 'message-ttl', 'messageTtlMs', parseTtl),
    ...(isEnabled && { enableDeadLetterQueue: true }),
    ...(deadLetterQueueName !== undefined && { deadLetterQueueName }),
    ...read(texts, 'overflow-strategy', 'overflowStrategy', (text, flag) =>
      parseChoice(flag, text, strategies),
    ),
    ...read(texts, 'max-retry-attempts', 'maxRetryAttempts', (text, flag) => parseCount(flag, text, 1)),
  };
  const problem = impossible(queue, options);
  if (problem !== undefined) throw new UsageError(`${queue}: ${problem}`);
  return options;
}

function read<Key extends string, Value>(
  texts: Arguments['texts'],
  flag: string,
  key: Key,
  parse: (text: string, flag: string) => Value,
): { readonly [K in Key]?: Value } {
  const text = texts.get(flag);
  return text === undefined ? {} : ({ [key]: parse(text, flag) } as { readonly [K in Key]: Value });
}

function parseTtl(text: string, flag: string): number {
  const milliseconds = parseDuration(text);
  if (milliseconds !== undefined && milliseconds > 0) return milliseconds;
  throw new UsageError(
    `--${flag}: came ${JSON.stringify(text)}; allowed is a duration of more than zero: ${DURATION_FORMS}`,
  );
}

/** Why no broker can have such a queue. */
function impossible(
  queue: string,
  { mode = 'RoundRobin', overflowStrategy = 'DropOldest', ...rest }: CreateQueueOptions,
): string | undefined {
  return impossibleOption(queue, {
    ...defaultQueueOptions,
    ...rest,
    mode: numberOfName(DeliveryMode, mode),
    overflowStrategy: numberOfName(OverflowStrategy, overflowStrategy),
  });
}
