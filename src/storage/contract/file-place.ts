// Places for stores that keep their bytes in files: folders in the machine's temporary folder. For tests of such stores.

import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StorageProvider } from '../storage-provider.ts';
import type { StorePlace } from './contract-case.ts';

/** An empty folder as a place; `open` receives the path of a file in it. */
export async function newFilePlace(open: (path: string) => Promise<StorageProvider>): Promise<StorePlace> {
  return placeIn(await newFolder(), open);
}

/** A new folder; the caller removes it. */
export function newFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'truemq-store-'));
}

function placeIn(folder: string, open: (path: string) => Promise<StorageProvider>): StorePlace {
  return {
    open: () => open(join(folder, 'store')),
    copy: async () => {
      const copy = await newFolder();
      await cp(folder, copy, { recursive: true });
      return placeIn(copy, open);
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
