// `truemq serve` and `truemq adapter` in process: what they print when they listen, how they end, and how they fail to start.

import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect as connectTcp, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { connect } from '../client/index.ts';
import { newFolder } from '../storage/contract/file-place.ts';
import { type TestCommandContext, testCommandContext } from '../testing/command-context.ts';
import { adapter } from './adapter.ts';
import { ExitCode } from './command.ts';
import { serve } from './serve.ts';

type Ready = {
  readonly pid: number;
  readonly tcp: { readonly host: string; readonly port: number };
  readonly health?: { readonly url: string };
  readonly dashboard?: { readonly url: string };
};

const FREE_PORTS = freePortsBeside([]);

/** Free ports where these flags give none. */
function freePortsBeside(flags: readonly string[]): readonly string[] {
  const missing = ['--port', '--health-port', '--dashboard-port'].filter((flag) => !flags.includes(flag));
  return missing.flatMap((flag) => [flag, '0']);
}

async function outputLine(context: TestCommandContext): Promise<string> {
  await vi.waitFor(() => expect(context.output()).toContain('\n'), { timeout: 10_000 });
  return context.output();
}

async function startServing(argv: readonly string[]) {
  const context = testCommandContext();
  const exit = serve.run(['--print-ready', ...freePortsBeside(argv), ...argv], context);
  const ready: Ready = JSON.parse(await outputLine(context));
  return { context, exit, ready };
}

async function occupiedPort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, release: () => void server.close() };
}

