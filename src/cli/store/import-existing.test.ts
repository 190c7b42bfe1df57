// `truemq store import --from-existing`: what is taken, what is refused with which reason, that an import can be repeated, and that nothing of
// the source changes.

import { spawnSync } from 'node:child_process';
import { chmod, copyFile, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RecoveredRecord } from '../../broker/interface/store-record.ts';
import { defaultQueueOptions } from '../../model/queue-options.ts';
import { newFolder } from '../../storage/contract/file-place.ts';
import { openSqliteStore } from '../../storage/sqlite/sqlite-store.ts';
import { testCommandContext } from '../../testing/command-context.ts';
import {
  existingDeadLetter,
  existingMessage,
  existingQueue,
  type GivenDatabase,
  insertExisting,
  openExistingWriter,
  writeExistingDatabase,
} from '../../testing/existing-database.ts';
import { store } from '../store.ts';

const fixture = fileURLToPath(new URL('../../../fixtures/storage/existing-broker.db', import.meta.url));

let folder: string;
let sources: string;
let source: string;
let target: string;

beforeEach(async () => {
  [folder, sources] = [await newFolder(), await newFolder()];
  [source, target] = [join(sources, 'vibemq.db'), join(folder, 'truemq.db')];
});

afterEach(async () => {
  for (const each of [folder, sources]) await rm(each, { recursive: true, force: true });
});

async function run(...argv: readonly string[]) {
  const context = testCommandContext();
  const exitCode = await store.run(argv, context);
  return { exitCode, output: context.output(), errors: context.errors() };
}

const importIt = (from = source) => run('import', '--from-existing', from, target);

/** The lines of the answer for what was taken, was present and was refused: queues, messages, dead letters. */
function answer(taken: Counts, present: Counts = [0, 0, 0], refused: Counts = [0, 0, 0]): string {
  const line = (title: string, [queues, messages, letters]: Counts) =>
    `  ${title.padEnd(18)} queues ${queues}, messages ${messages}, dead letters ${letters}\n`;
  return `${target}\n${line('taken', taken)}${line('present already', present)}${line('not taken', refused)}`;
}

type Counts = readonly [number, number, number];

/** The lines of the export, without the first and the last. */
async function exported(): Promise<readonly Record<string, unknown>[]> {
  const { output } = await run('export', target);
  return output
    .trim()
    .split('\n')
    .slice(1, -1)
    .map((line) => JSON.parse(line));
}

async function lettersAndMessages(): Promise<readonly Record<string, unknown>[]> {
  return (await exported()).filter(({ kind }) => kind === 'message');
}

/** What an import must not change: every file of the folder with its bytes and its time. */
async function stateOf(path: string) {
  const names = (await readdir(path)).sort();
  return Promise.all(
    names.map(async (name) => {
      const { mtimeMs, mode, nlink } = await stat(join(path, name));
      return [name, mtimeMs, mode, nlink, await readFile(join(path, name), 'base64')];
    }),
  );
}

async function imported(given: GivenDatabase) {
  await writeExistingDatabase(source, given);
  return importIt();
}

