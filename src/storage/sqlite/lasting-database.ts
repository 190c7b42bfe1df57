// Keeps every native object of a database until the process ends. From 24.19 on Node.js ends the process ("Assertion failed: (env) != nullptr")
// when V8 collects an object of better-sqlite3 12 while no script runs, and version 13 does not run on Node.js 20
// (docs/decisions/0037-native-objects-last.md). A database that is closed has given all memory of SQLite back, so little is kept.

import type { Database, Statement } from './driver.ts';

type Prepare = (source: string) => Statement<unknown[]>;

const kept: object[] = [];

/** The same database: it, its statements and their iterators are never collected. Call it before anything else is done with it. */
export function lasting(database: Database): Database {
  const prepareOnce = database.prepare.bind(database) as Prepare;
  const prepare: Prepare = (source) => lastingStatement(prepareOnce(source));
  // The one of better-sqlite3 leaves a statement behind.
  const pragma: Database['pragma'] = (source, { simple = false } = {}) => {
    const statement = prepare(`PRAGMA ${source}`);
    const isSetting = !statement.reader;
    if (isSetting) statement.run();
    if (simple) return isSetting ? undefined : statement.pluck().get();
    return isSetting ? [] : statement.all();
  };
  return keep(Object.assign(database, { prepare, pragma }));
}

function lastingStatement(statement: Statement<unknown[]>): Statement<unknown[]> {
  const iterateOnce = statement.iterate.bind(statement);
  const iterate: typeof iterateOnce = (...parameters) => keep(iterateOnce(...parameters));
  return keep(Object.assign(statement, { iterate }));
}

function keep<Native extends object>(native: Native): Native {
  kept.push(native);
  return native;
}
