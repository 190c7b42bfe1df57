// `truemq store` in process: output and exit code of each action on valid files, on files after a crash and on damaged files. Actions that
// only read change nothing.

import { spawnSync } from 'node:child_process';
import { copyFile, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RecoveredRecord, StoreRecord } from '../broker/interface/store-record.ts';
import { defaultQueueOptions } from '../model/queue-options.ts';
import { newFolder } from '../storage/contract/file-place.ts';
import { loadDriver } from '../storage/sqlite/driver.ts';
import { SCHEMA_VERSION } from '../storage/sqlite/schema.ts';
import { openSqliteStore } from '../storage/sqlite/sqlite-store.ts';
import { testCommandContext } from '../testing/command-context.ts';
import { runsOf } from '../testing/property-runs.ts';
import { recordsThatGive, storedRecords } from '../testing/stored-arbitrary.ts';
import { contentOf } from '../testing/test-content.ts';
import { bodyBytes } from '../testing/wire-bytes.ts';
import { UsageError } from './arguments.ts';
import { store } from './store.ts';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await newFolder();
  path = join(folder, 'q.db');
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function run(argv: readonly string[], input = '') {
  const context = testCommandContext();
  context.stdin.end(input);
  const exitCode = await store.run(argv, context);
  return { exitCode, output: context.output(), errors: context.errors() };
}

const queue = { kind: 'queueCreated', generation: 1, name: 'orders', createdWallAt: 5 } as const;

function message(sequence: number, payloadBytes = 10) {
  const id = `m${sequence}`;
  const payload = Buffer.from(JSON.stringify('x'.repeat(payloadBytes)));
  const content = bodyBytes({ command: 26, id, queue: 'orders', payload });
  return {
    generation: 1,
    sequence,
    id,
    priority: 1,
    content: contentOf(content),
    acceptedWallAt: 5_000,
  } as const;
}

async function write(records: readonly StoreRecord[], at = path): Promise<void> {
  const opened = await openSqliteStore({ path: at, synchronous: 'normal' });
  await opened.commit(records);
  await opened.close();
}

function filled(messageCount: number, payloadBytes?: number): readonly StoreRecord[] {
  return [
    { ...queue, options: defaultQueueOptions },
    ...Array.from({ length: messageCount }, (_, index) => ({
      kind: 'messageAdded' as const,
      ...message(index + 1, payloadBytes),
    })),
  ];
}

/** A dead letter of the third message in a queue of its own. */
const LETTER: readonly StoreRecord[] = [
  { ...queue, generation: 2, name: 'orders.dlq', options: defaultQueueOptions },
  {
    kind: 'deadLettered',
    from: { generation: 1, sequence: 3 },
    to: {
      ...message(3),
      generation: 2,
      sequence: 9,
      deadLetter: { reason: 'MessageExpired', source: 'orders', attempts: 2, deadLetteredWallAt: 7_000 },
    },
  },
];

/** Changes the file in a way that no store does. */
async function spoil(sql: string): Promise<void> {
  const Driver = await loadDriver();
  new Driver(path).exec(sql).close();
}

/** Every file beside the store, with its bytes. */
async function filesOf(): Promise<Readonly<Record<string, string>>> {
  const names = (await readdir(folder)).sort();
  const contents = await Promise.all(names.map((name) => readFile(join(folder, name), 'base64')));
  return Object.fromEntries(names.map((name, index) => [name, contents[index] ?? '']));
}

/** Leaves the files as a crash would. */
async function writeAndCrash(records: readonly StoreRecord[]): Promise<void> {
  const running = join(folder, 'running.db');
  const opened = await openSqliteStore({ path: running, synchronous: 'normal' });
  await opened.commit(records);
  for (const suffix of ['', '-wal']) await copyFile(running + suffix, path + suffix);
  await opened.close();
  await rm(running);
}

