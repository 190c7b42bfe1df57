// The messages and connections of a history so far: the accountant writes it, the judgements read it.
import type { ConnectionRecords } from './connection-records.ts';
import type { MessageRecord } from './message-record.ts';
import type { HistoryRules } from './operation.ts';

export type HistoryState = {
  readonly rules: HistoryRules;
  readonly connections: ConnectionRecords;
  /** By `messageKey`. */
  readonly messages: ReadonlyMap<string, MessageRecord>;
  /** The operation numbers of the crashes. */
  readonly crashes: readonly number[];
  /** The operation numbers of the starts after a stop or a crash. */
  readonly restarts: readonly number[];
  /** The operation at which a queue was last deleted or purged. */
  readonly emptied: ReadonlyMap<string, number>;
  readonly endMs: number;
};

export function messageKey(queue: string, id: string): string {
  return `${queue}\n${id}`;
}
