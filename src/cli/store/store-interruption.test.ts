// Ctrl-C and SIGTERM while `truemq store` makes a file: nothing that is not whole stays, and the exit code says that it was interrupted.

import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { StoreRecord } from '../../broker/interface/store-record.ts';
import { defaultQueueOptions } from '../../model/queue-options.ts';
import { newFolder } from '../../storage/contract/file-place.ts';
import { openSqliteStore } from '../../storage/sqlite/sqlite-store.ts';
import { testCommandContext } from '../../testing/command-context.ts';
import { existingMessage, existingQueue, writeExistingDatabase } from '../../testing/existing-database.ts';
import { contentOf } from '../../testing/test-content.ts';
import { bodyBytes } from '../../testing/wire-bytes.ts';
import { store } from '../store.ts';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await newFolder();
  path = join(folder, 'q.db');
});

afterEach(() => rm(folder, { recursive: true, force: true }));

/** Runs the action, and sends the signal when the folder has a file beside `before`. */
async function interrupted(argv: readonly string[], signal: NodeJS.Signals, input = '') {
  const before = await readdir(folder);
  const context = testCommandContext();
  context.stdin.write(input);
  const exit = store.run(argv, context);
  await expect.poll(() => readdir(folder), { interval: 1 }).not.toEqual(before);
  context.signal(signal);
  const exitCode = await exit;
  return { exitCode, errors: context.errors(), files: (await readdir(folder)).sort(), context };
}

it('leaves no part of an import, also while its text has not come whole', async () => {
  const head = '{"format":"truemq-store","version":1}\n';
  const { context, ...outcome } = await interrupted(['import', path], 'SIGINT', head);
  expect(outcome).toEqual({
    exitCode: 130,
    errors: `truemq: interrupted; nothing was imported into ${path}\n`,
    files: [],
  });
  context.signal('SIGINT');
  expect(context.exits).toEqual([]);
});

it('leaves no part of an export to a file', async () => {
  const payload = Buffer.from(JSON.stringify('x'.repeat(100_000)));
  const messages = Array.from({ length: 300 }, (_, index): StoreRecord => {
    const content = contentOf(bodyBytes({ command: 26, id: `m${index}`, queue: 'orders', payload }));
    const place = { generation: 1, sequence: index + 1, id: `m${index}` };
    return { kind: 'messageAdded', ...place, priority: 1, content, acceptedWallAt: 5_000 };
  });
  const opened = await openSqliteStore({ path, synchronous: 'normal' });
  await opened.commit([
    {
      kind: 'queueCreated',
      generation: 1,
      name: 'orders',
      createdWallAt: 5,
      options: defaultQueueOptions,
    },
    ...messages,
  ]);
  await opened.close();
  const text = join(folder, 'q.ndjson');
  const outcome = await interrupted(['export', path, '--output', text], 'SIGTERM');
  expect(outcome).toMatchObject({
    exitCode: 143,
    errors: `truemq: interrupted; the store ${path} was not exported\n`,
    files: ['q.db'],
  });
});

it('leaves no copy of an existing database; what was taken stays, and the next import takes the rest', async () => {
  const sources = await newFolder();
  const source = join(sources, 'vibemq.db');
  const messages = Array.from({ length: 9_000 }, (_, index) => existingMessage(`m${index}`));
  await writeExistingDatabase(source, { queues: [existingQueue('orders')], messages });
  const before = await readFile(source);
  const argv = ['import', path, '--from-existing', source];
  const { exitCode, errors, files } = await interrupted(argv, 'SIGINT');
  expect({ exitCode, errors }).toEqual({
    exitCode: 130,
    errors: `truemq: interrupted; what was taken into ${path} stays, and the same command takes the rest\n`,
  });
  expect(files.filter((name) => name !== 'q.db')).toEqual([]);
  const context = testCommandContext();
  expect(await store.run(argv, context)).toBe(0);
  const [taken, present] = [...context.output().matchAll(/messages (\d+)/g)].map(([, count]) =>
    Number(count),
  );
  expect((taken ?? 0) + (present ?? 0)).toBe(9_000);
  expect(await readFile(source)).toEqual(before);
  await rm(sources, { recursive: true, force: true });
});

it('a second signal, which some programs send at once, changes nothing', async () => {
  const context = testCommandContext();
  const exit = store.run(['import', path], context);
  context.signal('SIGINT');
  context.signal('SIGTERM');
  expect(await exit).toBe(130);
  expect([context.exits, await readdir(folder)]).toEqual([[], []]);
});