describe('on a sound file', () => {
  it('check says what is in it', async () => {
    await write([...filled(4), ...LETTER]);
    expect(await run(['check', path])).toEqual({
      exitCode: 0,
      output: `${path} is sound: queues 2, messages 4, of these dead letters 1\n`,
      errors: '',
    });
  });

  it('stats tells what is in which queue, for people and for programs', async () => {
    await write([...filled(4), ...LETTER]);
    const { output } = await run(['stats', path]);
    expect(output.split('\n').slice(0, 3)).toEqual([
      'queue       messages  dead letters   content  oldest',
      'orders             3             0  96 bytes  1970-01-01T00:00:05.000Z',
      'orders.dlq         1             1  32 bytes  1970-01-01T00:00:05.000Z',
    ]);
    expect(output).toMatch(/: \d+\.\d KiB, of these free \d+ bytes; write-ahead log 0 bytes\n$/);
    expect(JSON.parse((await run(['stats', path, '--json'])).output)).toMatchObject({
      path,
      writeAheadLogBytes: 0,
      queues: [
        { name: 'orders', messageCount: 3, deadLetterCount: 0, bytes: 96 },
        { name: 'orders.dlq', messageCount: 1, deadLetterCount: 1, bytes: 32 },
      ],
    });
  });

  it('stats shows a queue in which nothing is', async () => {
    await write(filled(0));
    expect((await run(['stats', path])).output).toMatch(/^orders +0 +0 +0 bytes +-$/m);
  });

  it.each([['check'], ['stats'], ['export']])(
    '%s changes nothing, nor what a crash has left',
    async (action) => {
      for (const leave of [write, writeAndCrash]) {
        await leave([...filled(3), ...LETTER]);
        const before = await filesOf();
        expect((await run([action, path])).exitCode).toBe(0);
        expect(await filesOf()).toEqual(before);
        await rm(path);
        await rm(`${path}-wal`, { force: true });
      }
    },
  );

  it('check reads what a crash has left in the write-ahead log', async () => {
    await writeAndCrash(filled(3));
    expect((await run(['check', path])).output).toContain('messages 3,');
    expect((await run(['stats', path])).output).toMatch(/write-ahead log \d+\.\d KiB/);
    const link = join(folder, 'link.db');
    await symlink(path, link);
    expect((await run(['stats', link])).output).toMatch(/write-ahead log \d+\.\d KiB/);
  });

  it('what reads a store by a symbolic link leaves no file beside it, and compact counts its write-ahead log', async () => {
    const link = join(folder, 'link.db');
    await write(filled(3));
    await symlink(path, link);
    const before = await readdir(folder);
    expect((await run(['check', link])).exitCode).toBe(0);
    expect(await readdir(folder)).toEqual(before);
    await rm(path);
    await writeAndCrash(filled(50, 2_000));
    const log = (await stat(`${path}-wal`)).size;
    const { output } = await run(['compact', link]);
    expect(Number(/: ([\d.]+) KiB before/.exec(output)?.[1]) * 1024).toBeGreaterThan(log);
  });

  it('compact gives the room of what has left back, and keeps everything else', async () => {
    const gone = Array.from({ length: 900 }, (_, index) => ({
      kind: 'messageRemoved' as const,
      generation: 1,
      sequence: index + 1,
    }));
    await write(filled(1_000, 2_000));
    await write([...gone, { ...queue, generation: 2, name: 'deleted', options: defaultQueueOptions }]);
    await write([{ kind: 'queueDeleted', generation: 2 }]);
    const before = (await run(['export', path])).output;
    const { exitCode, output } = await run(['compact', path]);
    expect(exitCode).toBe(0);
    expect(output).toMatch(/: 2\.\d MiB before, 2\d\d\.\d KiB now\n$/);
    expect((await run(['export', path])).output).toBe(before);
    expect((await run(['check', path])).exitCode).toBe(0);
    expect(await readdir(folder)).toEqual(['q.db']);
  });

  it('a file of a released version goes through all of it', async () => {
    await copyFile(
      fileURLToPath(new URL(`../../fixtures/storage/version-${SCHEMA_VERSION}.db`, import.meta.url)),
      path,
    );
    expect((await run(['stats', path])).exitCode).toBe(0);
    expect((await run(['export', path])).output).toContain('"id":"größe-2"');
    expect((await run(['compact', path])).exitCode).toBe(0);
  });
});

