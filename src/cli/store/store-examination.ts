// Looks at what a store gives back, record by record, without keeping it: would a broker begin with it, and can everything in it be
// delivered? It asks the core itself, with contents left out, so that it cannot be of another opinion; and then what the core
// does not look at. It changes nothing. Implements DURABLE (the store of an operator).

import { isDeepStrictEqual } from 'node:util';
import { Broker } from '../../broker/broker.ts';
import type { MessageContent } from '../../broker/interface/message-content.ts';
import type { BrokerSettings } from '../../broker/interface/settings.ts';
import type { RecoveredRecord } from '../../broker/interface/store-record.ts';
import { Priority } from '../../model/priority.ts';
import { isQueueName } from '../../model/queue-name.ts';
import { impossibleOption } from '../../model/queue-options.ts';
import { queueOptionsJson, readQueueOptions } from '../../protocol/queue-options-json.ts';
import { isContentOf } from './readable-content.ts';

type Queue = Extract<RecoveredRecord, { readonly kind: 'queue' }>;
type Message = Extract<RecoveredRecord, { readonly kind: 'message' }>;

/** The first and the last instant that can be written as a date. */
const LAST_DATE = 8_640_000_000_000_000;

export class StoreExamination {
  readonly #core: Broker;
  readonly #queueNames = new Map<number, string>();
  queueCount = 0;
  messageCount = 0;
  deadLetterCount = 0;

  constructor(settings: BrokerSettings) {
    this.#core = new Broker(settings);
  }

  /** What is wrong with the record, given those before it; undefined when nothing is. */
  take(record: RecoveredRecord): string | undefined {
    return record.kind === 'queue' ? this.#takeQueue(record) : this.#takeMessage(record);
  }

  #takeQueue(record: Queue): string | undefined {
    const { name, options, generation, createdWallAt } = record;
    this.queueCount += 1;
    this.#queueNames.set(generation, name);
    const problem =
      (isQueueName(name) ? undefined : 'this is no name of a queue') ??
      (isReadable(options) ? undefined : 'its options cannot be read') ??
      impossibleOption(name, options) ??
      (isDate(createdWallAt) ? undefined : 'its time of creation is none');
    if (problem !== undefined) return `queue ${JSON.stringify(name)}: ${problem}`;
    return this.#recover(record);
  }

  #takeMessage(record: Message): string | undefined {
    this.messageCount += 1;
    if (record.deadLetter !== undefined) this.deadLetterCount += 1;
    const problem = messageProblem(record);
    if (problem === undefined) return this.#recover({ ...record, content: NOTHING });
    const queue = this.#queueNames.get(record.generation) ?? `generation ${record.generation}`;
    return `message ${JSON.stringify(record.id)} of queue ${queue} (sequence ${record.sequence}): ${problem}`;
  }

  #recover(record: RecoveredRecord<MessageContent>): string | undefined {
    try {
      this.#core.recover(record, { now: 0, wallNow: 0 });
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
}

/** The core keeps what it is given; it never opens it. */
const NOTHING: MessageContent = { byteLength: 0, toBytes: () => new Uint8Array(0) };

function messageProblem(record: Message): string | undefined {
  const { id, priority, content, acceptedWallAt, failedAttempts, deadLetter } = record;
  if (!Object.values(Priority).includes(priority)) return `there is no priority ${priority}`;
  if (!isDate(acceptedWallAt)) return 'its time of acceptance is none';
  if (!isCount(failedAttempts)) return `it cannot have failed ${failedAttempts} times`;
  if (!(content instanceof Buffer && isContentOf(content, id))) return 'its content cannot be read';
  if (deadLetter === undefined) return undefined;
  const isSound = isDate(deadLetter.deadLetteredWallAt) && isCount(deadLetter.attempts);
  return isSound ? undefined : 'what is known of its failure cannot be read';
}

/** Options are readable when they can be said in the words of a CreateQueue, and mean the same then. */
function isReadable(options: Queue['options']): boolean {
  if (typeof options !== 'object' || options === null) return false;
  const read = readQueueOptions(Buffer.from(JSON.stringify(queueOptionsJson(options))));
  return 'options' in read && isDeepStrictEqual(read.options, options);
}

function isDate(wallAt: number): boolean {
  return Number.isInteger(wallAt) && Math.abs(wallAt) <= LAST_DATE;
}

function isCount(count: number): boolean {
  return Number.isSafeInteger(count) && count >= 0;
}
