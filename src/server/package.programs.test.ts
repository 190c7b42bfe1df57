// The package as its users get it: each entry exists, has types and loads; an embedded broker leaves nothing behind that keeps its program
// alive; the client loads nothing of the broker and no package. Prints the size of the client.

import { spawnSync } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newFolder } from '../storage/contract/file-place.ts';
import { writeGuideExample } from '../testing/guide-example.ts';
import { checkTypes, installPackage, runNode } from '../testing/installed-package.ts';

let folder: string;
let home: string;

beforeAll(async () => {
  folder = await newFolder();
  home = join(folder, 'node_modules/truemq');
  await installPackage(folder);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

type Entry = { readonly types: string; readonly default: string };
type Manifest = { readonly exports: Readonly<Record<string, Entry>> };

/** The relative imports of a module in JavaScript, and all others. */
function importsOf(text: string): { readonly own: readonly string[]; readonly foreign: readonly string[] } {
  const named = [...text.matchAll(/\b(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g)].map(
    ([, name = '']) => name,
  );
  return {
    own: named.filter((name) => name.startsWith('.')),
    foreign: named.filter((name) => !name.startsWith('.')),
  };
}

/** The text of each module that the one at `path` loads, itself included, by path; and what else they import. */
async function modulesFrom(path: string) {
  const texts = new Map<string, string>();
  const foreign = new Set<string>();
  const waiting = [path];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (texts.has(next)) continue;
    const text = await readFile(next, 'utf8');
    texts.set(next, text);
    const imports = importsOf(text);
    for (const name of imports.foreign) foreign.add(name);
    for (const name of imports.own) waiting.push(join(dirname(next), name));
  }
  return { texts, foreign };
}

const typed = `
import { type BrokerOptions, createBroker, ListenError } from 'truemq';
import { type Client, connect } from 'truemq/client';
import { storageContract } from 'truemq/store';
const options: BrokerOptions = { ackTimeout: '5s', maxMessageSize: 65_536, storage: 'sqlite', health: true, defaultDeliveryMode: 'PriorityBased' };
const broker = await createBroker(options);
const where: readonly [string, number, string, string | undefined] = [broker.host, broker.port, broker.url, broker.health];
const client: Client = await connect({ port: broker.port });
const stopped: Promise<void> = broker[Symbol.asyncDispose]();
console.log(where, client, stopped, ListenError, storageContract);
// @ts-expect-error a key that does not exist
await createBroker({ prot: 1 });
// @ts-expect-error a value that is not allowed
await createBroker({ storage: 'disk' });
// @ts-expect-error the log goes to a logger
await createBroker({ logLevel: 'debug' });
`;

const program = `
import { createBroker } from 'truemq';
import { connect } from 'truemq/client';

async function useBroker(options, credentials) {
  const broker = await createBroker(options);
  const client = await connect({ port: broker.port, reconnect: false, ...credentials });
  await client.publish('orders', { n: 1 });
  await client.subscribe('orders', () => undefined);
  await broker.stop();
  await client.closed;
}
const before = process.getActiveResourcesInfo();
const users = { superuserPassword: 'a password', authDatabasePath: ':memory:', passwordCost: 4 };
await Promise.all([useBroker({ health: true, dashboard: true }, {}), useBroker({ shutdownTimeout: '1s' }, {})]);
await useBroker(users, { username: 'vibemq', password: 'a password' });
await createBroker({ port: 70_000 }).catch((error) => console.log(error.message));
// What is closed is released in the next turns of the event loop.
for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
const known = ['CloseReq', 'PipeWrap', 'TTYWrap', ...before];
console.log(JSON.stringify(process.getActiveResourcesInfo().filter((name) => !known.includes(name))));
`;

describe('the package', () => {
  it('contains the files that its exports name', async () => {
    const pack = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: home,
      encoding: 'utf8',
    });
    const [{ files }] = JSON.parse(pack.stdout) as [{ files: readonly { readonly path: string }[] }];
    const packed = new Set(files.map(({ path }) => `./${path}`));
    const { exports }: Manifest = JSON.parse(await readFile(join(home, 'package.json'), 'utf8'));
    expect(Object.keys(exports)).toEqual(['.', './client', './store']);
    const named = Object.values(exports).flatMap((entry) => [entry.types, entry.default]);
    expect(named.filter((path) => !packed.has(path))).toEqual([]);
  });

  it('has types for each entry', async () => {
    await writeFile(join(folder, 'typed.mts'), typed);
    expect(await checkTypes(folder, 'typed.mts')).toEqual({ code: 0, output: '' });
  });

  it('starts brokers in a program, which ends when they have stopped', async () => {
    await writeFile(join(folder, 'program.mjs'), program);
    const { code, output } = await runNode(folder, 'program.mjs');
    expect(output.split('\n')).toEqual([
      'port (option): came 70000; allowed is a port from 1 to 65535, or 0 for any free one',
      '[]',
      '',
    ]);
    expect(code).toBe(0);
  });

  it('runs the test that the guide shows', async () => {
    await writeGuideExample(folder, 'orders.test.mjs', 'embed-a-broker.md');
    const { code, output } = await runNode(folder, '--test', '--test-reporter', 'tap', 'orders.test.mjs');
    expect(output).toMatch(/^# pass 1$/m);
    expect(code).toBe(0);
  });

  it('has a client that loads no package and nothing of the broker', async () => {
    const { texts, foreign } = await modulesFrom(join(home, 'dist/client/index.js'));
    expect([...foreign].filter((name) => !name.startsWith('node:'))).toEqual([]);
    const folders = [...texts.keys()].map((path) => relative(join(home, 'dist'), path).split('/')[0]);
    expect([...new Set(folders)].sort()).toEqual(['client', 'compression', 'model', 'protocol', 'session']);
    const all = [...texts.values()].join('');
    console.log(
      `truemq/client: ${texts.size} files, ${Buffer.byteLength(all)} bytes, ${gzipSync(all).length} gzipped`,
    );
  });
});