describe('export and import', () => {
  it('make a store that gives the same text', async () => {
    await fc.assert(
      fc.asyncProperty(storedRecords, async (records: readonly RecoveredRecord[]) => {
        const copy = join(folder, 'copy.db');
        await write(recordsThatGive(records));
        const { output } = await run(['export', path]);
        const imported = await run(['import', copy], output);
        expect(imported).toMatchObject({ exitCode: 0, errors: '' });
        expect((await run(['export', copy])).output).toBe(output);
        expect((await run(['check', copy])).exitCode).toBe(0);
        await rm(path);
        await rm(copy);
      }),
      { numRuns: runsOf(25) },
    );
  });

  it('go by files too, and overwrite none', async () => {
    const text = join(folder, 'q.ndjson');
    const copy = join(folder, 'copy.db');
    await write([...filled(5), ...LETTER]);
    expect(await run(['export', path, '--output', text])).toMatchObject({ exitCode: 0, output: '' });
    expect(await run(['import', copy, '--input', text])).toEqual({
      exitCode: 0,
      output: `${copy} has queues 2, messages 5, of these dead letters 1\n`,
      errors: '',
    });
    const written = await readFile(text);
    expect((await run(['export', path, '--output', text])).errors).toBe(
      `truemq: the store ${path} was not exported: ${text} exists; an export makes a new file and overwrites nothing\n`,
    );
    expect(await readFile(text)).toEqual(written);
    const again = await run(['import', copy, '--input', text]);
    expect(again.exitCode).toBe(1);
    expect(again.errors).toBe(`truemq: ${copy} exists; an import makes a new file and overwrites nothing\n`);
    expect((await readdir(folder)).sort()).toEqual(['copy.db', 'q.db', 'q.ndjson']);
  });

  it('import names every line that is wrong, and imports nothing then', async () => {
    await write(filled(5));
    const lines = (await run(['export', path])).output.split('\n');
    lines[2] = (lines[2] ?? '').replace('Normal', 'Urgent');
    lines[4] = (lines[4] ?? '').replace('"m3"', '"m2"');
    lines.splice(7);
    const copy = join(folder, 'copy.db');
    expect(await run(['import', copy], lines.join('\n'))).toEqual({
      exitCode: 1,
      output: '',
      errors: [
        'truemq: line 3: priority must be Low, Normal, High, Critical',
        'truemq: line 5: Message m2 is stored twice in queue orders.',
        'truemq: after line 7: the last line is missing: the text was cut off',
        'truemq: nothing was imported',
        '',
      ].join('\n'),
    });
    expect(await readdir(folder)).toEqual(['q.db']);
  });

  it('import counts the lines that are wrong beyond the first twenty', async () => {
    const bad = '{"format":"truemq-store","version":1}\n'.concat('{}\n'.repeat(30));
    const { errors } = await run(['import', path], bad);
    expect(errors.split('\n')).toHaveLength(23);
    expect(errors).toContain('truemq: and 11 more\ntruemq: nothing was imported\n');
    expect(await readdir(folder)).toEqual([]);
  });

  it('import says why a text cannot be read', async () => {
    const missing = join(folder, 'no.ndjson');
    expect((await run(['import', path, '--input', missing])).errors).toMatch(
      /^truemq: nothing was imported into .*: ENOENT: no such file/,
    );
    expect(await readdir(folder)).toEqual([]);
  });

  it.each([':memory:', ''])('no action takes %j, under which there is no file of a store', async (name) => {
    const refused = `truemq: the store ${JSON.stringify(name)} cannot be used: it is not the name of a file\n`;
    for (const action of ['import', 'check', 'stats', 'compact'])
      expect((await run([action, name])).errors).toBe(refused);
  });

  it('export reports that the reader of its output has closed it', async () => {
    await write(filled(500, 1_000));
    const context = { ...testCommandContext(), stdout: new PassThrough() };
    context.stdout.on('error', () => undefined);
    const exit = store.run(['export', path], context);
    context.stdout.destroy(new Error('gone'));
    expect(await exit).toBe(1);
  });
});

