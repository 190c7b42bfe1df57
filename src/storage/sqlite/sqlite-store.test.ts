// The SQLite store does what every store must.

import { describeStorageContract } from '../../testing/storage-contract.ts';
import { newFilePlace } from '../contract/file-place.ts';
import { openSqliteStore } from './sqlite-store.ts';

describeStorageContract('the SQLite store', {
  newPlace: () => newFilePlace((path) => openSqliteStore({ path, synchronous: 'normal' })),
  isDurable: true,
});
