// The wrapper of listhen, over real sockets: each default that it overrides is tested.

import { once } from 'node:events';
import { type RequestListener, Server } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket, Server as TcpServer } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { noQueues, shownStatistics } from '../testing/shown-statistics.ts';
import { createHealthApp } from './health/health-app.ts';
import { type HttpListener, listenHttp } from './listen.ts';
import { ListenError } from './listen-error.ts';
import { serveApp } from './serve-app.ts';

const open: (() => unknown)[] = [];

afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  for (const close of open.splice(0)) await close();
});

const hello: RequestListener = (_request, response) => {
  response.end('hello');
};

async function listen(port: number, host = '127.0.0.1', handler = hello): Promise<HttpListener> {
  const listener = await listenHttp({ host, port, handler });
  open.push(() => listener.close({ graceMs: 0 }));
  return listener;
}

async function occupiedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Binds the port that listhen found free before listhen does, this many times. */
function losePorts(count: number): void {
  let left = count;
  const listenTcp = TcpServer.prototype.listen;
  vi.spyOn(TcpServer.prototype, 'listen').mockImplementation(function (this: TcpServer, ...args) {
    if (!(this instanceof Server) || left === 0) return listenTcp.apply(this, args);
    left -= 1;
    const lost = Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE', syscall: 'listen' });
    process.nextTick(() => this.emit('error', lost));
    return this;
  });
}

