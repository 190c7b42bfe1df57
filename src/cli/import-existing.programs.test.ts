// Moving from an existing broker, end to end: the import as a command, a broker on its result, and a client that gets the messages. And a source that
// another process uses.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Client, connect, type ReceivedMessage } from '../client/index.ts';
import { newFolder } from '../storage/contract/file-place.ts';
import { startBrokerProcess } from '../testing/crash/broker-process.ts';
import { runNode } from '../testing/installed-package.ts';
import { truemqProgram } from '../testing/truemq-program.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const fixture = join(root, 'fixtures/storage/existing-broker.db');

let folder: string;
let target: string;

beforeEach(async () => {
  folder = await newFolder();
  target = join(folder, 'truemq.db');
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const importFrom = (source: string) =>
  runNode(root, ...truemqProgram, 'store', 'import', target, '--from-existing', source);

/** The first `count` messages of the queue. */
function receive(client: Client, queue: string, count: number): Promise<readonly ReceivedMessage[]> {
  const received: ReceivedMessage[] = [];
  return new Promise((resolve, reject) => {
    const take = (message: ReceivedMessage) => {
      if (received.push(message) === count) resolve(received);
    };
    client.subscribe(queue, take).catch(reject);
  });
}

it('a broker delivers what was imported, in order and with headers', async () => {
  expect(await importFrom(fixture)).toMatchObject({ code: 0 });
  const broker = await startBrokerProcess(target);
  const client = await connect({ port: broker.port, reconnect: false });
  expect([...(await client.listQueues())].sort()).toEqual([
    'alarms',
    'orders',
    'orders.dlq',
    'rapports.été',
    'rejected',
  ]);

  const orders = await receive(client, 'orders', 3);
  expect(orders.map(({ id }) => id)).toEqual(['o-1', 'o-2', 'o-3']);
  expect(orders[0]?.payload.toString()).toBe('{"price":1.50,"n":12345678901234567890}');
  expect([...(orders[1]?.headers ?? [])]).toEqual([
    ['correlationId', 'c-1'],
    ['x-größe', 'ä'],
  ]);
  expect(orders[2]?.json()).toBeUndefined();
  expect(orders[2]?.attemptCount).toBe(3);

  const alarms = await receive(client, 'alarms', 2);
  expect(alarms.map(({ id, headers }) => [id, headers.get('priority')])).toEqual([
    ['a-2', 'critical'],
    ['a-1', 'Low'],
  ]);
  const [letter] = await receive(client, 'orders.dlq', 1);
  expect(Object.fromEntries(letter?.headers ?? [])).toEqual({
    correlationId: 'c-9',
    deadLetterReason: 'MaxRetriesExceeded',
    deadLetterSource: 'orders',
    deadLetterAttempts: '5',
    deadLetteredAt: '2026-02-18T10:33:00Z',
  });
  await client.close();
  expect(await broker.stop()).toBe(0);
});

it('a source that another process has open is refused, and can be imported when that process has been killed', async () => {
  const source = join(folder, 'vibemq.db');
  await copyFile(fixture, source);
  const program = `
    const database = new (require('better-sqlite3'))(process.argv[1]);
    database.prepare("UPDATE messages SET priority = 2 WHERE id = 'o-1'").run();
    console.log('open');
    process.stdin.resume();
  `;
  const other = spawn(process.execPath, ['-e', program, source], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(other.stdout, 'data');
  const refused = await importFrom(source);
  expect(refused).toEqual({
    code: 1,
    output: `truemq: the database ${source} cannot be imported: another program uses it; stop that broker first\n`,
  });
  other.kill('SIGKILL');
  await once(other, 'close');
  const files = (await readdir(folder)).sort();
  expect(files).toEqual(['vibemq.db', 'vibemq.db-shm', 'vibemq.db-wal']);
  expect(await importFrom(source)).toMatchObject({ code: 0 });
  expect((await readdir(folder)).sort()).toEqual(['truemq.db', ...files]);
});