describe('an import of an existing database', () => {
  it('takes queues with their options', async () => {
    await imported({
      queues: [
        existingQueue('plain'),
        existingQueue('odd', {
          mode: 'prioritybased',
          maxQueueSize: 7,
          messageTtl: '1.00:00:00.5000000',
          overflowStrategy: 2,
          maxRetryAttempts: 1,
          addedLater: true,
        }),
        existingQueue('named', {
          enableDeadLetterQueue: true,
          deadLetterQueueName: 'rejected',
          overflowStrategy: 3,
        }),
      ],
    });
    const createdAt = '2026-02-18T10:30:00.123Z';
    const plain = {
      mode: 'RoundRobin',
      maxQueueSize: 10_000,
      enableDeadLetterQueue: false,
      overflowStrategy: 'DropOldest',
      maxRetryAttempts: 3,
    };
    expect(await exported()).toEqual([
      { kind: 'queue', name: 'plain', createdAt, options: plain },
      {
        kind: 'queue',
        name: 'odd',
        createdAt,
        options: {
          ...plain,
          mode: 'PriorityBased',
          maxQueueSize: 7,
          messageTtl: '1.00:00:00.5000000',
          overflowStrategy: 'BlockPublisher',
          maxRetryAttempts: 1,
        },
      },
      {
        kind: 'queue',
        name: 'named',
        createdAt,
        options: {
          ...plain,
          enableDeadLetterQueue: true,
          deadLetterQueueName: 'rejected',
          overflowStrategy: 'RedirectToDlq',
        },
      },
      { kind: 'queue', name: 'rejected', createdAt, options: plain },
    ]);
  });

  it('takes messages with id, headers, priority, attempts and the very bytes of their payload, in the order of their times', async () => {
    const at = (fraction: string) => ({ timestamp: `2026-02-18T10:31:00.${fraction}Z` });
    const headers = { 'x-größe': 'ä', __proto__: null, correlationId: 'c-1' };
    const result = await imported({
      queues: [existingQueue('orders'), existingQueue('other')],
      messages: [
        existingMessage('last', at('1')),
        existingMessage('third', {
          ...at('0000002'),
          headers_json: JSON.stringify(headers),
          priority: 'HIGH',
        }),
        existingMessage('first', {
          ...at('0000001'),
          payload_json: ' {"n":12345678901234567890, "a":1.50} ',
        }),
        existingMessage('fourth', {
          ...at('0000002'),
          delivery_attempts: 2,
          payload_json: null,
          queue_name: 'other',
        }),
      ],
    });
    expect(result).toEqual({ exitCode: 0, output: answer([2, 4, 0]), errors: '' });
    const plain = { kind: 'message', queue: 'orders', priority: 'Normal', failedAttempts: 0 };
    const acceptedAt = '2026-02-18T10:31:00Z';
    expect(await lettersAndMessages()).toEqual([
      { ...plain, id: 'first', acceptedAt, payloadText: ' {"n":12345678901234567890, "a":1.50} ' },
      { ...plain, id: 'third', acceptedAt, priority: 'High', headers, payload: { of: 'third' } },
      { ...plain, id: 'fourth', acceptedAt, queue: 'other', failedAttempts: 2 },
      { ...plain, id: 'last', acceptedAt: '2026-02-18T10:31:00.100Z', payload: { of: 'last' } },
    ]);
  });

  it('takes dead letters into the queue for those of their source, with what says why they are there', async () => {
    const result = await imported({
      queues: [
        existingQueue('orders', { enableDeadLetterQueue: true, maxQueueSize: 9 }),
        existingQueue('named', { deadLetterQueueName: 'rejected' }),
      ],
      deadLetters: [
        existingDeadLetter(
          'late',
          { headers: { a: 'b' } },
          { failed_at: '2026-02-18T10:33:00.2Z', reason: 1 },
        ),
        existingDeadLetter('early', { deliveryAttempts: 1 }, { reason: 'handlerexception' }),
        existingDeadLetter('of a named one', { queueName: 'named' }, { reason: 2 }),
        existingDeadLetter('of a deleted one', { queueName: 'gone', payload: null, priority: 3 }),
        existingDeadLetter('late', {}, { failed_at: '2026-02-18T10:34:00Z' }),
      ],
    });
    expect(result).toEqual({ exitCode: 0, output: answer([2, 0, 5]), errors: '' });
    const letters = (await lettersAndMessages()).map(({ id, queue, deadLetter }) => [id, queue, deadLetter]);
    const failed = { source: 'orders', attempts: 3, deadLetteredAt: '2026-02-18T10:33:00Z' };
    expect(letters).toEqual([
      ['early', 'orders.dlq', { ...failed, reason: 'HandlerException', attempts: 1 }],
      ['of a named one', 'rejected', { ...failed, reason: 'DeserializationError', source: 'named' }],
      ['of a deleted one', 'gone.dlq', { ...failed, reason: 'MaxRetriesExceeded', source: 'gone' }],
      [
        'late',
        'orders.dlq',
        { ...failed, reason: 'MessageExpired', deadLetteredAt: '2026-02-18T10:33:00.200Z' },
      ],
      [
        'late',
        'orders.dlq',
        { ...failed, reason: 'MaxRetriesExceeded', deadLetteredAt: '2026-02-18T10:34:00Z' },
      ],
    ]);
    const sizes = (await exported()).flatMap(({ name, options }) => (name === 'orders.dlq' ? [options] : []));
    expect(sizes).toMatchObject([{ maxQueueSize: 9, enableDeadLetterQueue: false }]);
    expect(await run('check', target)).toMatchObject({ exitCode: 0 });
  });

  it('changes nothing when it is repeated, and completes what was interrupted', async () => {
    const queues = [existingQueue('orders', { enableDeadLetterQueue: true })];
    const some = { queues, messages: [existingMessage('a')], deadLetters: [existingDeadLetter('x')] };
    await imported(some);
    const [before, output] = [await readFile(target), (await run('export', target)).output];
    expect(await importIt()).toEqual({ exitCode: 0, output: answer([0, 0, 0], [1, 1, 1]), errors: '' });
    expect((await run('export', target)).output).toBe(output);
    expect(await readFile(target)).toEqual(before);

    await rm(source);
    const second = await imported({ ...some, messages: [existingMessage('a'), existingMessage('b')] });
    expect(second.output).toBe(answer([0, 1, 0], [1, 1, 1]));
    expect((await lettersAndMessages()).map(({ id }) => id)).toEqual(['a', 'x', 'b']);
  });

  it('keeps what the target has, says when a queue has other options there, and goes on after its messages', async () => {
    const opened = await openSqliteStore({ path: target, synchronous: 'normal' });
    await opened.commit([
      {
        kind: 'queueCreated',
        generation: 7,
        name: 'orders',
        options: { ...defaultQueueOptions, maxQueueSize: 3 },
        createdWallAt: 0,
      },
      {
        kind: 'queueCreated',
        generation: 8,
        name: 'deleted',
        options: defaultQueueOptions,
        createdWallAt: 0,
      },
      { kind: 'queueDeleted', generation: 8 },
    ]);
    await opened.close();
    const result = await imported({
      queues: [existingQueue('orders'), existingQueue('new')],
      messages: [existingMessage('a')],
    });
    expect(result).toEqual({
      exitCode: 0,
      output: answer([1, 1, 0], [1, 0, 0]),
      errors: 'truemq: queue "orders" is there with other options, which stay\n',
    });
    expect((await exported()).map(({ name, id }) => name ?? id)).toEqual(['orders', 'new', 'a']);
  });

  it('takes more rows than fit into one commit', async () => {
    const messages = Array.from({ length: 4_500 }, (_, index) => existingMessage(`m-${index}`));
    await imported({ queues: [existingQueue('orders')], messages });
    expect((await lettersAndMessages()).map(({ id }) => id)).toEqual(messages.map(({ id }) => id));
  });
});

