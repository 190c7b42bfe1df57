// A recovered record as the records that a core would have written for it. Pure.

import type { RecoveredRecord, StoreRecord } from '../../broker/interface/store-record.ts';

export function recordsOf(record: RecoveredRecord): readonly StoreRecord[] {
  if (record.kind === 'queue') return [{ ...record, kind: 'queueCreated' }];
  const { failedAttempts, ...stored } = record;
  const bytes = stored.content;
  const content = { byteLength: bytes.length, toBytes: () => bytes };
  const added = { ...stored, content, kind: 'messageAdded' } as const;
  if (failedAttempts === 0) return [added];
  const { generation, sequence } = stored;
  return [added, { kind: 'attemptFailed', generation, sequence, failedAttempts }];
}
