// The text form of a store: one JSON object per line, first a header, then the queues, then the messages in order, last the counts, so that
// an incomplete text is detected. Leaves out generations and sequences, which have a meaning only in one store. Reads and writes no files.
//
//   {"format":"truemq-store","version":1}
//   {"kind":"queue","name":"orders","createdAt":"2026-02-18T10:30:00Z","options":{"mode":"RoundRobin", ..}}
//   {"kind":"message","queue":"orders","id":"m1","priority":"High","acceptedAt":"..","failedAttempts":0,"payload":{"n":1}}
//   {"kind":"end","queues":1,"messages":1}

import type { RecoveredRecord } from '../../broker/interface/store-record.ts';
import { Priority } from '../../model/priority.ts';
import { queueOptionsJson } from '../../protocol/queue-options-json.ts';
import { formatTimestamp } from '../../protocol/time-span.ts';
import { readableContent } from './readable-content.ts';

type Queue = Extract<RecoveredRecord, { readonly kind: 'queue' }>;
type Message = Extract<RecoveredRecord, { readonly kind: 'message' }>;

export const STORE_TEXT = { format: 'truemq-store', version: 1 } as const;

/** The lines of a store, without line ends. Throws if a record is damaged; the message names it. */
export function* storeTextLines(records: Iterable<RecoveredRecord>): Iterable<string> {
  const names = new Map<number, string>();
  let messageCount = 0;
  yield JSON.stringify(STORE_TEXT);
  for (const record of records) {
    if (record.kind === 'queue') {
      names.set(record.generation, record.name);
      yield JSON.stringify(queueObject(record));
    } else {
      messageCount += 1;
      yield JSON.stringify(messageObject(record, names.get(record.generation)));
    }
  }
  yield JSON.stringify({ kind: 'end', queues: names.size, messages: messageCount });
}

function queueObject({ name, createdWallAt, options }: Queue): object {
  return {
    kind: 'queue',
    name,
    createdAt: formatTimestamp(createdWallAt),
    options: queueOptionsJson(options),
  };
}

function messageObject(message: Message, queue: string | undefined): object {
  const { id, priority, acceptedWallAt, failedAttempts, content, deadLetter } = message;
  if (queue === undefined || !(content instanceof Buffer)) throw new Error(`message ${id} is damaged`);
  return {
    kind: 'message',
    queue,
    id,
    priority: Object.entries(Priority).find(([, value]) => value === priority)?.[0],
    acceptedAt: formatTimestamp(acceptedWallAt),
    failedAttempts,
    ...(deadLetter === undefined ? {} : { deadLetter: deadLetterObject(deadLetter) }),
    ...readableContent(content, { id, queue: deadLetter?.source ?? queue }),
  };
}

function deadLetterObject(facts: NonNullable<Message['deadLetter']>): object {
  const { reason, source, attempts, deadLetteredWallAt } = facts;
  return { reason, source, attempts, deadLetteredAt: formatTimestamp(deadLetteredWallAt) };
}
