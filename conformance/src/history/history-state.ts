// What happened in a history, message by message and connection by connection: the judgements read it, the accountant writes it.
import type { ConnectionRecords } from './connection-records.ts';
import type { MessageRecord } from './message-record.ts';
import type { HistoryRules } from './operation.ts';

export type HistoryState = {
  readonly rules: HistoryRules;
  readonly connections: ConnectionRecords;
  /** By `messageKey`. */
  readonly messages: ReadonlyMap<string, MessageRecord>;
  /** The operations that were crashes. */
  readonly crashes: readonly number[];
  /** The operation at which a queue was last deleted or purged. */
  readonly emptied: ReadonlyMap<string, number>;
  readonly endMs: number;
};

export function messageKey(queue: string, id: string): string {
  return `${queue}\n${id}`;
}
