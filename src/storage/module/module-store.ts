// Opens a third party's store: loads the ES module that the configuration names, calls its `openStore`, and checks what it
// returns. Every failure becomes a StoreError that says what happened, in which module, and what to do. Implements CONFIG-016,
// CONFIG-018.

import { statSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { RecoveredRecord } from '../../broker/interface/store-record.ts';
import { type OpenModuleStore, type StorageProvider, StoreError } from '../storage-provider.ts';

export type ModuleStoreOptions = {
  /** A path, absolute or beginning with `./` or `../`, or the name of a package. */
  readonly module: string;
  /** What a relative path starts from. */
  readonly directory: string;
  /** Passed to the module; empty: none. */
  readonly storagePath: string;
};

const METHODS = ['recover', 'commit', 'close'] as const;

/** @throws StoreError when the module cannot be loaded, has no `openStore`, or opens no store */
export async function openModuleStore(options: ModuleStoreOptions): Promise<StorageProvider> {
  const name = `the storage module ${options.module}`;
  const openStore = openStoreOf(await loadModule(options, name), name);
  const { storagePath } = options;
  let store: unknown;
  try {
    store = await openStore(storagePath === '' ? {} : { storagePath });
  } catch (error) {
    throw failure(`${name} cannot open its store`, error);
  }
  return explained(checkedStore(store, name), name);
}

async function loadModule({ module, directory }: ModuleStoreOptions, name: string): Promise<object> {
  const isPath = isAbsolute(module) || /^\.{1,2}[\\/]/.test(module);
  const path = resolve(directory, module);
  if (isPath && statSync(path, { throwIfNoEntry: false }) === undefined) {
    throw new StoreError(
      `${name} cannot be found: there is no file ${path}; correct storageModule, whose path starts from the working directory`,
    );
  }
  try {
    return (await import(isPath ? pathToFileURL(path).href : module)) as object;
  } catch (error) {
    const advice = `; install the package beside truemq, or write ./${module} for a file of the working directory`;
    throw failure(`${name} cannot be loaded`, error, !isPath && isNotFound(error) ? advice : '');
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
}

/** The export `openStore`, else the default export. */
function openStoreOf(exports: object, name: string): OpenModuleStore {
  const { openStore, default: fallback } = exports as {
    readonly openStore?: unknown;
    readonly default?: unknown;
  };
  const found = openStore ?? fallback;
  if (typeof found === 'function') return found as OpenModuleStore;
  const names = Object.keys(exports).join(', ') || 'nothing';
  throw new StoreError(
    `${name} exports no function openStore; export one by this name or as default (it exports ${names})`,
  );
}

function checkedStore(store: unknown, name: string): StorageProvider {
  const methods = Object(store) as Readonly<Record<string, unknown>>;
  const missing = METHODS.filter((method) => typeof methods[method] !== 'function');
  if (missing.length === 0) return store as StorageProvider;
  const what = typeof store === 'object' && store !== null ? 'an object' : String(store);
  throw new StoreError(
    `openStore of ${name} returned ${what} without ${missing.join(', ')}; it must return an object with the functions ${METHODS.join(', ')}`,
  );
}

/** The same store, whose failures at a recovery say which module they come from. */
function explained(store: StorageProvider, name: string): StorageProvider {
  const what = `${name} cannot recover its store`;
  return {
    recover: () => {
      const records = recordsOf(store, what);
      if (Symbol.asyncIterator in records) return explainedLater(records, what);
      if (Symbol.iterator in records) return explainedNow(records, what);
      throw new StoreError(`${what}: recover must return an iterable or an async iterable of records`);
    },
    commit: (records) => store.commit(records),
    close: () => store.close(),
  };
}

function recordsOf(store: StorageProvider, what: string): ReturnType<StorageProvider['recover']> {
  try {
    return Object(store.recover());
  } catch (error) {
    throw failure(what, error);
  }
}

function* explainedNow(records: Iterable<RecoveredRecord>, what: string): Iterable<RecoveredRecord> {
  try {
    yield* records;
  } catch (error) {
    throw failure(what, error);
  }
}

async function* explainedLater(
  records: AsyncIterable<RecoveredRecord>,
  what: string,
): AsyncIterable<RecoveredRecord> {
  try {
    yield* records;
  } catch (error) {
    throw failure(what, error);
  }
}

function failure(what: string, error: unknown, advice = ''): StoreError {
  const reason = error instanceof Error ? error.message : String(error);
  return new StoreError(`${what}: ${reason}${advice}`, { cause: error });
}
