// A broker inside this process: what its object says, that it is a broker of its own, and that nothing of it is left after a stop or a failed
// start. Over loopback, with real clients.

import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Client, connect } from '../client/index.ts';
import { tlsFixture } from '../testing/tls-fixture.ts';
import type { BrokerOptions, EmbeddedBroker } from './create-broker.ts';
import { CertificateError, ConfigurationError, createBroker, ListenError, StoreError } from './index.ts';

let folder: string;
const undo: (() => unknown)[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'truemq-embedded-'));
});

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
  await rm(folder, { recursive: true, force: true });
});

async function broker(options: BrokerOptions = {}): Promise<EmbeddedBroker> {
  const started = await createBroker({ shutdownTimeout: '5s', ...options });
  undo.push(() => started.stop());
  return started;
}

async function client({ port }: EmbeddedBroker, options = {}): Promise<Client> {
  const connected = await connect({ port, reconnect: false, ...options });
  undo.push(() => connected.close().catch(() => undefined));
  return connected;
}

/** The next message of the queue. */
function nextOf(subscriber: Client, queue: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    subscriber.subscribe(queue, (message) => resolve(message.json())).catch(reject);
  });
}

/** A promise, and what resolves it. */
function deferred(): readonly [Promise<void>, () => void] {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return [promise, resolve];
}

async function occupiedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  undo.push(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  return (server.address() as AddressInfo).port;
}

const refusal = (options: object): Promise<Error> =>
  createBroker(options).then(
    () => new Error('it started'),
    (error: Error) => error,
  );

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'exit', 'uncaughtException', 'unhandledRejection'];
const handlerCounts = () => signals.map((name) => process.listenerCount(name));