describe('listening', () => {
  it('takes any free port for 0 and says which [CONFIG-009]', async () => {
    const listener = await listen(0);
    expect(listener.url).toBe(`http://127.0.0.1:${listener.port}`);
    expect(await (await fetch(listener.url)).text()).toBe('hello');
  });

  it('refuses a busy port instead of taking another', async () => {
    const port = await occupiedPort();
    await expect(listen(port)).rejects.toThrow(
      new ListenError({ host: '127.0.0.1', port }, 'the port is in use'),
    );
  });

  it('refuses an unsafe port instead of taking another', async () => {
    await expect(listen(6000)).rejects.toThrow(
      /^cannot listen on 127\.0\.0\.1:6000: (browsers refuse|the port)/,
    );
  });

  it.each([
    ['192.0.2.1', 'cannot listen on 192.0.2.1:0: this machine has no such address'],
    ['-x', 'cannot listen on -x:0: no valid host name'],
    ['a_b', 'cannot listen on a_b:0: no valid host name'],
  ])('refuses host %s', async (host, message) => {
    await expect(listen(0, host)).rejects.toThrow(message);
  });

  it('binds a wildcard host as it is, not localhost', async () => {
    const listener = await listen(0, '0.0.0.0');
    const response = await fetch(`http://127.0.0.2:${listener.port}/`);
    expect(await response.text()).toBe('hello');
  });

  it('binds only the address it was told to [HTTP-004]', async () => {
    const listener = await listen(0);
    const socket = connect(listener.port, '127.0.0.2');
    const [error] = await once(socket, 'error');
    expect(error).toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('turns a port lost between probe and bind into the same error', async () => {
    losePorts(1);
    await expect(listen(await freePort())).rejects.toThrow(/the port is in use$/);
    expect(process.hasUncaughtExceptionCaptureCallback()).toBe(false);
  });

  it('tries another port when any will do and one was lost', async () => {
    losePorts(2);
    const listener = await listen(0);
    expect(await (await fetch(listener.url)).text()).toBe('hello');
  });

  it('gives the error of a lost port to the server that lost it, when several start in parallel', async () => {
    const ports = [await freePort(), await freePort(), await freePort()];
    losePorts(1);
    const outcomes = await Promise.allSettled(ports.map((port) => listen(port)));
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(process.hasUncaughtExceptionCaptureCallback()).toBe(false);
  });

  it('leaves an exception of somebody else to the handlers of the program', async () => {
    const handlers = process.rawListeners('uncaughtException') as NodeJS.UncaughtExceptionListener[];
    const seen: unknown[] = [];
    process.removeAllListeners('uncaughtException').on('uncaughtException', (error) => seen.push(error));
    open.push(() => {
      process.removeAllListeners('uncaughtException');
      for (const handle of handlers) process.on('uncaughtException', handle);
    });
    const starting = listen(0);
    const strange = new Error('of somebody else');
    await new Promise<void>((resolve) => {
      setImmediate(() => {
        setImmediate(resolve);
        throw strange;
      });
    });
    await starting;
    expect(seen).toEqual([strange]);
  });

  it('gives up when every port is lost', async () => {
    losePorts(100);
    await expect(listen(0)).rejects.toThrow(/the port is in use$/);
  });
});

describe('behind our back', () => {
  it('reads neither HOST nor PORT nor --host', async () => {
    vi.stubEnv('HOST', '0.0.0.0');
    vi.stubEnv('PORT', '1');
    process.argv.push('--host');
    open.push(() => process.argv.pop());
    const listener = await listen(0);
    expect(listener.port).not.toBe(1);
    const socket = connect(listener.port, '127.0.0.2');
    const [error] = await once(socket, 'error');
    expect(error).toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('installs no signal handlers and prints nothing', async () => {
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
    const before = signals.map((signal) => process.listenerCount(signal));
    const writes = [vi.spyOn(process.stdout, 'write'), vi.spyOn(process.stderr, 'write')];
    await listen(0);
    expect(signals.map((signal) => process.listenerCount(signal))).toEqual(before);
    expect(writes.map((write) => write.mock.calls.length)).toEqual([0, 0]);
  });
});

describe('closing', () => {
  it('ends idle keep-alive connections at once', async () => {
    const listener = await listen(0);
    const socket = await openSocket(listener, 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(socket, 'data');
    const closed = once(socket, 'close');
    await listener.close({ graceMs: 60_000 });
    await closed;
    await expect(fetch(listener.url)).rejects.toThrow();
  });

  it('ends an unfinished answer by force after the grace time', async () => {
    const listener = await listen(0, '127.0.0.1', (_request, response) => {
      response.write('never ends');
    });
    const socket = await openSocket(listener, 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(socket, 'data');
    const closed = once(socket, 'close');
    await listener.close({ graceMs: 10 });
    await closed;
    expect(socket.destroyed).toBe(true);
  });

  it('may be asked for twice', async () => {
    const listener = await listen(0);
    await listener.close({ graceMs: 0 });
    await expect(listener.close({ graceMs: 0 })).resolves.toBeUndefined();
  });
});

it('closes the connections beyond the most that it may have', async () => {
  const listener = await serveHealth({ maxConnections: 1 });
  const held = await openSocket(listener, '');
  const request = 'GET /live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
  const refused = await openSocket(listener, request);
  refused.on('error', () => undefined);
  await new Promise((resolve) => refused.once('close', resolve));
  expect(refused.bytesRead).toBe(0);
  held.write(request);
  expect(await readAll(held)).toMatch(/^HTTP\/1\.1 200 /);
});

describe('the health server over a socket', () => {
  it('answers GET and HEAD, refuses a foreign Host [HEALTH-001, METRICS-001, HTTP-002, HTTP-008]', async () => {
    const listener = await serveHealth();
    expect(await (await fetch(`${listener.url}/health/`)).json()).toMatchObject({ status: 'healthy' });
    expect(await (await fetch(`${listener.url}/metrics/`)).json()).toMatchObject({ total_errors: 16 });
    expect((await fetch(`${listener.url}/health/`, { method: 'HEAD' })).status).toBe(200);
    const socket = await openSocket(
      listener,
      'GET /health/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n',
    );
    expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 421 /);
  });

  it('answers an HTTP/1.0 probe without a Host header [HEALTH-001]', async () => {
    const listener = await serveHealth();
    expect(await readAll(await openSocket(listener, 'GET /health HTTP/1.0\r\n\r\n'))).toMatch(
      /^HTTP\/1\.1 200 /,
    );
  });

  it.each([
    ['GET /health/ HTTP/1.1', 'Host: 127.0.0.1:x'],
    ['GET /health/ HTTP/1.1', 'Host: ['],
    ['GET /health/ HTTP/1.1', 'Host: %'],
    ['GET // HTTP/1.1', 'Host: localhost'],
    ['GET http://[/ HTTP/1.1', 'Host: localhost'],
    ['GET http://evil.example/health/ HTTP/1.1', 'Host: localhost'],
    ['GET x HTTP/1.1', 'Host: localhost'],
    ['GET /%zz HTTP/1.1', 'Host: localhost'],
    ['OPTIONS * HTTP/1.1', 'Host: localhost'],
    ['TRACE /health/ HTTP/1.1', 'Host: localhost'],
    ['CONNECT a:1 HTTP/1.1', 'Host: localhost'],
    ['GET /health/ HTTP/1.1', 'Host: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade'],
    ['POST /health/ HTTP/1.1', 'Host: localhost\r\nContent-Length: 10'],
    ['nonsense', ''],
  ])('survives %j with %j [HEALTH-001]', async (line, header) => {
    const listener = await serveHealth();
    const socket = await openSocket(listener, `${line}\r\n${header}\r\n\r\n`);
    socket.end();
    expect(await readAll(socket)).toMatch(/^(HTTP\/1\.1 (?!5)\d\d\d |$)/);
    expect((await fetch(`${listener.url}/health/`)).status).toBe(200);
  });
});

async function serveHealth(more: { readonly maxConnections?: number } = {}): Promise<HttpListener> {
  const options = healthOptions();
  const where = { host: '127.0.0.1', port: 0, onFault: options.onFault, ...more };
  const listener = await serveApp(async () => createHealthApp(options), where);
  open.push(() => listener.close({ graceMs: 0 }));
  return listener;
}

function healthOptions() {
  return {
    view: {
      stats: () => shownStatistics,
      readiness: () => ({ ready: true }) as const,
      ...noQueues,
    },
    sampleMemory: () => ({ residentBytes: 1, residentLimitBytes: 2, heapUsedBytes: 1, heapLimitBytes: 2 }),
    wallNow: () => 0,
    uptimeMs: () => 0,
    allowedHosts: [],
    onFault: (fault: unknown) => {
      throw fault;
    },
  };
}

async function openSocket(listener: HttpListener, request: string): Promise<Socket> {
  const socket = connect(listener.port, listener.host);
  socket.on('error', () => socket.destroy());
  await once(socket, 'connect');
  socket.write(request);
  return socket;
}

async function readAll(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('latin1');
}