describe('a damaged file', () => {
  async function complaintsOf(sql: string): Promise<readonly string[]> {
    await write([...filled(3), ...LETTER]);
    await spoil(sql);
    const { exitCode, output } = await run(['check', path]);
    expect(exitCode).toBe(1);
    const lines = output.split('\n');
    expect(lines[0]).toBe(`${path} is damaged:`);
    expect(output).toContain('what to do: keep a copy of the file');
    return lines.filter((line) => line.startsWith('  ')).map((line) => line.trim());
  }

  it.each([
    [
      "UPDATE queues SET options = '{' WHERE name = 'orders'",
      [/^queue "orders" \(generation 1\): options is "\{", which/, /^Message m1 /, /^Message m2 /],
    ],
    [
      "UPDATE queues SET options = 'null' WHERE name = 'orders'",
      [/^queue "orders" \(generation 1\): options is "null", which/, /./, /./],
    ],
    [
      "UPDATE queues SET options = json_set(options, '$.mode', 9) WHERE name = 'orders'",
      [
        /^queue "orders" \(generation 1\): options.mode is 9, which/,
        /^Message m1 is stored without its queue/,
        /^Message m2 /,
      ],
    ],
    [
      "UPDATE queues SET name = 'a b' WHERE generation = 2",
      [/^queue "a b": name is not a valid queue name$/, /./],
    ],
    ["UPDATE queues SET name = 'orders'", [/^Queue orders \(generation 2\) is stored twice/, /./]],
    [
      'UPDATE messages SET generation = 5 WHERE sequence = 1',
      [/^Message m1 is stored without its queue \(5\)/],
    ],
    [
      "UPDATE messages SET id = 'm1', content = (SELECT content FROM messages WHERE id = 'm1')",
      [/stored twice in queue orders/],
    ],
    [
      "UPDATE messages SET id = 'other' WHERE sequence = 2",
      [/^message "other" of queue orders \(sequence 2\): content cannot be read$/],
    ],
    ['UPDATE messages SET priority = 8 WHERE sequence = 2', [/priority is 8, which/]],
    ['UPDATE messages SET failed_attempts = -1 WHERE sequence = 2', [/failed_attempts is -1, which/]],
    ['UPDATE messages SET accepted_at = 0.5 WHERE sequence = 2', [/acceptedAt is not a valid timestamp$/]],
    ['UPDATE dead_letters SET attempts = -1', [/^message "m3" .*: attempts is -1, which/]],
    [
      'UPDATE dead_letters SET sequence = 1',
      [/^message "m3" \(sequence 1\) is a dead letter and not one$/, /out of order/],
    ],
    ['INSERT INTO ended_queues VALUES (1, 0)', [/^queue "orders" is there and deleted$/]],
  ])('by %s is reported with its problem', async (sql, expected) => {
    const complaints = await complaintsOf(sql);
    expect(complaints).toHaveLength(expected.length);
    for (const [index, complaint] of complaints.entries()) expect(complaint).toMatch(expected[index] ?? /^$/);
  });

  it.each(['-9000000000000000', "'soon'"])(
    'with the impossible time %s has figures without it',
    async (time) => {
      await write(filled(1));
      await spoil(`UPDATE messages SET accepted_at = ${time}`);
      const { exitCode, output } = await run(['stats', path]);
      expect(output).toMatch(/^orders +1 +0 +32 bytes +-$/m);
      expect(exitCode).toBe(0);
      expect(JSON.parse((await run(['stats', path, '--json'])).output).queues).toHaveLength(1);
    },
  );

  it('in which a table is missing is reported by every action', async () => {
    await write(filled(1));
    await spoil('DROP TABLE dead_letters');
    for (const action of ['check', 'stats', 'export']) {
      const { exitCode, output, errors } = await run([action, path]);
      expect(exitCode).toBe(1);
      expect(output + errors).toContain('no such table: dead_letters');
    }
  });

  it('in an unreadable page is reported with its place, and an export fails', async () => {
    await write(filled(400, 1_000));
    const file = await readFile(path);
    file.fill(
      0xff,
      Math.floor(file.length / 2 / 8192) * 8192,
      Math.floor(file.length / 2 / 8192) * 8192 + 64,
    );
    await writeFile(path, file);
    const { exitCode, output } = await run(['check', path]);
    expect(exitCode).toBe(1);
    expect(output).toMatch(/page \d+/i);
    expect(output).toContain('cannot be read: it is damaged');
    const exported = await run(['export', path]);
    expect(exported.exitCode).toBe(1);
    expect(exported.errors).toMatch(/^truemq: the store .* cannot be read: it is damaged;/);
    expect(exported.output).not.toContain('"kind":"end"');
    // A file that was cut off would be in the way of the next export.
    const text = join(folder, 'q.ndjson');
    expect((await run(['export', path, '--output', text])).exitCode).toBe(1);
    expect(await readdir(folder)).toEqual(['q.db']);
  });
});