describe('serve', () => {
  it('prints one line when everything listens, on ports that are free [CONFIG-008, CONFIG-009, DASH-030]', async () => {
    const { context, exit, ready } = await startServing([]);
    const port = expect.any(Number);
    const url = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(ready).toEqual({
      ready: true,
      pid: process.pid,
      tcp: { host: '127.0.0.1', port, tls: false },
      health: { url },
      dashboard: { url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/$/) },
    });
    const client = await connect({ port: ready.tcp.port, reconnect: false });
    await client.publish('hello', 1);
    const health = await fetch(`${ready.health?.url}/health/`);
    expect(await health.json()).toMatchObject({
      active_connections: 1,
      queue_count: 1,
      total_messages_published: 1,
    });
    await client.close();
    context.signal('SIGTERM');
    expect(await exit).toBe(ExitCode.Done);
    expect(context.output().match(/\n/g)).toHaveLength(1);
    expect(context.errors()).toMatch(/"started"[\s\S]*"stopped"/);
  });

  it('prints lines for people else, with commands to try', async () => {
    const context = testCommandContext({ npm_lifecycle_event: 'start' });
    const exit = serve.run(FREE_PORTS, context);
    expect(await outputLine(context)).toMatch(
      /listens on 127\.0\.0\.1:\d+\n[\s\S]*dashboard: http:\/\/127\.0\.0\.1:\d+\/\n[\s\S]*npx truemq pub hello '\{"n":1\}' --port \d+\n/,
    );
    context.signal('SIGINT');
    expect(await exit).toBe(ExitCode.Done);
  });

  it('names in these commands the address that it listens on, where clients would look elsewhere', async () => {
    const context = testCommandContext();
    const exit = serve.run([...FREE_PORTS, '--host', '127.0.0.2'], context);
    expect(await outputLine(context)).toMatch(
      /listens on 127\.0\.0\.2:\d+\n[\s\S]* truemq pub hello '\{"n":1\}' --host 127\.0\.0\.2 --port \d+\n/,
    );
    context.signal('SIGINT');
    expect(await exit).toBe(ExitCode.Done);
  });

  it('ends without serving when a signal comes while it starts', async () => {
    const context = testCommandContext();
    const onStopSignal = (handle: (signal: NodeJS.Signals) => void) => {
      handle('SIGTERM');
      return () => undefined;
    };
    expect(await serve.run(FREE_PORTS, { ...context, onStopSignal })).toBe(ExitCode.Done);
    expect(context.output()).toBe('');
    expect(context.errors()).toContain('stopped while starting');
  });

  it('can do without a health server [HEALTH-014]', async () => {
    const { context, exit, ready } = await startServing(['--health', 'off']);
    expect(ready.health).toBeUndefined();
    context.signal('SIGTERM');
    await exit;
  });

  it('can do without a dashboard [DASH-030]', async () => {
    const { context, exit, ready } = await startServing(['--dashboard', 'off']);
    expect(ready.dashboard).toBeUndefined();
    context.signal('SIGTERM');
    await exit;
  });

  it('serves health on the configured port [HEALTH-014]', async () => {
    const { port, release } = await occupiedPort();
    release();
    const { context, exit, ready } = await startServing(['--health-port', String(port)]);
    expect(ready.health?.url).toBe(`http://127.0.0.1:${port}`);
    context.signal('SIGTERM');
    await exit;
  });

  it('is unhealthy when it uses 90 percent of the configured memory or more [HEALTH-005, HEALTH-010]', async () => {
    const { context, exit, ready } = await startServing(['--memory-limit', '1MiB']);
    const health = await fetch(`${ready.health?.url}/health/`);
    expect([health.status, await health.json()]).toMatchObject([503, { status: 'unhealthy' }]);
    context.signal('SIGTERM');
    await exit;
  });

  it.each([
    ['--port', '--host and --port'],
    ['--health-port', '--health-host and --health-port'],
    ['--dashboard-port', '--dashboard-host and --dashboard-port'],
  ])(
    'ends with one clear line when the port of %s is in use [CONFIG-010, HEALTH-014]',
    async (flag, settings) => {
      const { port, release } = await occupiedPort();
      const context = testCommandContext();
      expect(await serve.run([...freePortsBeside([flag]), flag, String(port)], context)).toBe(
        ExitCode.Failed,
      );
      expect(context.errors()).toBe(
        `truemq: cannot listen on 127.0.0.1:${port}: the port is in use (set by ${settings})\n`,
      );
      expect(context.output()).toBe('');
      release();
    },
  );

  it('accepts nobody while it waits for a message in flight, and ends when it is acknowledged [SHUTDOWN-001, SHUTDOWN-009, SHUTDOWN-012]', async () => {
    const { context, exit, ready } = await startServing([]);
    const client = await connect({ port: ready.tcp.port, reconnect: false });
    let finish: () => void = () => undefined;
    const handled = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let isHandling = false;
    await client.subscribe('work', () => {
      isHandling = true;
      return handled;
    });
    await client.publish('work', 1);
    await vi.waitFor(() => expect(isHandling).toBe(true));
    context.signal('SIGTERM');
    await vi.waitFor(() => expect(context.errors()).toContain('"inFlight":1'));
    const late = connectTcp(ready.tcp.port, '127.0.0.1');
    const [error] = await once(late, 'error');
    expect(error).toMatchObject({ code: 'ECONNREFUSED' });
    finish();
    expect(await exit).toBe(ExitCode.Done);
    await expect(client.closed).resolves.toMatchObject({ reason: 'server_shutdown' });
  });

  it('ends at once at a second signal [SHUTDOWN-010]', async () => {
    const { context, exit, ready } = await startServing(['--shutdown-timeout', '1s']);
    const client = await connect({ port: ready.tcp.port, reconnect: false });
    await client.subscribe('work', () => new Promise(() => undefined));
    await client.publish('work', 1);
    context.signal('SIGINT');
    expect(context.exits).toEqual([]);
    context.signal('SIGINT');
    expect(context.exits).toEqual([130]);
    await exit;
  });

  it('keeps its messages in the store of a storage module [CONFIG-016]', async () => {
    const folder = await newFolder();
    const [module, log] = [join(folder, 'store.mjs'), join(folder, 'kinds.txt')];
    const commit = `(records) => { for (const { kind } of records) appendFileSync(${JSON.stringify(log)}, kind + '\\n'); }`;
    await writeFile(
      module,
      `import { appendFileSync } from 'node:fs';
       export const openStore = () => ({ recover: () => [], commit: ${commit}, close: () => undefined });`,
    );
    const { context, exit, ready } = await startServing(['--storage-module', module]);
    const client = await connect({ port: ready.tcp.port, reconnect: false });
    await client.publish('work', 1);
    expect(await readFile(log, 'utf8')).toBe('queueCreated\nmessageAdded\n');
    await client.close();
    context.signal('SIGTERM');
    await exit;
    await rm(folder, { recursive: true });
  });

  it('says in one line why a storage module opens no store, and logs where it was thrown at level debug [CONFIG-018]', async () => {
    const folder = await newFolder();
    const module = join(folder, 'store.mjs');
    await writeFile(module, "export function openStore() { throw new Error('no database'); }");
    const context = testCommandContext();
    const flags = [...FREE_PORTS, '--storage-module', module, '--log-level', 'debug'];
    expect(await serve.run(flags, context)).toBe(ExitCode.Failed);
    const [line, log] = context.errors().trim().split('\n').slice(-2);
    expect(line).toBe(`truemq: the storage module ${module} cannot open its store: no database`);
    expect(JSON.parse(log ?? '')).toMatchObject({
      message: 'the cause',
      stack: expect.stringMatching(/^Error: no database\n.*openStore .*store\.mjs:1:/),
    });
    await rm(folder, { recursive: true });
  });

  it('warns when others can reach it [HTTP-005]', async () => {
    const { context, exit } = await startServing(['--host', '0.0.0.0', '--health-host', '0.0.0.0']);
    context.signal('SIGTERM');
    await exit;
    expect(context.errors()).toMatch(/"warn"[^\n]*without authentication[^\n]*"host":"0\.0\.0\.0"/);
    expect(context.errors()).toMatch(/"warn"[^\n]*"healthHost":"0\.0\.0\.0"/);
  });

  it('listens on this machine only by default and then warns of nothing [HTTP-004, HTTP-005]', async () => {
    const { context, exit, ready } = await startServing([]);
    const socket = connectTcp(ready.tcp.port, '127.0.0.2');
    const [error] = await once(socket, 'error');
    expect(error).toMatchObject({ code: 'ECONNREFUSED' });
    context.signal('SIGTERM');
    await exit;
    expect(context.errors()).not.toContain('"warn"');
  });

  it('listens with each server on the address of its own setting [HTTP-004]', async () => {
    const { context, exit, ready } = await startServing(['--host', '127.0.0.2']);
    expect(ready.tcp.host).toBe('127.0.0.2');
    expect(ready.health?.url).toMatch(/^http:\/\/127\.0\.0\.1:/);
    context.signal('SIGTERM');
    await exit;
  });

  it('serves the dashboard on its own address, below its prefix, and ends it with the broker [DASH-026]', async () => {
    const { context, exit, ready } = await startServing(['--path-prefix', '/mq/']);
    const { url = '' } = ready.dashboard ?? {};
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mq\/$/);
    const client = await connect({ port: ready.tcp.port, reconnect: false });
    await client.publish('hello', { n: 1 });
    const messages = await fetch(`${url}api/queues/hello/messages`);
    expect(await messages.json()).toMatchObject([{ queue_name: 'hello', payload: { n: 1 } }]);
    const purged = await fetch(`${url}api/queues/hello/messages`, { method: 'DELETE' });
    expect(purged.status).toBe(204);
    expect(await client.queueInfo('hello')).toMatchObject({ messageCount: 0 });
    await client.close();
    context.signal('SIGTERM');
    expect(await exit).toBe(ExitCode.Done);
    await expect(fetch(`${url}api/queues`)).rejects.toThrow();
    expect(context.errors()).not.toContain('"warn"');
  });

  it('warns when the dashboard can be reached from beyond this machine [HTTP-006]', async () => {
    const { context, exit } = await startServing(['--dashboard-host', '0.0.0.0']);
    context.signal('SIGTERM');
    await exit;
    expect(context.errors()).toMatch(/"warn"[^\n]*dashboard[^\n]*"dashboardHost":"0\.0\.0\.0"/);
  });

  it('ends the live streams of the dashboard with the broker, without waiting for their clients', async () => {
    const { context, exit, ready } = await startServing([]);
    const stream = await fetch(`${ready.dashboard?.url}api/events`);
    context.signal('SIGTERM');
    expect(await exit).toBe(ExitCode.Done);
    expect(await stream.text()).toMatch(/^retry: 1000\nevent: snapshot\n/);
  });

  it('has the limits and the defaults of queues that are configured [CONFIG-013]', async () => {
    const { context, exit, ready } = await startServing([
      ...['--max-connections', '1', '--max-message-size', '256', '--max-queue-size', '5'],
      ...['--default-delivery-mode', 'FanOutWithAck', '--enable-auto-create', 'false'],
    ]);
    const client = await connect({ port: ready.tcp.port, reconnect: false });
    await expect(connect({ port: ready.tcp.port, reconnect: false })).rejects.toMatchObject({
      code: 'CONNECTION_LIMIT',
    });
    await expect(client.publish('missing', 1)).rejects.toMatchObject({ code: 'QUEUE_NOT_FOUND' });
    await client.createQueue('orders');
    const details = { maxSize: 5, deliveryMode: 'FanOutWithAck' };
    expect(await client.queueInfo('orders')).toMatchObject(details);
    await expect(client.publish('orders', 'x'.repeat(256))).rejects.toThrow();
    await expect(client.closed).resolves.toMatchObject({
      reason: expect.stringContaining('MESSAGE_TOO_LARGE'),
    });
    context.signal('SIGTERM');
    await exit;
  });

  it('logs what is odd in the environment', async () => {
    const context = testCommandContext({ TRUEMQ_CMD: 'x' });
    const exit = serve.run(FREE_PORTS, context);
    await outputLine(context);
    context.signal('SIGTERM');
    await exit;
    expect(context.errors()).toContain('TRUEMQ_CMD');
  });
});

