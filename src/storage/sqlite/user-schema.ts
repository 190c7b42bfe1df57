// The tables of users and access lists: their names are those that existing brokers use, whose files this broker opens too and leaves as they
// are, apart from their rows. A released migration is never changed. Implements AUTH-059.

import type { Database } from './driver.ts';

/** "TMQU": marks the file, in its header, as a user database of this broker. Files of existing brokers have 0. */
export const USER_APPLICATION_ID = 0x54_4d_51_55;

/** What each step does to a file of the version before it; the first one starts from an empty file. */
const migrations: readonly ((database: Database) => void)[] = [createFirstVersion];

/** The version that this broker reads and writes. */
export const USER_SCHEMA_VERSION = migrations.length;

/** The columns that this broker reads and writes. */
const columns = {
  users: ['username', 'password_hash', 'is_superuser', 'created_at', 'updated_at'],
  permissions: ['username', 'queue_pattern', 'operations', 'created_at'],
} as const;

/** Brings a file of this broker to the newest version, in one transaction. */
export function migrateUsers(database: Database, fromVersion: number): void {
  if (fromVersion === USER_SCHEMA_VERSION) return;
  database.transaction(() => {
    for (const step of migrations.slice(fromVersion)) step(database);
    database.pragma(`application_id = ${USER_APPLICATION_ID}`);
    database.pragma(`user_version = ${USER_SCHEMA_VERSION}`);
  })();
}

// Times are Unix seconds; operations are a JSON array of the numbers of QueueOperation.
function createFirstVersion(database: Database): void {
  database.exec(`
    CREATE TABLE users (
      username TEXT NOT NULL PRIMARY KEY,
      password_hash TEXT NOT NULL,
      is_superuser INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL
    );
    CREATE TABLE permissions (
      username TEXT NOT NULL REFERENCES users (username),
      queue_pattern TEXT NOT NULL,
      operations TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      PRIMARY KEY (username, queue_pattern)
    );
  `);
}

type Column = {
  readonly name: string;
  readonly type: string;
  readonly notnull: number;
  readonly dflt_value: unknown;
  readonly pk: number;
};

/** Why the tables cannot be used; undefined if they can. Further columns may be there if a new row needs no value for them. */
export function findTableProblem(database: Database): string | undefined {
  for (const [table, needed] of Object.entries(columns)) {
    const found = database.prepare<[string], Column>('SELECT * FROM pragma_table_info(?)').all(table);
    if (found.length === 0) return `it has no table ${table}, so it is a database of another program`;
    const names = found.map(({ name }) => name.toLowerCase());
    const missing = needed.find((name) => !names.includes(name));
    if (missing !== undefined) return `its table ${table} has no column ${missing}`;
    const further = found.filter(({ name }) => !needed.some((known) => known === name.toLowerCase()));
    const demanding = further.find(needsValue);
    if (demanding !== undefined) {
      return `its table ${table} has a column ${demanding.name} that this broker has no value for`;
    }
  }
  return undefined;
}

function needsValue({ type, notnull, dflt_value, pk }: Column): boolean {
  // SQLite itself numbers the rows of a single integer key.
  const isNumbered = pk === 1 && type.toUpperCase() === 'INTEGER';
  return !isNumbered && (notnull === 1 || pk > 0) && dflt_value === null;
}

/** What sorts the rows of a table by the time at which they were added. */
export function orderOfCreation(database: Database, table: keyof typeof columns): string {
  const list = 'SELECT wr FROM pragma_table_list WHERE schema = ? AND name = ?';
  const isWithoutRowId = database.prepare<[string, string], number>(list).pluck().get('main', table) === 1;
  return isWithoutRowId ? 'created_at' : 'rowid';
}
