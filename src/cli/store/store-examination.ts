// Examines the records of a store one by one, without keeping them: would a broker start with them, and can all messages be delivered? It
// recovers a core from the records, without their contents, so it cannot disagree with the broker, and then checks what the core does not
// read. Changes nothing. Implements DURABLE-016 for the operator.

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

/** The largest timestamp, before and after 1970, that can be written as a date. */
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

  /** The problem of the record, given the records before it; undefined if there is none. */
  take(record: RecoveredRecord): string | undefined {
    return record.kind === 'queue' ? this.#takeQueue(record) : this.#takeMessage(record);
  }

  #takeQueue(record: Queue): string | undefined {
    const { name, options, generation, createdWallAt } = record;
    this.queueCount += 1;
    this.#queueNames.set(generation, name);
    const problem =
      (isQueueName(name) ? undefined : 'name is not a valid queue name') ??
      (isReadable(options) ? undefined : 'options cannot be read') ??
      impossibleOption(name, options) ??
      (isDate(createdWallAt) ? undefined : 'createdAt is not a valid timestamp');
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

/** The core keeps contents without reading them. */
const NOTHING: MessageContent = { byteLength: 0, toBytes: () => new Uint8Array(0) };

function messageProblem(record: Message): string | undefined {
  const { id, priority, content, acceptedWallAt, failedAttempts, deadLetter } = record;
  if (!Object.values(Priority).includes(priority)) return `priority ${priority} is unknown`;
  if (!isDate(acceptedWallAt)) return 'acceptedAt is not a valid timestamp';
  if (!isCount(failedAttempts)) return `failedAttempts is not a valid count: ${failedAttempts}`;
  if (!(content instanceof Buffer && isContentOf(content, id))) return 'content cannot be read';
  if (deadLetter === undefined) return undefined;
  const isSound = isDate(deadLetter.deadLetteredWallAt) && isCount(deadLetter.attempts);
  return isSound ? undefined : 'the facts of the dead letter cannot be read';
}

/** Options are readable if they can be written as a CreateQueue payload and read back unchanged. */
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