describe('adapter', () => {
  const request = {
    protocol: 1,
    tcp: { host: '127.0.0.1', port: 0 },
    health: { host: '127.0.0.1', port: 0 },
    rateLimit: null,
    storage: 'memory',
    limits: { maxConnections: 1 },
  };

  it('starts the broker that is asked for and stops when stdin closes', async () => {
    const context = testCommandContext();
    const exit = adapter.run([], context);
    context.stdin.write(`${JSON.stringify(request)}\n`);
    const answer = JSON.parse(await outputLine(context));
    expect(answer).toMatchObject({ protocol: 1, ready: true, broker: { name: 'TrueMQ' }, unsupported: [] });
    const client = await connect({ port: answer.tcp.port, reconnect: false });
    await expect(connect({ port: answer.tcp.port })).rejects.toMatchObject({ code: 'CONNECTION_LIMIT' });
    expect((await fetch(`${answer.health.url}/health/`)).status).toBe(200);
    await client.close();
    context.stdin.end();
    expect(await exit).toBe(ExitCode.Done);
  });

  it('stops at a signal, and does not take the end of stdin for a second one', async () => {
    const context = testCommandContext();
    const exit = adapter.run([], context);
    context.stdin.write(`${JSON.stringify(request)}\n`);
    await outputLine(context);
    context.signal('SIGTERM');
    context.stdin.end();
    expect(await exit).toBe(ExitCode.Done);
    expect(context.exits).toEqual([]);
  });

  it('says why it does not start', async () => {
    const { port, release } = await occupiedPort();
    for (const line of ['nonsense', JSON.stringify({ ...request, tcp: { host: '127.0.0.1', port } })]) {
      const context = testCommandContext();
      context.stdin.end(`${line}\n`);
      expect(await adapter.run([], context)).toBe(ExitCode.Failed);
      expect(JSON.parse(context.output())).toMatchObject({
        protocol: 1,
        ready: false,
        error: expect.any(String),
      });
    }
    release();
  });
});
