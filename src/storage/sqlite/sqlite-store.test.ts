// The SQLite store does what every store must.

import { newFilePlace } from '../../testing/file-places.ts';
import { describeStorageContract } from '../../testing/storage-contract.ts';
import { openSqliteStore } from './sqlite-store.ts';

describeStorageContract('the SQLite store', {
  newPlace: () => newFilePlace((path) => openSqliteStore({ path, synchronous: 'normal' })),
  isDurable: true,
});
