// Live streams over real sockets: they end with the broker, and with their client.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { systemEnvironment } from '../../../gateway/system-environment.ts';
import { TestedLiveView } from '../../../testing/live-view.ts';
import type { HttpListener } from '../../listen.ts';
import { serveApp } from '../../serve-app.ts';
import { createDashboardApp, type DashboardAppOptions } from '../dashboard-app.ts';
import { LiveFeed } from './live-feed.ts';

/** Longer than a test may take: closing does not wait for it. */
const GRACE_MS = 600_000;

const open: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

async function listeningFeed(): Promise<{ feed: LiveFeed; listener: HttpListener }> {
  const view = new TestedLiveView();
  view.set(1, { name: 'orders' });
  const onFault = (fault: unknown): never => {
    throw fault;
  };
  const shared = { view, sampleMemory: () => view.memory, serverVersion: '1.2.3', onFault };
  const feed = new LiveFeed({ ...shared, ...systemEnvironment, tcp: () => undefined });
  const app = createDashboardApp({
    ...shared,
    operator: {} as DashboardAppOptions['operator'],
    live: feed,
    page: undefined,
    wallNow: () => 0,
    uptimeMs: () => 0,
    allowedHosts: [],
    pathPrefix: '/',
  });
  const listener = await serveApp(async () => app, { host: '127.0.0.1', port: 0, onFault });
  open.push(() => feed.close());
  open.push(() => listener.close({ graceMs: 0 }));
  return { feed, listener };
}

/** A client whose stream has begun. */
async function streamingSocket({ port, host }: HttpListener): Promise<Socket> {
  const socket = connect(port, host);
  socket.write('GET /api/events?queue=orders HTTP/1.1\r\nHost: localhost\r\n\r\n');
  let text = '';
  while (!text.includes('"watched"')) text += String((await once(socket, 'data'))[0]);
  expect(text).toMatch(/^HTTP\/1\.1 200 /);
  socket.resume();
  return socket;
}

it('end at the beginning of the end, without its grace time', async () => {
  const { feed, listener } = await listeningFeed();
  const sockets = [await streamingSocket(listener), await streamingSocket(listener)];
  const closed = sockets.map((socket) => once(socket, 'close'));
  feed.close();
  await listener.close({ graceMs: GRACE_MS });
  await Promise.all(closed);
  expect(sockets.every(({ destroyed }) => destroyed)).toBe(true);
});

it('make room when their clients go away', async () => {
  const { feed, listener } = await listeningFeed();
  const sockets = [];
  for (let count = 0; count < 20; count += 1) sockets.push(await streamingSocket(listener));
  expect(feed.open(undefined).status).toBe(503);
  for (const socket of sockets) socket.destroy();
  let response = feed.open(undefined);
  while (response.status === 503) {
    await new Promise((resolve) => void setImmediate(resolve));
    response = feed.open(undefined);
  }
  expect(response.status).toBe(200);
});
