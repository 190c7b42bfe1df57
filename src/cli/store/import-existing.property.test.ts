// Any existing database, odd rows included: an import takes exactly the messages that can be taken, with their fields, in the order of their times;
// a second import changes nothing.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { numberOfName } from '../../model/named-numbers.ts';
import { Priority } from '../../model/priority.ts';
import { decodeMessage } from '../../protocol/decode.ts';
import { isFault } from '../../protocol/fault.ts';
import { newFolder } from '../../storage/contract/file-place.ts';
import { openSqliteStore } from '../../storage/sqlite/sqlite-store.ts';
import { codePoint } from '../../testing/code-point.ts';
import { testCommandContext } from '../../testing/command-context.ts';
import {
  existingDeadLetter,
  existingMessage,
  existingQueue,
  type GivenRow,
  writeExistingDatabase,
} from '../../testing/existing-database.ts';
import { runsOf } from '../../testing/property-runs.ts';
import { importExisting } from './import-existing.ts';

const NAMES = ['orders', 'alarms', 'été'];

const generated = fc.record({
  queue: fc.constantFrom(...NAMES, 'gone'),
  /** Few different times, so that many messages have the same. */
  ticks: fc.nat(3),
  payload: fc.option(fc.json({ maxDepth: 3, stringUnit: codePoint })),
  headers: fc.dictionary(
    fc.string({ minLength: 1, maxLength: 4, unit: 'grapheme' }),
    fc.string({ minLength: 1, unit: 'grapheme' }),
    {
      maxKeys: 3,
    },
  ),
  priority: fc.constantFrom('Low', 'Normal', 'High', 'Critical'),
  isNumber: fc.boolean(),
  attempts: fc.nat(4),
  broken: fc.constantFrom(
    {},
    {},
    {},
    { priority: 9 },
    { timestamp: 'x' },
    { payload_json: '{' },
    { headers_json: '[]' },
  ),
});

type Generated = typeof generated extends fc.Arbitrary<infer Value> ? Value : never;

const timeOf = (ticks: number) => `2026-02-18T10:31:00.000000${ticks}Z`;

function rowOf(message: Generated, id: string): GivenRow {
  const priority = numberOfName(Priority, message.priority);
  return existingMessage(id, {
    queue_name: message.queue,
    timestamp: timeOf(message.ticks),
    payload_json: message.payload,
    headers_json: Object.keys(message.headers).length === 0 ? null : JSON.stringify(message.headers),
    priority: message.isNumber ? priority : message.priority,
    delivery_attempts: message.attempts,
    ...message.broken,
  });
}

function letterOf(message: Generated, id: string): GivenRow {
  const stored = { queueName: message.queue, headers: message.headers, deliveryAttempts: message.attempts };
  return existingDeadLetter(id, stored, { failed_at: timeOf(message.ticks) });
}

/** What must be in the store: by queue, in order. */
function expected(messages: readonly Generated[]) {
  return messages
    .map((message, index) => ({ message, id: `m-${index}` }))
    .filter(({ message }) => message.queue !== 'gone' && Object.keys(message.broken).length === 0)
    .sort((a, b) => a.message.ticks - b.message.ticks)
    .map(({ message, id }) => ({
      id,
      queue: message.queue,
      headers: new Map(Object.entries(message.headers)),
      payload: message.payload ?? '',
      priority: numberOfName(Priority, message.priority),
      attempts: message.attempts,
    }));
}

async function recordsIn(path: string) {
  const store = await openSqliteStore({ path, synchronous: 'normal' });
  const records = [];
  for await (const record of store.recover()) {
    if (record.kind === 'message') records.push({ ...record, content: Buffer.from(record.content) });
  }
  await store.close();
  return records;
}

type Stored = Awaited<ReturnType<typeof recordsIn>>[number];

function shown({ id, content, priority, failedAttempts }: Stored) {
  const message = decodeMessage(content);
  if (isFault(message)) throw new Error(message.text);
  const { queue, headers, payload } = message;
  return { id, queue, headers, payload: payload.toString(), priority, attempts: failedAttempts };
}

it('takes exactly what can be taken, in order, and once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(generated, { maxLength: 12 }),
      fc.array(generated, { maxLength: 4 }),
      async (messages, letters) => {
        const folder = await newFolder();
        const [source, target] = [join(folder, 'vibemq.db'), join(folder, 'truemq.db')];
        await writeExistingDatabase(source, {
          queues: NAMES.map((name) => existingQueue(name)),
          messages: messages.map((message, index) => rowOf(message, `m-${index}`)),
          deadLetters: letters.map((letter, index) => letterOf(letter, `d-${index}`)),
        });
        const context = testCommandContext();
        const takeable = expected(messages);
        const exitCode = await importExisting(source, target, context);
        expect(exitCode).toBe(takeable.length === messages.length ? 0 : 1);
        expect(context.errors().match(/^truemq: not taken: messages /gm)?.length ?? 0).toBe(
          messages.length - takeable.length,
        );

        const records = await recordsIn(target);
        expect(records.filter(({ deadLetter }) => deadLetter === undefined).map(shown)).toEqual(takeable);
        const dead = records.filter(({ deadLetter }) => deadLetter !== undefined);
        expect(dead.map(({ id }) => Number(id.slice(2)))).toEqual(
          letters
            .map((_, index) => index)
            .sort((a, b) => (letters[a]?.ticks ?? 0) - (letters[b]?.ticks ?? 0)),
        );
        expect(dead.map(({ deadLetter }) => deadLetter?.source)).toEqual(
          dead.map((record) => shown(record).queue),
        );
        await importExisting(source, target, testCommandContext());
        expect(await recordsIn(target)).toEqual(records);
        await rm(folder, { recursive: true });
      },
    ),
    { numRuns: runsOf(25) },
  );
});