describe('an embedded broker', () => {
  it('listens on a free port of this machine, without health and dashboard', async () => {
    const started = await broker();
    expect(started).toMatchObject({ host: '127.0.0.1', url: `vibemq://127.0.0.1:${started.port}` });
    expect(started.port).toBeGreaterThan(0);
    expect([started.health, started.dashboard]).toEqual([undefined, undefined]);
  });

  it('is reached by its URL as a connection string, whose options a program can override [CLIENT-030, CLIENT-031]', async () => {
    const { url, host, port } = await broker();
    const byUrl = await connect(`${url}?queues=from-url,both`, { clientVersion: 'test' });
    const byKeys = await connect(`Host=${host};Port=${port};queues=overridden`, { queues: ['by-option'] });
    expect(await byUrl.listQueues()).toEqual(['from-url', 'both', 'by-option']);
    await expect(connect(`${url}?prot=1`)).rejects.toMatchObject({ code: 'INVALID_CONNECTION_STRING' });
    await Promise.all([byUrl.close(), byKeys.close()]);
  });

  it('serves health and dashboard on free ports when they are asked for', async () => {
    const { health, dashboard } = await broker({ health: true, dashboard: true, pathPrefix: '/mq/' });
    expect((await fetch(`${health}/health/`)).status).toBe(200);
    expect(dashboard).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mq\/$/);
    expect((await fetch(`${dashboard}api/version`)).status).toBe(200);
  });

  it('names an address that clients can connect to when it listens on all of them', async () => {
    const started = await broker({ host: '0.0.0.0' });
    expect(started.url).toBe(`vibemq://127.0.0.1:${started.port}`);
  });

  it('says in its URL that clients must use TLS', async () => {
    const files = { tlsCertificatePath: tlsFixture('server.crt'), tlsKeyPath: tlsFixture('server.key') };
    const started = await broker(files);
    expect(started.url).toBe(`vibemq://127.0.0.1:${started.port}?tls=true`);
    const wrongKey = await refusal({ ...files, tlsKeyPath: tlsFixture('no-such.key') });
    expect(wrongKey).toBeInstanceOf(CertificateError);
  });

  it('takes options under the names and in the forms of the configuration', async () => {
    const started = await broker({
      maxQueueSize: 2,
      ackTimeout: 5_000,
      retryDelay: '100ms',
      maxMessageSize: '2KiB',
    });
    const publisher = await client(started);
    await publisher.createQueue('small');
    expect(await publisher.queueInfo('small')).toMatchObject({ maxSize: 2 });
    await expect(publisher.publish('small', 'x'.repeat(3_000))).rejects.toThrow();
  });

  it('asks for credentials when the options have some', async () => {
    const started = await broker({
      superuserPassword: 'a password',
      passwordCost: 4,
    });
    await expect(connect({ port: started.port })).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    const user = await client(started, { username: 'vibemq', password: 'a password' });
    expect(await user.listQueues()).toEqual([]);
  });

  it('logs to the logger of the program, and shows a generated password to the program', async () => {
    const lines: string[] = [];
    const shown: string[] = [];
    const log = (line: string) => void lines.push(line);
    const logger = { error: log, warn: log, info: log, debug: log };
    const tellOperator = (text: string) => void shown.push(text);
    await broker({ logger, tellOperator, authDatabasePath: ':memory:', passwordCost: 4, authToken: 'short' });
    expect(lines).toContainEqual(expect.stringMatching(/^authToken has fewer than 32 characters/));
    expect(shown).toEqual([
      expect.stringMatching(/^truemq: created the superuser vibemq with the password /),
    ]);
  });

  it.each([
    ['rejects', () => Promise.reject(new Error('no terminal'))],
    [
      'throws',
      () => {
        throw new Error('no terminal');
      },
    ],
  ])('keeps no superuser when what shows its password %s', async (_how, fails) => {
    const users = { authDatabasePath: join(folder, 'users.db'), passwordCost: 4 } as const;
    await expect(broker({ ...users, tellOperator: fails })).rejects.toThrow('no terminal');
    const shown: string[] = [];
    await broker({ ...users, tellOperator: (text) => void shown.push(text) });
    expect(shown).toEqual([expect.stringMatching(/^truemq: created the superuser vibemq /)]);
  });

  it('works on when the logger of the program fails, and says so once', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockReturnValue(undefined);
    undo.push(() => warned.mockRestore());
    const thrown = () => {
      throw new Error('the disk is full');
    };
    const rejected = () => Promise.reject(new Error('the disk is full'));
    for (const log of [thrown, rejected]) {
      warned.mockClear();
      const started = await broker({ logger: { error: log, warn: log, info: log, debug: log } });
      const publisher = await client(started);
      await publisher.publish('orders', 1);
      await publisher.close();
      await started.stop();
      expect(warned.mock.calls).toEqual([
        ['the logger of the broker failed; later failures are not shown: the disk is full'],
      ]);
    }
  });

  it('shares nothing with another one', async () => {
    const [one, other] = await Promise.all([broker({ health: true }), broker({ health: true })]);
    const publisher = await client(one);
    await publisher.publish('orders', { of: 'one' });
    expect(await (await client(other)).listQueues()).toEqual([]);
    await one.stop();
    const survivor = await client(other);
    await survivor.publish('orders', { of: 'other' });
    expect(await nextOf(survivor, 'orders')).toEqual({ of: 'other' });
  });

  it('keeps messages in a file for the next one', async () => {
    const options = { storage: 'sqlite', storagePath: join(folder, 'q.db') } as const;
    const first = await broker(options);
    await (await client(first)).publish('orders', { n: 1 });
    await first.stop();
    expect(await readdir(folder)).toEqual(['q.db']);
    expect(await nextOf(await client(await broker(options)), 'orders')).toEqual({ n: 1 });
  });
});

