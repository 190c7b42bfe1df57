// The minimal durable store for the relay: every message is a row of an SQLite file, with one transaction per turn of the event loop. The
// transaction is on the disk (synchronous FULL) before the relay confirms or delivers. Only this file needs better-sqlite3.
import { join } from 'node:path';
import type { Message } from './relay.ts';

type Statement = { run(...values: readonly unknown[]): unknown };
type Database = {
  exec(sql: string): unknown;
  prepare(sql: string): Statement;
};
type Driver = new (path: string) => Database;

type Added = { readonly message: Message; readonly whenSafe: () => void };

export class Ledger {
  readonly #insert: Statement;
  readonly #delete: Statement;
  readonly #begin: Statement;
  readonly #commit: Statement;
  #added: Added[] = [];
  #removed: number[] = [];
  #nextRow = 1;
  #isScheduled = false;

  constructor(database: Database) {
    database.exec('PRAGMA journal_mode = WAL');
    database.exec('PRAGMA synchronous = FULL');
    database.exec('CREATE TABLE messages (row INTEGER PRIMARY KEY, frame BLOB NOT NULL)');
    this.#insert = database.prepare('INSERT INTO messages VALUES (?, ?)');
    this.#delete = database.prepare('DELETE FROM messages WHERE row = ?');
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#commit = database.prepare('COMMIT');
  }

  /** Undefined if the driver is not installed. */
  static async open(folder: string): Promise<Ledger | undefined> {
    const driver = await loadDriver();
    return driver === undefined ? undefined : new Ledger(new driver(join(folder, 'skeleton.db')));
  }

  add(message: Message, whenSafe: () => void): void {
    this.#added.push({ message, whenSafe });
    this.#schedule();
  }

  remove(row: number): void {
    this.#removed.push(row);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#turnOver());
  }

  #turnOver(): void {
    this.#isScheduled = false;
    const [added, removed] = [this.#added, this.#removed];
    this.#added = [];
    this.#removed = [];
    this.#begin.run();
    for (const { message } of added) {
      message.row = this.#nextRow;
      this.#nextRow += 1;
      this.#insert.run(message.row, message);
    }
    for (const row of removed) this.#delete.run(row);
    this.#commit.run();
    for (const { whenSafe } of added) whenSafe();
  }
}

/** Imports by a computed name, so that no bundler includes the package. */
async function loadDriver(name = 'better-sqlite3'): Promise<Driver | undefined> {
  try {
    return ((await import(name)) as { readonly default: Driver }).default;
  } catch {
    return undefined;
  }
}
