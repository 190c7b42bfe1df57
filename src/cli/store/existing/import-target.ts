// The store into which an existing database is imported: what is in it, and what is added. Knows generations, sequences and which messages are there
// already. Every record is examined before it is added, so that a broker can start with the result.

import type { DeadLetterFacts } from '../../../broker/interface/message-content.ts';
import type { RecoveredRecord, StoreRecord } from '../../../broker/interface/store-record.ts';
import { deadLetterGrowthBytes, letterGrowthBytes } from '../../../broker/queue/content-growth.ts';
import type { QueueOptions } from '../../../model/queue-options.ts';
import { defaultLimits } from '../../../protocol/limits.ts';
import { type StorageProvider, StoreError } from '../../../storage/storage-provider.ts';
import { defaultBrokerSettings } from '../default-settings.ts';
import { recordsOf } from '../records-of.ts';
import { StoreExamination } from '../store-examination.ts';
import type { ExistingMessage, ExistingQueue } from './existing-rows.ts';

/** Records per commit. */
const SLICE_COUNT = 2_000;

type TargetQueue = {
  readonly generation: number;
  readonly options: QueueOptions;
  readonly messageIds: Set<string>;
  readonly deadLetterKeys: Set<string>;
};

export class ImportTarget {
  readonly #store: StorageProvider;
  readonly #examination = new StoreExamination(defaultBrokerSettings());
  readonly #queues = new Map<string, TargetQueue>();
  readonly #byGeneration = new Map<number, TargetQueue>();
  #lastGeneration = 0;
  #lastSequence = 0;
  #slice: StoreRecord[] = [];

  private constructor(store: StorageProvider) {
    this.#store = store;
  }

  /** Throws StoreError when the store holds what no broker could start with. */
  static async load(store: StorageProvider): Promise<ImportTarget> {
    const target = new ImportTarget(store);
    for await (const record of store.recover()) {
      const problem = target.#examination.take(record);
      if (problem !== undefined)
        throw new StoreError(`the target is damaged, nothing was imported: ${problem}`);
      target.#note(record);
    }
    return target;
  }

  /** Undefined when there is no such queue. */
  optionsOf(queue: string): QueueOptions | undefined {
    return this.#queues.get(queue)?.options;
  }

  hasMessage(queue: string, id: string): boolean {
    return this.#queues.get(queue)?.messageIds.has(id) === true;
  }

  hasDeadLetter(queue: string, id: string, facts: DeadLetterFacts): boolean {
    return this.#queues.get(queue)?.deadLetterKeys.has(deadLetterKey(id, facts)) === true;
  }

  /** Returns why the queue cannot be added; undefined when it was. The same for the functions below. */
  addQueue({ name, options, createdWallAt }: ExistingQueue): string | undefined {
    return this.#add({ kind: 'queue', generation: this.#lastGeneration + 1, name, options, createdWallAt });
  }

  /** The queue must be there. */
  addMessage(message: ExistingMessage): string | undefined {
    const options = this.optionsOf(message.queue);
    const growthBytes = options === undefined ? 0 : deadLetterGrowthBytes(message.queue, options);
    const problem = sizeProblem(message, growthBytes);
    if (problem !== undefined) return problem;
    return this.#add({ ...this.#placed(message.queue, message), failedAttempts: message.attempts });
  }

  /** `queue`, the dead letter queue, must be there. */
  addDeadLetter(queue: string, message: ExistingMessage, facts: DeadLetterFacts): string | undefined {
    const problem = sizeProblem(message, letterGrowthBytes(queue, facts));
    if (problem !== undefined) return problem;
    return this.#add({ ...this.#placed(queue, message), failedAttempts: 0, deadLetter: facts });
  }

  /** Stores what was added, if it is enough for a commit or `isLast`. */
  async commit({ isLast }: { readonly isLast: boolean }): Promise<void> {
    if (this.#slice.length === 0 || (!isLast && this.#slice.length < SLICE_COUNT)) return;
    const slice = this.#slice;
    this.#slice = [];
    await this.#store.commit(slice);
  }

  #placed(queue: string, { id, priority, content, acceptedWallAt }: ExistingMessage) {
    const generation = this.#queues.get(queue)?.generation;
    if (generation === undefined) throw new Error(`Queue ${queue} is not in the target.`);
    const sequence = this.#lastSequence + 1;
    return { kind: 'message', generation, sequence, id, priority, content, acceptedWallAt } as const;
  }

  #add(record: RecoveredRecord): string | undefined {
    const problem = this.#examination.take(record);
    if (problem !== undefined) return problem;
    this.#note(record);
    this.#slice.push(...recordsOf(record));
    return undefined;
  }

  #note(record: RecoveredRecord): void {
    if (record.kind === 'queue') {
      const { generation, name, options } = record;
      const queue = { generation, options, messageIds: new Set<string>(), deadLetterKeys: new Set<string>() };
      this.#queues.set(name, queue);
      this.#byGeneration.set(generation, queue);
      this.#lastGeneration = Math.max(this.#lastGeneration, generation);
      return;
    }
    this.#lastSequence = record.sequence;
    const queue = this.#byGeneration.get(record.generation);
    if (record.deadLetter === undefined) queue?.messageIds.add(record.id);
    else queue?.deadLetterKeys.add(deadLetterKey(record.id, record.deadLetter));
  }
}

/** Why a broker with the default maxMessageSize would not start with the message: it has to fit with the name of its dead letter queue too. */
function sizeProblem({ content }: ExistingMessage, growthBytes: number): string | undefined {
  const bytes = content.length + growthBytes;
  const { maxMessageSizeBytes } = defaultLimits;
  if (bytes <= maxMessageSizeBytes) return undefined;
  return `the message has ${bytes} bytes as a dead letter; at most ${maxMessageSizeBytes} can be delivered`;
}

/** A message may be dead-lettered again after it was published again, so its id is not enough. */
function deadLetterKey(id: string, { source, deadLetteredWallAt }: DeadLetterFacts): string {
  return JSON.stringify([id, source, deadLetteredWallAt]);
}
