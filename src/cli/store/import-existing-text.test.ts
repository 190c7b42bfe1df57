// `truemq store import --from-existing`: texts of the source that are not UTF-8, as a damaged file has them. The driver reads other characters in their
// place, which must not become messages.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { newFolder } from '../../storage/contract/file-place.ts';
import { testCommandContext } from '../../testing/command-context.ts';
import {
  existingDeadLetter,
  existingMessage,
  existingQueue,
  openExistingWriter,
  writeExistingDatabase,
} from '../../testing/existing-database.ts';
import { store } from '../store.ts';

let folder: string;

beforeEach(async () => {
  folder = await newFolder();
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function run(...argv: readonly string[]) {
  const context = testCommandContext();
  const exitCode = await store.run(argv, context);
  return { exitCode, output: context.output(), errors: context.errors() };
}

/** The payload of a message that is to stay: the character that stands for what is not UTF-8 may be meant. */
const REPLACEMENT = '"\ufffd"';

it('a row with one is listed: what it was cannot be told', async () => {
  const [source, target] = [join(folder, 'vibemq.db'), join(folder, 'truemq.db')];
  const spoil = (table: string, column: string, key: string) =>
    `UPDATE ${table} SET ${column} = CAST(x'22ff22' AS TEXT) WHERE ${key}`;
  const columns = ['payload_json', 'queue_name', 'id'];
  await writeExistingDatabase(
    source,
    {
      queues: [existingQueue('orders'), existingQueue('other')],
      messages: ['good', ...columns].map((id) => existingMessage(id, { payload_json: REPLACEMENT })),
      deadLetters: [existingDeadLetter('letter')],
    },
    [
      spoil('queues', 'options_json', "name = 'other'"),
      ...columns.map((column) => spoil('messages', column, `id = '${column}'`)),
      spoil('dead_letters', 'message_json', 'true'),
    ].join(';'),
  );
  const { exitCode, errors } = await run('import', target, '--from-existing', source);
  expect(exitCode).toBe(1);
  expect(errors.trimEnd().split('\n')).toEqual([
    'truemq: not taken: queues "other": options_json is not a text',
    'truemq: not taken: messages "payload_json": payload_json is not a text',
    'truemq: not taken: messages "queue_name": queue_name is not a text',
    'truemq: not taken: messages 3 bytes: id is not a text',
    'truemq: not taken: dead_letters "letter": message_json is not a text',
  ]);
  expect((await run('export', target)).output).toMatch(/"id":"good",.*"payload":"\ufffd"/);
});

it('a text with the character that stands for one is taken, also from a database in UTF-16', async () => {
  const [source, target] = [join(folder, 'vibemq.db'), join(folder, 'truemq.db')];
  const database = await openExistingWriter(source, 'UTF-16le');
  database.prepare('INSERT INTO queues VALUES (?, ?, ?)').run(...Object.values(existingQueue('orders')));
  const { id, ...message } = existingMessage('m', { payload_json: REPLACEMENT });
  const values = [id, ...Object.values(message)];
  database.prepare(`INSERT INTO messages VALUES (${values.map(() => '?').join(', ')})`).run(...values);
  database.close();
  expect(await run('import', target, '--from-existing', source)).toMatchObject({ exitCode: 0, errors: '' });
  expect((await run('export', target)).output).toContain('"payload":"\ufffd"');
});
