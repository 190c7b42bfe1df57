// A third party's module: its options, what is accepted as a store, and the one-line message when it cannot be used.

import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newFolder } from '../contract/file-place.ts';
import { StoreError } from '../storage-provider.ts';
import { openModuleStore } from './module-store.ts';

const STORE = '{ recover: () => [], commit: () => undefined, close: () => undefined }';

let folder: string;
let fileCount = 0;

beforeAll(async () => {
  folder = await newFolder();
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** The name of a new module in the folder: what has been loaded once is never read again. */
async function moduleOf(text: string): Promise<string> {
  fileCount += 1;
  await writeFile(join(folder, `store-${fileCount}.mjs`), text);
  return `./store-${fileCount}.mjs`;
}

function open(module: string, storagePath = '') {
  return openModuleStore({ module, directory: folder, storagePath });
}

/** The message of the StoreError with which it fails, the folder and the number of the file taken out. */
async function refusal(failing: Promise<unknown>): Promise<string> {
  const error = await failing.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof StoreError)) throw new Error('It did not fail with a StoreError.', { cause: error });
  return error.message.replaceAll(folder, 'FOLDER').replace(/store-\d+/g, 'store');
}

async function recoveredFrom(module: string): Promise<readonly unknown[]> {
  const store = await open(module);
  const records: unknown[] = [];
  for await (const record of store.recover()) records.push(record);
  return records;
}

describe('a storage module', () => {
  it.each([
    ['openStore', `export const openStore = () => (${STORE});`],
    [
      'openStore, with another default',
      `export function openStore() { return ${STORE}; }\nexport default 1;`,
    ],
    ['default', `export default async () => (${STORE});`],
  ])('opens its store by its export %s [CONFIG-016]', async (_name, text) => {
    const store = await open(await moduleOf(text));
    expect(store.commit([])).toBeUndefined();
    expect(store.close()).toBeUndefined();
  });

  it('is called each time anew, with the storage path when there is one [CONFIG-016]', async () => {
    const module = await moduleOf(
      `let count = 0; export const openStore = (options) => ({ ...${STORE}, recover: () => [++count, options] });`,
    );
    const recovered = async (path: string) => [
      ...((await open(module, path)).recover() as Iterable<unknown>),
    ];
    expect(await recovered('a place')).toEqual([1, { storagePath: 'a place' }]);
    expect(await recovered('')).toEqual([2, {}]);
  });

  it('keeps its methods, and gives back its records now or later', async () => {
    const now = `export default class { static #n = 7; }\nexport const openStore = () => new (class { #n = 7; *recover() { yield this.#n; } commit() {} close() {} })();`;
    expect(await recoveredFrom(await moduleOf(now))).toEqual([7]);
    expect(await recoveredFrom(await moduleOf(now.replace('*recover', 'async *recover')))).toEqual([7]);
  });
});

describe('a storage module that cannot be used', () => {
  it('because there is no such file [CONFIG-018]', async () => {
    expect(await refusal(open('./missing.mjs'))).toBe(
      'the storage module ./missing.mjs cannot be found: there is no file FOLDER/missing.mjs; correct storageModule, whose path starts from the working directory',
    );
  });

  it('because there is no such package [CONFIG-018]', async () => {
    expect(await refusal(open('no-such-package-of-a-store'))).toMatch(
      /^the storage module no-such-package-of-a-store cannot be loaded: .*; install the package beside truemq, or write \.\/no-such-package-of-a-store for a file of the working directory$/,
    );
  });

  it.each([
    [
      'throws when it is loaded',
      "throw new Error('no driver');",
      'the storage module ./store.mjs cannot be loaded: no driver',
    ],
    [
      'exports nothing',
      'const a = 1;',
      'the storage module ./store.mjs exports no function openStore; export one by this name or as default (it exports nothing)',
    ],
    [
      'exports something else',
      'export const open = 1, openStore = 2;',
      'the storage module ./store.mjs exports no function openStore; export one by this name or as default (it exports open, openStore)',
    ],
    [
      'cannot open its store',
      "export const openStore = async () => { throw new Error('no connection to db:5432'); };",
      'the storage module ./store.mjs cannot open its store: no connection to db:5432',
    ],
    [
      'throws what is no error',
      "export const openStore = () => { throw 'gone'; };",
      'the storage module ./store.mjs cannot open its store: gone',
    ],
    [
      'opens nothing',
      'export const openStore = () => undefined;',
      'openStore of the storage module ./store.mjs returned undefined without recover, commit, close; it must return an object with the functions recover, commit, close',
    ],
    [
      'opens half a store',
      'export const openStore = () => ({ recover: () => [], commit: 1 });',
      'openStore of the storage module ./store.mjs returned an object without commit, close; it must return an object with the functions recover, commit, close',
    ],
  ])('because it %s [CONFIG-018]', async (_what, text, message) => {
    expect(await refusal(open(await moduleOf(text)))).toBe(message);
  });

  it.each([
    ['throws', "recover: () => { throw new Error('torn'); }", 'torn'],
    ['breaks off', "*recover() { yield 1; throw new Error('torn'); }", 'torn'],
    ['breaks off later', "async *recover() { yield 1; throw new Error('torn'); }", 'torn'],
    [
      'returns no records',
      'recover: async () => []',
      'recover must return an iterable or an async iterable of records',
    ],
    [
      'returns nothing',
      'recover: () => undefined',
      'recover must return an iterable or an async iterable of records',
    ],
  ])('because its recovery %s [CONFIG-018]', async (_what, recover, reason) => {
    const module = await moduleOf(`export const openStore = () => ({ ...${STORE}, ${recover} });`);
    expect(await refusal(recoveredFrom(module))).toBe(
      `the storage module ./store.mjs cannot recover its store: ${reason}`,
    );
  });
});
