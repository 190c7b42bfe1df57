// A store as text says everything: read again it gives the same records, byte for byte, and from these the same text.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { RecoveredRecord } from '../../broker/interface/store-record.ts';
import { storedRecords } from '../../testing/stored-arbitrary.ts';
import { storeTextLines } from './store-text.ts';
import { StoreTextReader } from './store-text-reader.ts';

function recordsOf(lines: readonly string[]): readonly RecoveredRecord[] {
  const reader = new StoreTextReader();
  const read = lines.map((line) => reader.read(Buffer.from(line)));
  expect(reader.problemAtEnd()).toBeUndefined();
  return read.flatMap((line) => {
    if (line.kind === 'problem') throw new Error(line.problem);
    return line.kind === 'record' ? [line.record] : [];
  });
}

/** Without the numbers that belong to one store: a message names its queue instead. */
function withoutNumbers(records: readonly RecoveredRecord[]) {
  const names = new Map(
    records.flatMap((record) => (record.kind === 'queue' ? [[record.generation, record.name]] : [])),
  );
  return records.map(({ generation, ...record }) => ({
    ...record,
    sequence: undefined,
    home: names.get(generation),
  }));
}

it('a text gives the same records, and these the same text', () => {
  fc.assert(
    fc.property(storedRecords, (records) => {
      const lines = [...storeTextLines(records)];
      const again = recordsOf(lines);
      expect(withoutNumbers(again)).toEqual(withoutNumbers(records));
      expect([...storeTextLines(again)]).toEqual(lines);
    }),
  );
});

it('a line that is changed anywhere is read, or refused with a reason, and never throws', () => {
  const change = fc.tuple(fc.nat(1_000), fc.nat(1_000), fc.string({ maxLength: 3 }));
  fc.assert(
    fc.property(storedRecords, change, (records, [at, place, text]) => {
      const reader = new StoreTextReader();
      const lines = [...storeTextLines(records)];
      for (const [index, line] of lines.entries()) {
        const cut = place % line.length;
        const changed = index === at % lines.length ? line.slice(0, cut) + text + line.slice(cut + 1) : line;
        const read = reader.read(Buffer.from(changed));
        if (read.kind === 'problem') expect(read.problem).not.toBe('');
      }
    }),
  );
});
