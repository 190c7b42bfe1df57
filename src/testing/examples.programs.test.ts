// Every program of docs/examples: its types are right, and it does against a broker what it promises.

import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../client/index.ts';
import { type BrokerOptions, createBroker, type EmbeddedBroker } from '../server/create-broker.ts';
import { newFolder } from '../storage/contract/file-place.ts';
import { ExampleProgram, exampleNames, installExamples } from './example-program.ts';
import { runNode } from './installed-package.ts';
import { tlsFixture } from './tls-fixture.ts';

const names = await exampleNames();

let folder: string;
let brokers: EmbeddedBroker[] = [];
let programs: ExampleProgram[] = [];
const tried = new Set<string>();

beforeAll(async () => {
  folder = await newFolder();
  await installExamples(folder);
});

afterEach(async () => {
  for (const program of programs) program.kill('SIGKILL');
  await Promise.all(brokers.map((broker) => broker.stop()));
  [programs, brokers] = [[], []];
});

afterAll(() => rm(folder, { recursive: true, force: true }));

async function start(options: BrokerOptions = {}): Promise<EmbeddedBroker> {
  const broker = await createBroker({ rateLimit: false, shutdownTimeout: '1s', ...options });
  brokers.push(broker);
  return broker;
}

function run(
  name: string,
  args: readonly string[],
  environment?: Readonly<Record<string, string>>,
): ExampleProgram {
  tried.add(name);
  const program = new ExampleProgram(folder, [name, ...args], environment);
  programs.push(program);
  return program;
}

describe('work-queue.ts', () => {
  it('makes what can be made, and gives up on the rest after three attempts', async () => {
    const { url } = await start({ retryDelay: '10ms' });
    const lines = await run('work-queue.ts', [url]).finish();
    expect([...lines].sort()).toEqual([
      'failed: attempt 1 to read broken.png',
      'failed: attempt 2 to read broken.png',
      'failed: attempt 3 to read broken.png',
      'gave up on broken.png',
      'made a thumbnail of one.png',
      'made a thumbnail of two.png',
    ]);
    expect(lines.at(-1)).toBe('gave up on broken.png');
  });
});

describe('fan-out.ts', () => {
  it('brings each order to each service, in order', async () => {
    const { url } = await start();
    const lines = await run('fan-out.ts', [url]).finish();
    for (const service of ['billing', 'shipping', 'statistics']) {
      const own = lines.filter((line) => line.startsWith(service));
      expect(own).toEqual([`${service}: order 1, tea`, `${service}: order 2, cups`]);
    }
    expect(lines).toHaveLength(6);
  });
});

describe('priorities.ts', () => {
  it('prints the most urgent alert first', async () => {
    const { url } = await start();
    expect(await run('priorities.ts', [url]).finish()).toEqual([
      'Critical: the cellar is on fire',
      'High: a disk is nearly full',
      'Normal: a certificate expires in a month',
      'Low: the weekly report is ready',
    ]);
  });
});

describe('durable-jobs.ts', () => {
  it('handles after a restart what was saved before, once each', async () => {
    const storage = { storage: 'sqlite', storagePath: join(folder, 'jobs.db') } as const;
    const first = await start(storage);
    expect(await run('durable-jobs.ts', [first.url, 'add']).finish()).toEqual([
      'saved 2026-11-ann',
      'saved 2026-11-bob',
      'saved 2026-11-ann',
    ]);
    await first.stop();
    const { url, port } = await start(storage);
    expect(await run('durable-jobs.ts', [url, 'work']).finish()).toEqual([
      'sent the invoice 2026-11-ann to ann',
      'sent the invoice 2026-11-bob to bob',
    ]);
    const client = await connect({ port, reconnect: false });
    expect(await client.queueInfo('invoices')).toMatchObject({ messageCount: 0 });
    await client.close();
  });
});

describe('request-reply.ts', () => {
  it('prints the answers to both requests', async () => {
    const { url } = await start();
    expect(await run('request-reply.ts', [url]).finish()).toEqual(['tea costs 4, cups cost 12']);
  });
});

