// `truemq store import --from-existing`: the store that it writes to, where it cannot be one.

import { copyFile, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newFolder } from '../../storage/contract/file-place.ts';
import { openSqliteStore } from '../../storage/sqlite/sqlite-store.ts';
import { testCommandContext } from '../../testing/command-context.ts';
import { UsageError } from '../arguments.ts';
import { store } from '../store.ts';

const fixture = fileURLToPath(new URL('../../../fixtures/storage/existing-broker.db', import.meta.url));

let folder: string;
let source: string;
let target: string;

beforeEach(async () => {
  folder = await newFolder();
  [source, target] = [join(folder, 'vibemq.db'), join(folder, 'truemq.db')];
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function run(...argv: readonly string[]) {
  const context = testCommandContext();
  const exitCode = await store.run(argv, context);
  return { exitCode, output: context.output(), errors: context.errors() };
}

describe('the target', () => {
  it('is refused when it cannot be a store, also when it is the source', async () => {
    await copyFile(fixture, source);
    const same = await run('import', '--from-existing', source, source);
    expect(same.errors).toMatch(/^truemq: the store .* cannot be used: it is a database of another program/);
    const nowhere = await run('import', '--from-existing', source, join(folder, 'no/such/folder/q.db'));
    expect(nowhere).toMatchObject({
      exitCode: 1,
      errors: expect.stringMatching(/there must be room for a copy of it in /),
    });
    expect(await readFile(source)).toEqual(await readFile(fixture));
  });

  it('is refused when a broker uses it', async () => {
    const opened = await openSqliteStore({ path: target, synchronous: 'normal' });
    expect((await run('import', '--from-existing', fixture, target)).errors).toMatch(
      /is locked: another broker uses it/,
    );
    await opened.close();
  });

  it('cannot be filled from a text at the same time', async () => {
    await expect(run('import', '--from-existing', source, '--input', 'x', target)).rejects.toThrow(
      UsageError,
    );
  });
});
