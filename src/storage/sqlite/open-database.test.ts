// Opening the file: refusals with a message for the operator and without a change of the file, the settings that every broker relies on,
// and old versions.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RecoveredRecord, StoreRecord } from '../../broker/interface/store-record.ts';
import { defaultQueueOptions } from '../../model/queue-options.ts';
import { contentOf } from '../../testing/test-content.ts';
import { newFolder } from '../contract/file-place.ts';
import { type StorageProvider, StoreError } from '../storage-provider.ts';
import { compactStore } from './compaction.ts';
import { loadDriver } from './driver.ts';
import { openDatabase } from './open-database.ts';
import { SCHEMA_VERSION } from './schema.ts';
import { openSqliteStore } from './sqlite-store.ts';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await newFolder();
  path = join(folder, 'q.db');
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const open = (at = path): Promise<StorageProvider> => openSqliteStore({ path: at, synchronous: 'full' });

async function collect(store: StorageProvider): Promise<readonly RecoveredRecord[]> {
  const records: RecoveredRecord[] = [];
  for await (const record of store.recover()) records.push(record);
  return records;
}

function created(generation: number): StoreRecord {
  const queue = { generation, name: `q${generation}`, options: defaultQueueOptions, createdWallAt: 5 };
  return { kind: 'queueCreated', ...queue };
}

function added(sequence: number, bytes = 10): StoreRecord {
  const content = Buffer.alloc(bytes, sequence);
  const message = {
    generation: 1,
    sequence,
    id: `m${sequence}`,
    priority: 1,
    content: contentOf(content),
    acceptedWallAt: 5,
  } as const;
  return { kind: 'messageAdded', ...message };
}

/** Writes a file of that many messages and closes it. */
async function filledStore(messageCount: number, bytes: number): Promise<void> {
  const store = await open();
  await store.commit([
    created(1),
    ...Array.from({ length: messageCount }, (_, index) => added(index + 1, bytes)),
  ]);
  await store.close();
}

/** Changes bytes of the file. */
async function patch(offset: number, bytes: readonly number[]): Promise<void> {
  const file = await readFile(path);
  file.set(bytes, offset);
  await writeFile(path, file);
}

