// A broker over a real file while the disk is full, cannot be read or written, or another process has the file: clients see nothing of a
// batch that was not stored, nothing confirmed is lost, and the broker recovers when the fault ends. Time is virtual, files are not.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FaultyFile } from '../../testing/faulty-file.ts';
import { notShown } from '../../testing/not-shown.ts';
import { SmallFileSystem } from '../../testing/small-file-system.ts';
import { publish, subscribe } from '../../testing/tested-clients.ts';
import { TestedService } from '../../testing/tested-service.ts';
import { newFolder } from '../contract/file-place.ts';
import { compactStore } from './compaction.ts';
import { openSqliteStore } from './sqlite-store.ts';
import { openStoreFile } from './store-file.ts';

let folder: string;
let file: FaultyFile;

beforeEach(async () => {
  folder = await newFolder();
  file = new FaultyFile(join(folder, 'q.db'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

/** A broker with one message confirmed, and its publisher. */
async function withOneStored(of = file) {
  const tested = new TestedService(of);
  await tested.service.start();
  const client = await tested.connect();
  expect(await tested.exchange(client, publish('q', 'm1'))).toEqual(['PublishAck m1 q']);
  return { tested, client };
}

const LARGE = { payload: JSON.stringify('x'.repeat(100_000)) };

/** Publishes messages that cannot be stored, and expects all clients to get an Error or Disconnect. */
async function failToPublish(tested: TestedService, client: Awaited<ReturnType<TestedService['connect']>>) {
  expect(await tested.exchange(client, publish('q', 'm2', LARGE))).toEqual([
    'Error m2 q STORAGE_ERROR',
    expect.stringMatching(/^Disconnect /),
  ]);
  expect(tested.service.readiness()).toMatchObject({
    ready: false,
    reason: expect.stringContaining('the store has failed'),
  });
  expect(await tested.exchange(tested.attach(), { command: 0, id: 'c' })).toEqual(['Error c STORAGE_ERROR']);
}

/** Virtual time passes, and real time where the file is opened. */
async function until(tested: TestedService, condition: () => boolean): Promise<void> {
  const look = async () => {
    await tested.advance(1_000);
    const state = { ...tested.service.readiness(), logged: tested.logged };
    expect(condition(), JSON.stringify(state)).toBe(true);
  };
  await vi.waitFor(look, { timeout: 8_000, interval: 2 });
}

/** Expects that the broker serves again, has all confirmed messages and no others, and accepts new ones. */
async function comesBack(tested: TestedService): Promise<void> {
  await until(tested, () => tested.service.readiness().ready);
  expect(tested.logged).toContain('the store works again');
  const client = await tested.connect();
  expect(await tested.exchange(client, publish('q', 'm3', LARGE))).toEqual(['PublishAck m3 q']);
  expect(await tested.exchange(client, subscribe('q'))).toEqual([
    'SubscribeAck subscribe-q q',
    'Deliver m1 q',
    'Deliver m3 q',
  ]);
  await end(tested);
}

/** Lets the ack timeout of messages in flight pass. */
async function end(tested: TestedService): Promise<void> {
  const ended = tested.service.drain();
  await tested.advance(60_000);
  await ended;
}

function failures(tested: TestedService): number {
  return tested.logged.filter((line) => line === 'the store still fails').length;
}

describe('while the broker runs', () => {
  it.each([
    'SQLITE_FULL',
    'SQLITE_IOERR_WRITE',
    'SQLITE_IOERR_FSYNC',
    'SQLITE_BUSY',
    'SQLITE_READONLY',
    'SQLITE_CORRUPT',
  ])(
    '%s in a commit, again and again, loses nothing that was confirmed [DURABLE-017, DURABLE-018, DURABLE-019, DURABLE-020, DURABLE-021, HEALTH-011]',
    async (code) => {
      const { tested, client } = await withOneStored();
      file.failsWith = code;
      await failToPublish(tested, client);
      await until(tested, () => failures(tested) >= 3);
      expect(tested.service.readiness().ready).toBe(false);
      file.failsWith = undefined;
      await comesBack(tested);
      expect(file.openCount).toBeGreaterThan(4);
    },
  );

  it('a file that may grow no further is full, and the message that did not fit is nowhere [DURABLE-017, DURABLE-019, DURABLE-021]', async () => {
    const { tested, client } = await withOneStored();
    file.database.pragma(`max_page_count = ${Number(file.database.pragma('page_count', { simple: true }))}`);
    await failToPublish(tested, client);
    await comesBack(tested);
  });

  it('a database that was closed behind its back is opened again [DURABLE-019, DURABLE-021]', async () => {
    const { tested, client } = await withOneStored();
    file.database.close();
    await failToPublish(tested, client);
    await comesBack(tested);
  });

  it('a file that somebody else has taken meanwhile is waited for [DURABLE-019]', async () => {
    const { tested, client } = await withOneStored();
    file.failsWith = 'SQLITE_IOERR_WRITE';
    const failing = failToPublish(tested, client);
    await failing;
    file.failsWith = undefined;
    const other = await openStoreFile(file.path);
    await until(tested, () => failures(tested) >= 2);
    expect(tested.service.readiness().ready).toBe(false);
    await other.close();
    await comesBack(tested);
  });
});

describe('on a file system of its own', () => {
  const disks: SmallFileSystem[] = [];

  afterEach(() => {
    for (const disk of disks.splice(0)) disk.remove();
  });

  /** Ends the test as not shown if the machine does not allow a mount. */
  async function smallFileSystem(context: TestContext): Promise<SmallFileSystem> {
    try {
      const disk = await SmallFileSystem.mounted(4 * 1024 * 1024);
      disks.push(disk);
      return disk;
    } catch (error) {
      // Where root runs the tests on Linux a mount may still be forbidden, as in most containers; nothing else explains it.
      expect(String(error)).toMatch(/mount|permi|ENOENT|EPERM/i);
      return notShown(context, error instanceof Error ? error.message : String(error));
    }
  }

  it('a broker survives that it is full, and comes back when there is room [DURABLE-017, DURABLE-018, DURABLE-019, DURABLE-020, DURABLE-021]', async (context) => {
    const disk = await smallFileSystem(context);
    const full = new FaultyFile(join(disk.folder, 'q.db'));
    const { tested, client } = await withOneStored(full);
    disk.fill();
    await failToPublish(tested, client);
    expect(tested.service.readiness()).toMatchObject({
      reason: expect.stringMatching(/cannot be written: the disk is full \(SQLITE_FULL\)$/),
    });
    // Closing the database has given back what its log had taken.
    disk.fill();
    await until(tested, () => failures(tested) >= 3);
    expect(tested.service.readiness().ready).toBe(false);
    disk.empty();
    await comesBack(tested);
  });

  it('a broker refuses to start where there is no room, or where nothing may be written [DURABLE-016]', async (context) => {
    const disk = await smallFileSystem(context);
    const path = join(disk.folder, 'q.db');
    disk.fill();
    await expect(openSqliteStore({ path, synchronous: 'full' })).rejects.toThrow(
      /the disk is full \(SQLITE_FULL\)/,
    );
    disk.empty();
    const store = await openSqliteStore({ path, synchronous: 'full' });
    await store.close();
    disk.makeReadOnly();
    await expect(openSqliteStore({ path, synchronous: 'full' })).rejects.toThrow(
      /the folder .* does not exist or cannot be written to/,
    );
  });

  it('a compaction without room says so and leaves everything as it was', async (context) => {
    const disk = await smallFileSystem(context);
    const full = new FaultyFile(join(disk.folder, 'q.db'));
    const { tested, client } = await withOneStored(full);
    for (let number = 1; number <= 10; number += 1)
      await tested.exchange(client, publish('q', `n${number}`, LARGE));
    await end(tested);
    disk.fill();
    await expect(compactStore(full.path)).rejects.toThrow(
      /cannot be compacted, and is as it was: the disk is full \(SQLITE_FULL\); it needs room for a copy/,
    );
    disk.empty();
    const left = await openStoreFile(full.path);
    expect(left.problems()).toEqual([]);
    expect(left.queueFigures()).toMatchObject([{ name: 'q', messageCount: 11 }]);
    await left.close();
  });
});