describe('a row that cannot be taken', () => {
  const queues = [existingQueue('orders')];

  it.each<[string, GivenDatabase, string]>([
    [
      'a queue',
      { queues: [existingQueue('a b')] },
      'queues "a b": name is not a queue name: 1 to 256 letters, digits, "-", "_" or "."',
    ],
    [
      'a message',
      { messages: [existingMessage('m', { priority: 4 })] },
      'messages "m": priority must be 0 (Low), 1 (Normal), 2 (High), 3 (Critical)',
    ],
    [
      'a message without its queue',
      { messages: [existingMessage('m', { queue_name: 'gone' })] },
      'messages "m": its queue "gone" is not in the target; create it there with a broker, and import again',
    ],
    [
      'a dead letter that no frame may carry',
      { deadLetters: [existingDeadLetter('d', { payload: 'x'.repeat(1_048_576 - 24) })] },
      'dead_letters "d": the message has 1048577 bytes as a dead letter; at most 1048576 can be delivered',
    ],
    [
      'a message with a long id',
      { messages: [existingMessage('ä'.repeat(129))] },
      `messages "${'ä'.repeat(76)}...: The id is longer than 256 bytes.`,
    ],
    [
      'a message with an id of bytes',
      { messages: [existingMessage('m', { id: Buffer.from('m') })] },
      'messages 1 bytes: id is not a text',
    ],
    [
      'a message without a time',
      { messages: [existingMessage('m', { timestamp: '2026-02-30T00:00:00Z' })] },
      'messages "m": timestamp is not a time such as 2026-02-18T10:30:00.1234567Z',
    ],
    [
      'a dead letter',
      { deadLetters: [existingDeadLetter('d', {}, { message_json: 'x' })] },
      'dead_letters "d": message_json is not one JSON object',
    ],
    [
      'a dead letter whose queue would have no name',
      { deadLetters: [existingDeadLetter('d', { queueName: 'q'.repeat(254) })] },
      `dead_letters "d": "${'q'.repeat(254)}.dlq" cannot be the dead letter queue of "${'q'.repeat(254)}"`,
    ],
  ])('is listed with the reason: %s', async (_, given, line) => {
    const good = { messages: [existingMessage('good')], deadLetters: [existingDeadLetter('good')] };
    const result = await imported({
      queues: [...queues, ...(given.queues ?? [])],
      messages: [...(given.messages ?? []), ...good.messages],
      deadLetters: [...(given.deadLetters ?? []), ...good.deadLetters],
    });
    expect(result.exitCode).toBe(1);
    expect(result.errors).toBe(`truemq: not taken: ${line}\n`);
    expect(result.output).toContain('taken              queues 1, messages 1, dead letters 1\n');
    expect((await lettersAndMessages()).map(({ id }) => id)).toEqual(['good', 'good']);
    expect(await run('check', target)).toMatchObject({ exitCode: 0 });
  });

  it('is listed when no frame could carry it to the dead letter queue', async () => {
    const long = existingMessage('m', { payload_json: `"${'x'.repeat(1_048_576 - 24)}"` });
    const given = { queues: [existingQueue('orders', { enableDeadLetterQueue: true })], messages: [long] };
    const result = await imported(given);
    const reason = 'the message has 1048577 bytes as a dead letter; at most 1048576 can be delivered';
    expect(result.errors).toBe(`truemq: not taken: messages "m": ${reason}\n`);
    expect(result.exitCode).toBe(1);
  });

  it('is taken later, when its queue has been created in the target', async () => {
    await imported({
      queues: [existingQueue('orders', { maxQueueSize: 0 })],
      messages: [existingMessage('m')],
    });
    const opened = await openSqliteStore({ path: target, synchronous: 'normal' });
    await opened.commit([
      { kind: 'queueCreated', generation: 1, name: 'orders', options: defaultQueueOptions, createdWallAt: 0 },
    ]);
    await opened.close();
    expect((await importIt()).output).toBe(answer([0, 1, 0], [0, 0, 0], [1, 0, 0]));
  });
});

