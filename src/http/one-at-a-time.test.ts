// Requests that a client sends without waiting for their answers, over real sockets.

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it } from 'vitest';
import { type HttpListener, listenHttp } from './listen.ts';
import { MAX_WAITING_REQUESTS } from './one-at-a-time.ts';

/** A busy machine takes its time for 20 MB. */
const POLL = { interval: 1, timeout: 10_000 };

const open: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** Answers when the test does. */
async function listen() {
  const asked: { readonly path: string; readonly response: ServerResponse }[] = [];
  const handler = (request: { readonly url?: string | undefined }, response: ServerResponse) => {
    asked.push({ path: request.url ?? '', response });
  };
  const listener = await listenHttp({ host: '127.0.0.1', port: 0, handler });
  open.push(() => listener.close({ graceMs: 0 }));
  const paths = () => asked.map(({ path }) => path);
  return { listener, asked, paths };
}

async function send({ host, port }: HttpListener, paths: readonly string[]) {
  const socket = connect(port, host);
  open.push(() => socket.destroy());
  await once(socket, 'connect');
  socket.on('error', () => undefined);
  const isLast = (path: string) => (path === paths.at(-1) ? 'Connection: close\r\n' : '');
  socket.write(
    paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${isLast(path)}\r\n`).join(''),
  );
  return socket;
}

it('are answered one after the other, in their order', async () => {
  const { listener, asked, paths } = await listen();
  const answer = text(await send(listener, ['/1', '/2', '/3']));
  for (const expected of [['/1'], ['/1', '/2'], ['/1', '/2', '/3']]) {
    await expect.poll(paths, POLL).toEqual(expected);
    // What comes on another connection is handled at once, so those on the first one have come too.
    (await send(listener, ['/other'])).on('data', () => undefined);
    await expect.poll(paths, POLL).toEqual([...expected, '/other']);
    asked.pop()?.response.end();
    asked.at(-1)?.response.end(`<${asked.at(-1)?.path}>`);
  }
  expect((await answer).match(/<\/\d>/g)).toEqual(['</1>', '</2>', '</3>']);
});

it('wait while the answer before them is not read', async () => {
  const { listener, asked, paths } = await listen();
  const socket = await send(listener, ['/1', '/2']);
  socket.pause();
  await expect.poll(paths, POLL).toEqual(['/1']);
  asked[0]?.response.end(Buffer.alloc(20_000_000));
  (await send(listener, ['/other'])).on('data', () => undefined);
  await expect.poll(paths, POLL).toEqual(['/1', '/other']);
  asked[1]?.response.end();
  socket.resume();
  await expect.poll(paths, POLL).toEqual(['/1', '/other', '/2']);
});

it('are left alone when their connection ends before', async () => {
  const { listener, asked, paths } = await listen();
  const socket = await send(listener, ['/1', '/2']);
  await expect.poll(paths, POLL).toEqual(['/1']);
  const closed = once(asked[0]?.response as ServerResponse, 'close');
  socket.destroy();
  await closed;
  await send(listener, ['/other']);
  await expect.poll(paths, POLL).toEqual(['/1', '/other']);
});

it('end their connection when more of them wait than a client has use for', async () => {
  const { listener, asked, paths } = await listen();
  const series = Array.from({ length: MAX_WAITING_REQUESTS + 1 }, (_, index) => `/${index}`);
  const answer = text(await send(listener, series));
  for (let count = 1; count <= series.length; count += 1) {
    await expect.poll(paths, POLL).toEqual(series.slice(0, count));
    asked.at(-1)?.response.end(`<${paths().at(-1)}>`);
  }
  expect((await answer).match(/<\/\d+>/g)).toHaveLength(series.length);
  const tooMany = await send(listener, [...series, '/one-more']);
  await once(tooMany, 'close');
  expect(paths()).toEqual([...series, '/0']);
});