describe('what cannot be looked at is refused with one line', () => {
  const actions = [['check'], ['export'], ['stats'], ['compact']];

  it.each(actions)(
    '%s: a file that is not there, is a folder or a pipe, is no store, or is empty',
    async (action) => {
      const text = join(folder, 'diary');
      await writeFile(text, 'my diary'.repeat(100));
      const empty = join(folder, 'empty');
      await writeFile(empty, '');
      const pipe = join(folder, 'pipe');
      spawnSync('mkfifo', [pipe]);
      for (const [at, reason] of [
        [path, 'there is no such file'],
        [folder, 'it is a folder'],
        [pipe, 'it is not a regular file'],
        ['/dev/null', 'it is not a regular file'],
        [text, 'it is not an SQLite database; nothing was changed'],
        [empty, 'the file is empty'],
      ] as const) {
        const line = `truemq: the store ${at} cannot be used: ${reason}\n`;
        expect(await run([action, at])).toEqual({ exitCode: 1, output: '', errors: line });
      }
      expect((await readdir(folder)).sort()).toEqual(['diary', 'empty', 'pipe']);
    },
  );

  it.each(actions)('%s: a file that a broker has', async (action) => {
    const held = await openSqliteStore({ path, synchronous: 'full' });
    await held.commit(filled(1));
    const { exitCode, errors } = await run([action, path]);
    expect(exitCode).toBe(1);
    expect(errors).toBe(
      `truemq: the store ${path} cannot be used: it is locked: another broker uses it (SQLITE_BUSY)\n`,
    );
    await held.close();
  });

  it.each(actions)('%s: a newer version', async (action) => {
    await write(filled(1));
    const file = await readFile(path);
    file.writeUInt32BE(SCHEMA_VERSION + 1, 60);
    await writeFile(path, file);
    expect((await run([action, path])).errors).toContain('written by a newer TrueMQ');
    expect(await readFile(path)).toEqual(file);
  });

  it('reading an older version, which only a start of the broker changes', async () => {
    await write(filled(1));
    await spoil('PRAGMA journal_mode = DELETE; PRAGMA user_version = 0');
    const { errors } = await run(['check', path]);
    expect(errors).toContain(
      'it has version 0, written by an older TrueMQ; a start of the broker brings it to',
    );
  });

  it('a broker does not start on a file that is looked at', async () => {
    await write(filled(1));
    const { openStoreFile } = await import('../storage/sqlite/store-file.ts');
    const file = await openStoreFile(path);
    await expect(openSqliteStore({ path, synchronous: 'full' })).rejects.toThrow('it is locked');
    await file.close();
    await (await openSqliteStore({ path, synchronous: 'full' })).close();
  });

  it.each([
    [[], 'what to do is missing: check, export, import, stats, compact'],
    [['chek', 'x'], 'chek: no such action; did you mean check?; there is check,'],
    [['check'], 'FILE is missing'],
    [['check', 'a', 'b'], '"b": one argument too many'],
    [['check', 'a', '--json'], '--json: no such flag'],
  ])('%j', async (argv, reason) => {
    const failed = store.run(argv, testCommandContext());
    await expect(failed).rejects.toBeInstanceOf(UsageError);
    await expect(failed).rejects.toThrow(reason);
  });
});
