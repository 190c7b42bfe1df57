// The one place that loads better-sqlite3. It is an optional dependency with native code, so it is loaded only when a durable store is
// opened. If it is missing, the error says what to do.

import type { default as DatabaseConstructor } from 'better-sqlite3';
import { StoreError } from '../storage-provider.ts';
import { lasting } from './lasting-database.ts';

export type Database = DatabaseConstructor.Database;
export type Statement<Parameters extends unknown[], Row = unknown> = DatabaseConstructor.Statement<
  Parameters,
  Row
>;

type Package = typeof DatabaseConstructor;
type Driver = Pick<Package, 'SqliteError'> &
  (new (
    ...parameters: ConstructorParameters<Package>
  ) => Database);

/** The constructor of databases, which last until the process ends. Rejects with StoreError where the package is missing or does not run here. */
export async function loadDriver(
  load: () => Promise<{ default: Package }> = () => import('better-sqlite3'),
): Promise<Driver> {
  try {
    return ofLasting((await load()).default);
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error);
    throw new StoreError(
      'storage sqlite needs the package better-sqlite3, which is not installed or does not run here: install it with ' +
        `"npm install better-sqlite3@12.11.1", or use --storage memory (${reason})`,
      { cause: error },
    );
  }
}

function ofLasting(driver: Package): Driver {
  return class extends driver {
    constructor(...parameters: ConstructorParameters<Package>) {
      super(...parameters);
      lasting(this);
    }
  };
}