describe('a file that cannot be the store is refused, and nothing of it changes', () => {
  it('because it is no database [DURABLE-016]', async () => {
    await writeFile(path, 'my diary'.repeat(100));
    await expect(open()).rejects.toThrow(`the store ${path} cannot be used: it is not an SQLite database`);
    expect(await readFile(path, 'utf8')).toBe('my diary'.repeat(100));
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  it('because it is the database of another program [DURABLE-016]', async () => {
    const Driver = await loadDriver();
    new Driver(path).exec('CREATE TABLE mine (x)').close();
    const before = await readFile(path);
    await expect(open()).rejects.toThrow('it is a database of another program; nothing was changed');
    expect(await readFile(path)).toEqual(before);
  });

  it('because a newer broker wrote it [DURABLE-016]', async () => {
    await filledStore(1, 10);
    await patch(60, [0, 0, 0, SCHEMA_VERSION + 1]);
    const before = await readFile(path);
    await expect(open()).rejects.toThrow(`it has version ${SCHEMA_VERSION + 1}, written by a newer TrueMQ`);
    expect(await readFile(path)).toEqual(before);
  });

  it('because another broker has it [DURABLE-022]', async () => {
    const first = await open();
    await expect(open()).rejects.toThrow(/it is locked: another broker uses it \(SQLITE_BUSY/);
    await first.commit([created(1)]);
    await first.close();
    const second = await open();
    expect(await collect(second)).toHaveLength(1);
    await second.close();
  });

  it('because its folder is not there [DURABLE-016]', async () => {
    const missing = join(folder, 'no', 'q.db');
    await expect(open(missing)).rejects.toThrow(`the folder ${join(folder, 'no')} does not exist`);
  });

  it('because it is a folder [DURABLE-016]', async () => {
    await mkdir(path);
    await expect(open()).rejects.toThrow(StoreError);
  });

  it.each([':memory:', ' :memory: ', '', ' '])('because no file would have its messages: %j', async (at) => {
    await expect(open(at)).rejects.toThrow('it is not the name of a file');
  });

  it('because the driver would open the file without the white space at the ends of its name', async () => {
    await writeFile(path, 'my diary'.repeat(100));
    await expect(open(`${path}\r`)).rejects.toThrow(/\\r" cannot be used: .* white space at the ends/);
    expect(await readdir(folder)).toEqual(['q.db']);
  });

  it('because it is a pipe, which would wait, or a device', async () => {
    spawnSync('mkfifo', [path]);
    await expect(open()).rejects.toThrow('it is not a regular file');
    await expect(open('/dev/null')).rejects.toThrow('it is not a regular file');
  });

  it('because the schema in it is damaged [DURABLE-016]', async () => {
    await filledStore(1, 10);
    // The type of the first page, which holds the schema.
    await patch(100, [0]);
    await expect(open()).rejects.toThrow(/it is damaged; .*\(SQLITE_CORRUPT/);
  });

  it('because a page of messages is damaged, which shows when it is read [DURABLE-016]', async () => {
    await filledStore(2_000, 1_000);
    const { length } = await readFile(path);
    await patch(Math.floor(length / 2 / 8192) * 8192, new Array<number>(64).fill(0xff));
    const store = await open();
    await expect(collect(store)).rejects.toThrow(/cannot be read: it is damaged; .*\(SQLITE_CORRUPT/);
    await store.close();
  });
});

describe('an open file', () => {
  it.each(['full', 'normal'] as const)(
    'keeps to %s syncs and a write-ahead log, also when it was there before [DURABLE-026]',
    async (synchronous) => {
      await (await open()).close();
      const database = await openDatabase({ path, synchronous });
      expect(database.pragma('synchronous', { simple: true })).toBe(synchronous === 'full' ? 2 : 1);
      expect(database.pragma('journal_mode', { simple: true })).toBe('wal');
      expect(database.pragma('locking_mode', { simple: true })).toBe('exclusive');
      database.close();
    },
  );

  it('is created where an empty one stands', async () => {
    await writeFile(path, '');
    const store = await open();
    await store.commit([created(1)]);
    await store.close();
    const file = await readFile(path);
    expect(file.readUInt32BE(60)).toBe(SCHEMA_VERSION);
    expect(pageBytes(file)).toBe(8192);
  });
});

/** Where the header of a file has it. */
function pageBytes(file: Buffer): number {
  return file.readUInt16BE(16);
}

describe('a file of a released version', () => {
  it.each([1])('%s opens, has everything in it, and keeps the size of its pages', async (version) => {
    await copyFile(
      fileURLToPath(new URL(`../../../fixtures/storage/version-${version}.db`, import.meta.url)),
      path,
    );
    const store = await open();
    const records = await collect(store);
    await store.close();
    const expected = new URL(`../../../fixtures/storage/version-${version}.json`, import.meta.url);
    expect(JSON.parse(JSON.stringify(records))).toEqual(JSON.parse(await readFile(expected, 'utf8')));
    const file = await readFile(path);
    expect(file.readUInt32BE(60)).toBe(SCHEMA_VERSION);
    expect(pageBytes(file)).toBe(4096);
  });

  it('is compacted with the pages that it has', async () => {
    await copyFile(fileURLToPath(new URL('../../../fixtures/storage/version-1.db', import.meta.url)), path);
    await compactStore(path);
    expect(pageBytes(await readFile(path))).toBe(4096);
    await (await open()).close();
  });
});

describe('the driver', () => {
  it('is there', async () => {
    await expect(loadDriver()).resolves.toBeTypeOf('function');
  });

  it('that is missing is a fault that says what to install', async () => {
    const error = Object.assign(new Error('Cannot find it'), { code: 'ERR_MODULE_NOT_FOUND' });
    const missing = loadDriver(() => Promise.reject(error));
    await expect(missing).rejects.toThrow(
      /needs the package better-sqlite3, which is not installed.*npm install better-sqlite3@12\.11\.1/,
    );
    await expect(missing).rejects.toBeInstanceOf(StoreError);
  });

  it('whose native code does not load is a fault that says what to compile, before a file is touched', async () => {
    class NotCompiled {
      constructor() {
        throw new Error('Could not locate the bindings file. Tried:\n a\n b');
      }
    }
    const broken = loadDriver(async () => ({ default: NotCompiled as never }));
    await expect(broken).rejects.toThrow(
      /not compiled for this Node.js.*"npm rebuild better-sqlite3".*\(Could not locate the bindings file\.\)$/,
    );
    await expect(broken).rejects.toBeInstanceOf(StoreError);
  });
});
