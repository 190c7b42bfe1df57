// Fills a core with the records of a store. Works in time slices, so that health requests and signals are handled meanwhile, and logs its
// progress. Implements DURABLE-016 and DURABLE-019 on the backend's side, and FRAME-018 for what it recovers.

import type { Broker } from '../../broker/broker.ts';
import type { MessageContent } from '../../broker/interface/message-content.ts';
import type { RecoveredRecord } from '../../broker/interface/store-record.ts';
import type { Time } from '../../broker/interface/time.ts';
import { DeliveryMode } from '../../model/delivery-mode.ts';
import type { Environment, Scheduler } from '../../model/environment.ts';
import type { Logger } from '../../model/logger.ts';
import { OverflowStrategy } from '../../model/overflow-strategy.ts';
import { isQueueName } from '../../model/queue-name.ts';
import { impossibleOption } from '../../model/queue-options.ts';
import { type StorageProvider, StoreError } from '../../storage/storage-provider.ts';
import { coreTime } from './core-time.ts';
import type { QueueLog } from './queue-log.ts';
import { RecoveredSizes } from './recovered-sizes.ts';

/** Longest time slice, in milliseconds. */
const SLICE_MS = 10;
/** Records between two readings of the clock. */
const RECORDS_PER_LOOK = 64;
const PROGRESS_EVERY_MS = 2_000;

export type RecoveryParts = {
  readonly keepContent: (bytes: Buffer) => MessageContent;
  /** The longest content that a frame has room for. */
  readonly maxContentBytes: number;
  readonly environment: Environment;
  readonly logger: Logger;
  readonly queueLog: QueueLog;
  /** Called between slices; throws to cancel the recovery. */
  readonly throwIfCancelled: () => void;
};

/**
 * Recovers all records of the store into a new core. Rejects when the store fails, its records contradict each other or a message of it is too
 * large to be sent.
 */
export async function recover(
  broker: Broker,
  store: StorageProvider,
  { environment, logger, queueLog, keepContent, maxContentBytes, throwIfCancelled }: RecoveryParts,
): Promise<void> {
  const { clock, scheduler } = environment;
  const startedAt = clock.now();
  const counts = { queue: 0, message: 0 };
  const sizes = new RecoveredSizes(maxContentBytes);
  let time = coreTime(clock);
  let sliceStartedAt = startedAt;
  let toldAt = startedAt;
  /** Returns a promise when the time slice is used up; await it before the next record. */
  const take = (record: RecoveredRecord): Promise<void> | undefined => {
    recoverRecord(broker, checked(record, keepContent), time);
    sizes.take(record);
    counts[record.kind] += 1;
    if (record.kind === 'queue') queueLog.recovered(record);
    if ((counts.queue + counts.message) % RECORDS_PER_LOOK !== 0 || clock.now() - sliceStartedAt < SLICE_MS)
      return;
    if (clock.now() - toldAt >= PROGRESS_EVERY_MS) {
      logger.info('recovering from the store', { queues: counts.queue, messages: counts.message });
      toldAt = clock.now();
    }
    return nextTurn(scheduler).then(() => {
      throwIfCancelled();
      sliceStartedAt = clock.now();
      time = coreTime(clock, sliceStartedAt);
    });
  };
  await forEach(store.recover(), take);
  sizes.throwIfTooLarge();
  if (counts.queue > 0) {
    const tookMs = Math.round(clock.now() - startedAt);
    logger.info('recovered from the store', { queues: counts.queue, messages: counts.message, tookMs });
  }
}

/** Awaits only promises: a million awaits of values would take a second. */
async function forEach<T>(
  items: Iterable<T> | AsyncIterable<T>,
  take: (item: T) => Promise<void> | undefined,
): Promise<void> {
  if (Symbol.asyncIterator in items) {
    for await (const item of items) await take(item);
    return;
  }
  for (const item of items) {
    const turn = take(item);
    if (turn !== undefined) await turn;
  }
}

type RecoveredQueue = Extract<RecoveredRecord, { readonly kind: 'queue' }>;
type RecoveredMessage = Extract<RecoveredRecord, { readonly kind: 'message' }>;

/** Validates the options of a queue and copies the content of a message. Throws StoreError if the record is not valid. */
function checked(
  record: RecoveredRecord,
  keepContent: RecoveryParts['keepContent'],
): RecoveredRecord<MessageContent> {
  if (record.kind === 'message') return { ...record, content: keepContent(bytesOf(record)) };
  const reason = queueProblem(record);
  if (reason === undefined) return record;
  throw new StoreError(
    `the store holds the impossible queue ${JSON.stringify(record.name)}: ${reason}; restore a backup of the store, or correct the queue in it`,
  );
}

/** A Buffer on the same memory; the port promises a Uint8Array only. */
function bytesOf(record: RecoveredMessage): Buffer {
  const { content } = record;
  if (content instanceof Buffer) return content;
  if (!(content instanceof Uint8Array)) {
    throw new StoreError(
      `the store gives back message ${JSON.stringify(record.id)} (sequence ${record.sequence}) with a content that is not a Uint8Array; correct recover() of the store`,
    );
  }
  return Buffer.from(content.buffer, content.byteOffset, content.byteLength);
}

/** Why no queue can have this name and these options; undefined if one can. */
function queueProblem({ name, options }: RecoveredQueue): string | undefined {
  if (typeof name !== 'string' || !isQueueName(name)) return 'the name is not a queue name';
  if (typeof options !== 'object' || options === null) return 'it has no options';
  const { mode, overflowStrategy, enableDeadLetterQueue } = options;
  if (!Object.values(DeliveryMode).includes(mode)) return `there is no delivery mode ${mode}`;
  if (!Object.values(OverflowStrategy).includes(overflowStrategy)) {
    return `there is no overflow strategy ${overflowStrategy}`;
  }
  if (typeof enableDeadLetterQueue !== 'boolean') return 'enableDeadLetterQueue must be true or false';
  return impossibleOption(name, options);
}

/** Records that contradict each other become a StoreError: the store is at fault, not the broker. */
function recoverRecord(broker: Broker, record: RecoveredRecord<MessageContent>, time: Time): void {
  try {
    broker.recover(record, time);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreError(`the store contradicts itself: ${reason}`, { cause: error });
  }
}

function nextTurn(scheduler: Scheduler): Promise<void> {
  return new Promise((resolve) => scheduler.soon(resolve));
}