describe('the source', () => {
  const small = { queues: [existingQueue('orders')], messages: [existingMessage('m')] };

  it('is not changed, and nothing is left beside it or beside the target', async () => {
    await copyFile(fixture, source);
    const before = await stateOf(sources);
    expect(await importIt()).toMatchObject({ exitCode: 0, errors: '' });
    expect(await stateOf(sources)).toEqual(before);
    expect(await readdir(folder)).toEqual(['truemq.db']);
  });

  it('may be in the folder of the target, and may be protected from writing', async () => {
    source = join(folder, 'vibemq.db');
    await writeExistingDatabase(source, small);
    await chmod(source, 0o444);
    const before = await readFile(source);
    expect(await importIt()).toMatchObject({ exitCode: 0, errors: '' });
    expect(await readFile(source)).toEqual(before);
    expect((await readdir(folder)).sort()).toEqual(['truemq.db', 'vibemq.db']);
  });

  it('has what a killed broker left in the write-ahead log, also behind a symbolic link', async () => {
    const writer = await openExistingWriter(join(folder, 'running.db'));
    insertExisting(writer, small);
    for (const suffix of ['', '-wal', '-shm'])
      await copyFile(join(folder, `running.db${suffix}`), source + suffix);
    writer.close();
    await rm(join(folder, 'running.db'));
    const before = await stateOf(sources);
    expect(before.map(([name]) => name)).toEqual(['vibemq.db', 'vibemq.db-shm', 'vibemq.db-wal']);
    const shortcut = join(folder, 'a-link.db');
    await symlink(source, shortcut);
    expect(await importIt(shortcut)).toEqual({ exitCode: 0, output: answer([1, 1, 0]), errors: '' });
    expect(await stateOf(sources)).toEqual(before);
    expect(await importIt()).toMatchObject({ output: answer([0, 0, 0], [1, 1, 0]) });
    expect(await stateOf(sources)).toEqual(before);
  });

  it('is refused while a broker has it open', async () => {
    const writer = await openExistingWriter(source);
    insertExisting(writer, small);
    const before = await stateOf(sources);
    expect(await importIt()).toEqual({
      exitCode: 1,
      output: '',
      errors: `truemq: the database ${source} cannot be imported: another program uses it; stop that broker first\n`,
    });
    expect(await stateOf(sources)).toEqual(before);
    expect(await readdir(folder)).toEqual([]);
    writer.close();
    expect(await importIt()).toMatchObject({ exitCode: 0 });
  });

  it.each<[string, () => Promise<unknown>, RegExp]>([
    ['is missing', async () => undefined, /there is no such file/],
    ['is empty', () => writeFile(source, ''), /the file is empty/],
    ['is a folder', async () => spawnSync('mkdir', [source]), /it is a folder/],
    ['is no database', () => writeFile(source, 'x'.repeat(200)), /it is not an SQLite database/],
    [
      'has no tables',
      () => writeExistingDatabase(source, {}, 'DROP TABLE messages'),
      /it has no table messages, so it is no database of a broker/,
    ],
    [
      'lacks a column',
      () => writeExistingDatabase(source, {}, 'ALTER TABLE messages DROP COLUMN priority'),
      /its table messages has no column priority/,
    ],
    [
      'has a newer version',
      () => writeExistingDatabase(source, {}, 'PRAGMA user_version = 2'),
      /its schema has version 2, which is newer than this program knows/,
    ],
    [
      'has a newer column',
      () => writeExistingDatabase(source, {}, 'ALTER TABLE queues ADD COLUMN tenant'),
      /its table queues has a column tenant, so it is newer than this program knows/,
    ],
    [
      'belongs to another program',
      () => writeExistingDatabase(source, {}, 'PRAGMA application_id = 5'),
      /it is a database of another program/,
    ],
    [
      'is a store of this broker',
      async () => (await openSqliteStore({ path: source, synchronous: 'normal' })).close(),
      /it is a store of TrueMQ, which needs no import/,
    ],
  ])('is refused when it %s', async (_, prepare, reason) => {
    await prepare();
    const result = await importIt();
    expect(result).toMatchObject({ exitCode: 1, output: '' });
    expect(result.errors.startsWith(`truemq: the database ${source} cannot be imported: `)).toBe(true);
    expect(result.errors).toMatch(reason);
    expect(await readdir(folder)).toEqual([]);
  });

  it('that is damaged is refused, and the rows that were read before stay', async () => {
    const messages = Array.from({ length: 3_000 }, (_, index) => existingMessage(`m-${index}`));
    await writeExistingDatabase(source, { ...small, messages });
    const bytes = await readFile(source);
    bytes.fill(0xff, Math.floor(bytes.length / 2));
    await writeFile(source, bytes);
    const result = await importIt();
    expect(result).toMatchObject({ exitCode: 1, output: '' });
    expect(result.errors).toMatch(/^truemq: the database .* cannot be imported: it is damaged;/);
    expect(await readdir(folder)).toEqual(['truemq.db']);
  });
});

describe('the fixture', () => {
  it('gives a store with its queues, messages and dead letters', async () => {
    expect(await importIt(fixture)).toEqual({ exitCode: 0, output: answer([4, 6, 2]), errors: '' });
    const opened = await openSqliteStore({ path: target, synchronous: 'normal' });
    const records: RecoveredRecord[] = [];
    for await (const record of opened.recover()) records.push(record);
    await opened.close();
    const ids = records.map((record) => (record.kind === 'queue' ? record.name : record.id));
    expect(ids).toEqual([
      ...['orders', 'alarms', 'rapports.été', 'rejected', 'orders.dlq'],
      ...['a-1', 'a-2', 'r-1', 'o-1', 'o-2', 'o-3', 'o-dead', 'r-dead'],
    ]);
  });
});
