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

/**
 * The constructor of databases, which last until the process ends. Rejects with StoreError, before any file is touched, where the package is
 * missing or does not run here.
 */
export async function loadDriver(
  load: () => Promise<{ default: Package }> = () => import('better-sqlite3'),
): Promise<Driver> {
  try {
    const driver = ofLasting((await load()).default);
    // The package loads its native code with the first database.
    new driver(':memory:').close();
    return driver;
  } catch (error) {
    const reason = error instanceof Error ? error.message.split(/(?: Tried:)?\n/)[0] : String(error);
    const problem = `storage sqlite needs ${packageProblem(error)}, or use --storage memory (${reason})`;
    throw new StoreError(problem, { cause: error });
  }
}

/** What is wrong with the package, and how to mend it. `error`: what its import or its first database has thrown. */
export function packageProblem(error: unknown): string {
  const isMissing = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
  return isMissing
    ? 'the package better-sqlite3, which is not installed: install it with "npm install better-sqlite3@12.11.1"'
    : 'the package better-sqlite3, which is not compiled for this Node.js: compile it with "npm rebuild better-sqlite3"';
}

function ofLasting(driver: Package): Driver {
  return class extends driver {
    constructor(...parameters: ConstructorParameters<Package>) {
      super(...parameters);
      lasting(this);
    }
  };
}
