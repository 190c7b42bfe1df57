// What is native of a database lasts, and is little when the database is closed.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { collectGarbage, retainedBytes } from '../../testing/retained-memory/garbage.ts';
import { type Database, loadDriver } from './driver.ts';

const folder = mkdtempSync(join(tmpdir(), 'truemq-lasting-'));
afterAll(() => rmSync(folder, { recursive: true }));

const Driver = await loadDriver();
const path = join(folder, 'lasting.db');

type Made = { readonly natives: WeakRef<object>[]; readonly garbage: WeakRef<object> };

/** Does with a database what the stores do, closes it and forgets it. */
function use(made: (native: object) => void): void {
  const database: Database = new Driver(path);
  made(database);
  database.exec('CREATE TABLE IF NOT EXISTS t (x)');
  database.pragma('user_version = 7');
  const insert = database.prepare('INSERT INTO t VALUES (?)');
  made(insert);
  database.transaction(() => void insert.run(1))();
  const select = database.prepare<[], number>('SELECT x FROM t');
  made(select);
  const rows = select.pluck().iterate();
  made(rows);
  expect([...rows]).toContain(1);
  database.close();
}

describe('native objects', () => {
  it('of a database that is closed and forgotten are never collected', async () => {
    // In a turn of its own: a weak reference that was made in this one holds its target.
    const { natives, garbage } = await new Promise<Made>((resolve) => {
      setImmediate(() => {
        const made: Made = { natives: [], garbage: new WeakRef({}) };
        use((native) => made.natives.push(new WeakRef(native)));
        resolve(made);
      });
    });
    await collectGarbage();
    expect(garbage.deref()).toBeUndefined();
    expect(natives.map((native) => native.deref() === undefined)).toEqual([false, false, false, false]);
  });

  it('take no more than 16 KiB for each time that a database was opened, used and closed', async () => {
    use(() => undefined);
    const before = await retainedBytes();
    for (let count = 0; count < 50; count += 1) use(() => undefined);
    expect(((await retainedBytes()) - before) / 50).toBeLessThan(16 * 1024);
  });
});

describe('a pragma', () => {
  it('is answered as by better-sqlite3', () => {
    const database = new Driver(':memory:');
    expect(database.pragma('user_version = 6')).toEqual([]);
    expect(database.pragma('user_version = 7', { simple: true })).toBeUndefined();
    expect(database.pragma('user_version', { simple: true })).toBe(7);
    expect(database.pragma('user_version')).toEqual([{ user_version: 7 }]);
    expect(database.pragma('synchronous', { simple: true })).toBe(2);
    expect(() => database.pragma('user_version = )')).toThrow('syntax error');
    database.close();
  });
});