describe('backpressure.ts', () => {
  it('publishes and handles everything, and the source is never far ahead', async () => {
    const { url } = await start();
    const [counts, lead = ''] = await run('backpressure.ts', [url]).finish();
    expect(counts).toBe('published 600, handled 600');
    // The queue, the window and the messages in flight, and a few on their way.
    const largest = Number(/^the source was at most (\d+) readings ahead$/.exec(lead)?.[1]);
    expect(largest).toBeGreaterThan(100);
    expect(largest).toBeLessThan(250);
  });
});

describe('tls-and-users.ts', () => {
  it('may do what was granted, and nothing else', async () => {
    const { url } = await start({
      tlsCertificatePath: tlsFixture('server.crt'),
      tlsKeyPath: tlsFixture('server.key'),
      superuserPassword: 'super-secret',
      passwordCost: 4,
    });
    const program = run('tls-and-users.ts', [url, tlsFixture('ca.crt')], { BROKER_PASSWORD: 'super-secret' });
    expect(await program.finish()).toEqual([
      'shop may publish to orders.eu',
      'shop may not subscribe: NOT_AUTHORIZED',
    ]);
  });
});

describe('graceful-shutdown.ts', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'finishes the job that it has begun at %s, and leaves the next one',
    async (signal) => {
      const { url, port } = await start();
      const program = run('graceful-shutdown.ts', [url]);
      expect(await program.line()).toBe('ready');
      const client = await connect({ port, reconnect: false });
      for (const name of ['one', 'two']) await client.publish('jobs', { name });
      expect(await program.line()).toBe('began one');
      program.kill(signal);
      expect(await program.finish()).toEqual(['finished one', 'disconnected']);
      const left: unknown[] = [];
      for await (const message of client.messages<{ name: string }>('jobs')) {
        left.push(message.json().name, message.attemptCount);
        break;
      }
      expect(left).toEqual(['two', 1]);
      await client.close();
    },
  );
});

describe('h3-publisher.ts', () => {
  it('publishes orders, refuses what is none, and says when there is no broker', async () => {
    const broker = await start();
    const program = run('h3-publisher.ts', [broker.url, '0']);
    const url = await program.line();
    const post = (body: string) => fetch(url, { method: 'POST', body, headers: { connection: 'close' } });
    const accepted = await post('{"item":"tea","count":2}');
    expect(accepted.status).toBe(202);
    const { id } = (await accepted.json()) as { id: string };
    const client = await connect({ port: broker.port, reconnect: false });
    for await (const message of client.messages('orders')) {
      expect([message.id, message.json()]).toEqual([id, { item: 'tea', count: 2 }]);
      break;
    }
    await client.close();
    expect((await post('{"item":"tea"}')).status).toBe(400);
    expect((await post('tea')).status).toBe(400);
    await broker.stop();
    expect((await post('{"item":"tea","count":2}')).status).toBe(503);
    program.kill('SIGTERM');
    expect(await program.finish()).toEqual([]);
  });
});

describe('vitest-fixture.test.ts', () => {
  it('has tests that pass', async () => {
    tried.add('vitest-fixture.test.ts');
    const { code, output } = await runNode(
      folder,
      'node_modules/vitest/vitest.mjs',
      'run',
      '--root',
      '.',
      '--reporter',
      'tap-flat',
    );
    expect(output).toMatch(/^ok 1 .*an order reaches its subscriber/m);
    expect(output).toMatch(/^ok 2 .*an order whose handler fails is tried again/m);
    expect(code).toBe(0);
  });
});

describe('the examples', () => {
  it('have types without errors', async () => {
    const { output } = await runNode(folder, 'node_modules/typescript/bin/tsc', '-p', '.');
    expect(output).toBe('');
  });

  it('are all run by these tests', () => {
    expect([...tried].sort()).toEqual(names);
  });

  it('are all listed in their index', async () => {
    const index = await readFile(new URL('../../docs/examples/README.md', import.meta.url), 'utf8');
    const listed = [...index.matchAll(/^\| \[(\S+)\]\(\1\)/gm)].map(([, name]) => name);
    expect(listed.sort()).toEqual(names);
  });
});