describe('stopping', () => {
  it('can be repeated, and `await using` does it too', async () => {
    const started = await broker();
    const first = started.stop();
    expect(started.stop()).toBe(first);
    await first;
    await started[Symbol.asyncDispose]();
    await expect(connect({ port: started.port })).rejects.toThrow();
  });

  it('waits for the ack of a message in flight, and tells the clients', async () => {
    const started = await broker();
    const subscriber = await client(started);
    const [handled, finish] = deferred();
    const [begun, begin] = deferred();
    await subscriber.subscribe('orders', () => {
      begin();
      return handled;
    });
    await subscriber.publish('orders', 1);
    await begun;
    const states: string[] = [];
    const stopped = started.stop().then(() => states.push('stopped'));
    await expect(subscriber.publish('orders', 2)).rejects.toThrow();
    states.push('acknowledges');
    finish();
    await stopped;
    expect(states).toEqual(['acknowledges', 'stopped']);
    await subscriber.closed;
  });

  it('does not wait longer than shutdownTimeout for a client that does not ack', async () => {
    const started = await broker({ shutdownTimeout: 1 });
    const subscriber = await client(started);
    const [begun, begin] = deferred();
    await subscriber.subscribe('orders', () => {
      begin();
      return new Promise(() => undefined);
    });
    await subscriber.publish('orders', 1);
    await begun;
    await started.stop();
    await subscriber.closed;
  });

  it('closes everything else when the store cannot be closed, and rejects with its error', async () => {
    const storageModule = join(folder, 'broken.mjs');
    await writeFile(
      storageModule,
      `export const openStore = () => ({
        recover: () => [],
        commit: () => undefined,
        close: () => { throw new Error('the disk is gone'); },
      });`,
    );
    const options = { storageModule, health: true, dashboard: true, authDatabasePath: ':memory:' } as const;
    const started = await createBroker({ ...options, superuserPassword: 'a password', passwordCost: 4 });
    const connected = await client(started, { username: 'vibemq', password: 'a password' });
    const first = started.stop();
    await expect(first).rejects.toThrow('the disk is gone');
    expect(started.stop()).toBe(first);
    await connected.closed;
    const { port, health, dashboard } = started;
    await expect(connect({ port })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    for (const url of [health, dashboard]) await expect(fetch(`${url}/`)).rejects.toThrow('fetch failed');
  });

  it('adds no handler to the process', async () => {
    const before = handlerCounts();
    const started = await broker({ health: true, dashboard: true });
    expect(handlerCounts()).toEqual(before);
    await started.stop();
    expect(handlerCounts()).toEqual(before);
  });
});

describe('a start that fails', () => {
  it('names every option that is not valid', async () => {
    const error = await refusal({ port: 70_000, ackTimeout: 'soon', maxQueSize: 1, retryDelay: '10m' });
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message.split('\n')).toEqual([
      'maxQueSize (option): no such key; did you mean maxQueueSize?',
      'port (option): came 70000; allowed is a port from 1 to 65535, or 0 for any free one',
      expect.stringMatching(/^ackTimeout \(option\): came "soon"; allowed is /),
    ]);
    expect((await refusal({ retryDelay: '10m' })).message).toBe(
      'retryDelay 10m (option) and maxRetryDelay 2m (default) do not go together; allowed is retryDelay at most maxRetryDelay',
    );
  });

  it.each<[unknown, string]>([
    [null, 'the options of createBroker: came null; allowed is an object of options'],
    ['x', 'the options of createBroker: came "x"; allowed is an object of options'],
    [[], 'the options of createBroker: came []; allowed is an object of options'],
    [new Map(), 'the options of createBroker: came Map(0) {}; allowed is an object of options'],
    [{ port: 1n }, 'port (option): came 1n; allowed is a port from 1 to 65535, or 0 for any free one'],
    [{ maxQueueSize: Number.POSITIVE_INFINITY }, 'maxQueueSize (option): came Infinity; allowed is a '],
    [{ ackTimeout: Number.NaN }, 'ackTimeout (option): came NaN; allowed is 1ms to 576h'],
  ])('says what came instead of options or a value (%#)', async (options, message) => {
    const error = await refusal(options as object);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toContain(message);
  });

  it('refuses the keys of the log, which have no effect in a program', async () => {
    expect((await refusal({ logLevel: 'debug' })).message).toBe(
      'logLevel (option): has no effect in a program; allowed is a logger instead',
    );
  });

  it.each([
    [
      { logger: 5 },
      'logger (option): came 5; allowed is an object with the functions error, warn, info, debug',
    ],
    [
      { logger: { info: () => undefined } },
      'logger (option): came one without error, warn, debug; allowed is an object with the functions error, warn, info, debug',
    ],
    [{ tellOperator: 'me' }, 'tellOperator (option): came "me"; allowed is a function'],
  ])('refuses %j, which cannot be called', async (options, message) => {
    const error = await refusal(options);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toBe(message);
  });

  it('says which address is taken, and leaves the file of the store for the next one', async () => {
    const port = await occupiedPort();
    const options = { storage: 'sqlite', storagePath: join(folder, 'q.db') } as const;
    const error = await refusal({ ...options, port });
    expect(error).toBeInstanceOf(ListenError);
    expect(error.message).toBe(
      `cannot listen on 127.0.0.1:${port}: the port is in use (set by --host and --port)`,
    );
    const health = await refusal({ ...options, health: true, healthPort: port });
    expect(health.message).toBe(
      `cannot listen on 127.0.0.1:${port}: the port is in use (set by --health-host and --health-port)`,
    );
    await broker(options);
  });

  it('says why a store cannot be used', async () => {
    const path = join(folder, 'notes.txt');
    await writeFile(path, 'no database');
    const error = await refusal({ storage: 'sqlite', storagePath: path });
    expect(error).toBeInstanceOf(StoreError);
    expect(error.message).toBe(
      `the store ${path} cannot be used: it is not an SQLite database; nothing was changed`,
    );
  });

  it('refuses a second broker on the same file, in the same process too', async () => {
    const options = { storage: 'sqlite', storagePath: join(folder, 'q.db') } as const;
    await broker(options);
    expect((await refusal(options)).message).toMatch(/is locked: another broker uses it/);
  });
});
