// What the log says about queues: created and deleted, with the connection whose command did it. Reads what was committed, so it also sees queues that
// a publish, a subscription or a dead letter created. Does nothing while the log does not write debug lines.

import { type ConnectionId, type Input, OPERATOR } from '../../broker/interface/input.ts';
import type { Generation, StoredQueue, StoreRecord } from '../../broker/interface/store-record.ts';
import type { LogFields, Logger } from '../../model/logger.ts';

/** What can create a queue. */
const CREATING: ReadonlySet<Input['kind']> = new Set(['createQueue', 'publish', 'subscribe']);

export class QueueLog {
  readonly #logger: Logger;
  readonly #isOn: boolean;
  /** A record of a deletion has no name. */
  readonly #names = new Map<Generation, string>();

  constructor(logger: Logger) {
    this.#logger = logger;
    this.#isOn = logger.writesDebug !== false;
  }

  /** A queue was recovered from the store. */
  recovered({ generation, name }: Pick<StoredQueue, 'generation' | 'name'>): void {
    if (this.#isOn) this.#names.set(generation, name);
  }

  /** A batch of inputs is committed, with these records. */
  committed(records: readonly StoreRecord[], inputs: readonly Input[]): void {
    if (!this.#isOn) return;
    const causes = new Causes(inputs);
    for (const record of records) {
      if (record.kind === 'queueCreated') this.#created(record, causes);
      else if (record.kind === 'queueDeleted') this.#deleted(record.generation, causes);
    }
  }

  #created({ generation, name, options }: StoredQueue, causes: Causes): void {
    this.#names.set(generation, name);
    const fields = { queue: name, maxQueueSize: options.maxQueueSize, ...causes.ofCreation(name) };
    this.#logger.debug('queue created', fields);
  }

  #deleted(generation: Generation, causes: Causes): void {
    const queue = this.#names.get(generation);
    this.#names.delete(generation);
    if (queue !== undefined) this.#logger.debug('queue deleted', { queue, ...causes.ofDeletion(queue) });
  }
}

/** Whose inputs of a batch name a queue. Looked through once, and only if it is asked. */
class Causes {
  readonly #inputs: readonly Input[];
  #creators: Map<string, ConnectionId> | undefined;
  #deleters: Map<string, ConnectionId> | undefined;

  constructor(inputs: readonly Input[]) {
    this.#inputs = inputs;
  }

  /** Nothing for a dead letter queue, which a message creates. */
  ofCreation(queue: string): LogFields {
    this.#creators ??= this.#firstByQueue((kind) => CREATING.has(kind));
    return causeFields(this.#creators.get(queue));
  }

  ofDeletion(queue: string): LogFields {
    this.#deleters ??= this.#firstByQueue((kind) => kind === 'deleteQueue');
    return causeFields(this.#deleters.get(queue));
  }

  #firstByQueue(isMeant: (kind: Input['kind']) => boolean): Map<string, ConnectionId> {
    const first = new Map<string, ConnectionId>();
    for (const input of this.#inputs) {
      if (!isMeant(input.kind) || !('queue' in input) || input.queue === undefined) continue;
      if (!first.has(input.queue)) first.set(input.queue, input.connection);
    }
    return first;
  }
}

function causeFields(connection: ConnectionId | undefined): LogFields {
  if (connection === undefined) return {};
  return connection === OPERATOR ? { by: 'operator' } : { connection };
}
