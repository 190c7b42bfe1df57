// A third party's store, end to end: the built package is installed in an empty folder, and the files of the guide are used there
// as they are shown. The contract suite runs without a test framework of ours, the broker keeps messages in the store over a
// kill -9, and TypeScript finds the types.

import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../client/index.ts';
import { startProcess } from '../../testing/crash/broker-process.ts';
import { guideExample, writeGuideExample } from '../../testing/guide-example.ts';
import { checkTypes, installPackage, runNode } from '../../testing/installed-package.ts';
import { newFolder } from '../contract/file-place.ts';

const free = [
  '--port',
  '0',
  '--health-port',
  '0',
  '--dashboard',
  'off',
  '--rate-limit',
  'off',
  '--print-ready',
];

let folder: string;

beforeAll(async () => {
  folder = await newFolder();
  await installPackage(folder);
  await writeGuideExample(folder, 'my-store.mjs');
  await writeGuideExample(folder, 'my-store.test.mjs');
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const run = (...args: readonly string[]) => runNode(folder, ...args);

function serve(...flags: readonly string[]) {
  return ['node_modules/truemq/dist/cli/main.js', 'serve', ...free, ...flags];
}

describe('a store of a third party', () => {
  it('passes the contract suite under node:test, and a store that keeps too much does not', async () => {
    const suite = ['--test', '--test-reporter', 'tap'];
    const good = await run(...suite, 'my-store.test.mjs');
    expect(good.output).toMatch(/^# fail 0$/m);
    expect(Number(/^# pass (\d+)$/m.exec(good.output)?.[1])).toBeGreaterThan(30);
    expect(good.code).toBe(0);

    const forgetful = guideExample('my-store.mjs').replace('messages.delete(sequence)', 'undefined');
    await writeFile(join(folder, 'bad-store.mjs'), forgetful);
    const tests = guideExample('my-store.test.mjs').replaceAll('my-store.mjs', 'bad-store.mjs');
    await writeFile(join(folder, 'bad-store.test.mjs'), tests);
    const bad = await run(...suite, 'bad-store.test.mjs');
    expect(bad.output).toMatch(/^ *not ok \d+ - as it is: gives back nothing that has left/m);
    expect(bad.output).toMatch(/the history of seed \d+ fails/);
    expect(bad.code).toBe(1);
  });

  it('keeps the messages of a broker that is killed [CONFIG-016, DURABLE-003]', async () => {
    const args = serve('--storage-module', './my-store.mjs', '--storage-path', 'kept.jsonl');
    const first = await startProcess(args, folder);
    const publisher = await connect({ port: first.port, reconnect: false });
    for (let n = 1; n <= 20; n += 1) await publisher.publish('orders', { n });
    await first.kill();
    await publisher.closed;
    expect(await readFile(join(folder, 'kept.jsonl'), 'utf8')).toContain('"messageAdded"');

    const second = await startProcess(args, folder);
    const subscriber = await connect({ port: second.port });
    const received: unknown[] = [];
    await new Promise<void>((resolve, reject) => {
      const take = (payload: unknown) => {
        if (received.push(payload) === 20) resolve();
      };
      subscriber.subscribe('orders', (message) => take(message.json())).catch(reject);
    });
    expect(received).toEqual(Array.from({ length: 20 }, (_, index) => ({ n: index + 1 })));
    await subscriber.close();
    expect(await second.stop()).toBe(0);
  });

  it('is refused in one line when it cannot be opened, and beside another storage [CONFIG-017, CONFIG-018]', async () => {
    const missing = await run(...serve('--storage-module', './missing.mjs'));
    expect(missing).toEqual({
      code: 1,
      output: expect.stringMatching(/^truemq: the storage module \.\/missing\.mjs cannot be found: .*\n$/),
    });
    const both = await run(...serve('--storage-module', './my-store.mjs', '--storage', 'memory'));
    expect(both.code).toBe(2);
    expect(both.output).toMatch(/^truemq: storage memory \(flag --storage\) and storageModule .*\n/);
  });

  it('finds the types of the port, of its records and of the suite', async () => {
    const text = `
import { type OpenModuleStore, type RecoveredRecord, type StoreRecord, storageContract } from 'truemq/store';
export const openStore: OpenModuleStore = ({ storagePath }) => {
  const kept: RecoveredRecord[] = [];
  const take = (record: StoreRecord) => {
    if (record.kind === 'queueCreated') kept.push({ ...record, kind: 'queue', name: record.name + storagePath });
  };
  return { recover: () => kept, commit: (records) => records.forEach(take), close: () => undefined };
};
const place = { open: async () => openStore({}), copy: async () => place, remove: async () => undefined };
export const names: readonly string[] = storageContract({ newPlace: async () => place, isDurable: false }).map(({ name }) => name);
// @ts-expect-error commit is missing
export const half: OpenModuleStore = () => ({ recover: () => [], close: () => undefined });
`;
    await writeFile(join(folder, 'typed.mts'), text);
    const { output, code } = await checkTypes(folder, 'typed.mts');
    expect(output).toBe('');
    expect(code).toBe(0);
  });
});
