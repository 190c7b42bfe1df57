// An app behind a port, over real sockets: when it is made, what a client receives when it cannot be made, and the paths that it never sees.
import { once } from 'node:events';
import { request as requestHttp } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { H3 } from 'h3';
import { afterEach, describe, expect, it } from 'vitest';
import { type MakeApp, serveApp } from './serve-app.ts';

const open: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

/** Its url, and the faults that were reported. */
async function serve(makeApp: MakeApp) {
  const faults: unknown[] = [];
  const onFault = (error: unknown) => void faults.push(error);
  const listener = await serveApp(makeApp, { host: '127.0.0.1', port: 0, onFault });
  open.push(() => listener.close({ graceMs: 0 }));
  return { url: listener.url, faults };
}

function promiseOf<Value>() {
  let resolve!: (value: Value) => void;
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

function echoingApp(): H3 {
  return new H3({ silent: true }).post('/', async ({ req }) => `received ${await req.text()}`);
}

describe('the app', () => {
  it('is made once, for the first requests, which it answers all', async () => {
    let madeCount = 0;
    const { url, faults } = await serve(async () => {
      madeCount += 1;
      return echoingApp();
    });
    expect(madeCount).toBe(0);
    const bodies = ['a', 'b', 'c'.repeat(200_000)];
    const answers = bodies.map(async (body) => (await fetch(url, { method: 'POST', body })).text());
    expect(await Promise.all(answers)).toEqual(bodies.map((body) => `received ${body}`));
    expect(madeCount).toBe(1);
    expect(faults).toEqual([]);
  });

  it('is made for others too when the client that it is made for leaves meanwhile', async () => {
    const begun = promiseOf<void>();
    const { promise, resolve } = promiseOf<H3>();
    const { url, faults } = await serve(() => {
      begun.resolve();
      return promise;
    });
    const leaving = connect(Number(new URL(url).port), '127.0.0.1');
    leaving.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nhalf of it');
    await begun.promise;
    const other = fetch(url, { method: 'POST', body: 'a' });
    leaving.resetAndDestroy();
    await once(leaving, 'close');
    resolve(echoingApp());
    expect(await (await other).text()).toBe('received a');
    expect(faults).toEqual([]);
  });

  it('is made again for a later request when it could not be made', async () => {
    const fault = new Error('a file is missing');
    let isMissing = true;
    const { url, faults } = await serve(async () => {
      if (isMissing) throw fault;
      return echoingApp();
    });
    const refused = await fetch(url, { method: 'POST', body: 'a' });
    expect([refused.status, await refused.text()]).toEqual([500, '']);
    expect(faults).toEqual([fault]);
    isMissing = false;
    expect(await (await fetch(url, { method: 'POST', body: 'b' })).text()).toBe('received b');
  });
});

describe('a request of which the app can make no URL', () => {
  it.each(['127.0.0.1:99999', '256.1.1.1', 'a b'])(
    'is refused by a problem, and the server goes on: Host %j',
    async (host) => {
      const { url, faults } = await serve(async () => echoingApp());
      const { status, type } = await ask(url, 'GET', '/\\\\a', host);
      expect([status, type]).toEqual([421, 'application/problem+json']);
      expect((await ask(url, 'POST', '/')).status).toBe(200);
      expect(faults).toEqual([]);
    },
  );

  it('on which it fails in another way gets 500, and the fault is reported', async () => {
    const fault = new Error('it fails before it has begun');
    const failing = new H3();
    failing.fetch = () => {
      throw fault;
    };
    const { url, faults } = await serve(async () => failing);
    expect(await ask(url, 'GET', '/')).toMatchObject({ status: 500, body: '' });
    expect(faults).toEqual([fault]);
  });
});

/** Unlike fetch, it sends the path as it is. */
async function ask(url: string, method: string, path: string, host?: string) {
  const { hostname, port } = new URL(url);
  const headers = host === undefined ? {} : { host };
  const outgoing = requestHttp({ hostname, port, method, path, headers, timeout: 10_000 }).end();
  outgoing.on('timeout', () => outgoing.destroy(new Error('no answer')));
  const [response] = await once(outgoing, 'response');
  return { status: response.statusCode, type: response.headers['content-type'], body: await text(response) };
}

describe('a path', () => {
  async function serveSeenPaths() {
    const seen: string[] = [];
    const app = new H3({ silent: true }).all('/**', ({ url }) => {
      seen.push(url.pathname);
      return '';
    });
    return { ...(await serve(async () => app)), seen };
  }

  it.each([
    '/api/queues/q/messages/..',
    '/api/queues/q/messages/.',
    '/api/queues/q/messages/%2E%2E',
    '/api/queues/q/messages/%2e',
    '/api/queues/q/messages/.%2e?limit=1',
    '/api/queues/q/messages/%2E./requeue',
    '/api/queues/q/messages/..#x',
    '/api/queues/q/messages\\..\\',
    '/../x',
    'http://localhost/api/queues/q/..',
  ])('with a dot segment is refused by a problem, and the app does not see it: %s', async (path) => {
    const { url, seen } = await serveSeenPaths();
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
      const { status, type, body } = await ask(url, method, path);
      expect([status, type]).toEqual([400, 'application/problem+json']);
      expect(JSON.parse(body)).toMatchObject({ status: 400, detail: expect.stringMatching(/"\.\."/) });
    }
    expect(await ask(url, 'HEAD', path)).toMatchObject({ status: 400, body: '' });
    expect(seen).toEqual([]);
  });

  it.each(['/a.b/...', '/..a/.b', '/%2e%2e%2e', '/a..', '/%252e', '/?x=/../', '/..%2Fx'])(
    'with dots that are no such segment is for the app: %s',
    async (path) => {
      const { url, seen } = await serveSeenPaths();
      expect((await ask(url, 'GET', path)).status).toBe(200);
      expect(seen).toHaveLength(1);
    },
  );
});
