// The requests of checks arrive as the checks ask for them.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import type { HttpRequest } from './check.ts';
import { Evidence } from './evidence.ts';
import { httpSurface } from './http-surface.ts';
import { timingFor } from './timing.ts';
import { Trace } from './trace.ts';

it.each([
  ['/a\\b', {}, '/a/b'],
  ['/a\\b', { asIs: true }, '/a\\b'],
  ['*', { asIs: true }, '*'],
])('sends the path %s with %j as %s', async (path, options, arrived) => {
  const { body } = await ask(path, options);
  expect(body).toBe(arrived);
});

it('keeps the Host in the trace if a check sets one, because the answer may depend on it', async () => {
  const { texts } = await ask('/a', { headers: { host: '127.0.0.1:99999' } });
  expect(texts).toEqual(['> GET /a, Host 127.0.0.1:99999', '< 200 to GET /a']);
});

async function ask(path: string, options: HttpRequest) {
  const server = createServer(({ url }, response) => response.end(url)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const trace = new Trace();
  const surface = httpSurface({
    name: 'the health server',
    baseUrl: () => `http://127.0.0.1:${port}/`,
    timing: timingFor(1),
    evidence: new Evidence(),
    trace,
    now: () => 0,
  });
  const { body } = await surface.get(path, options).finally(() => server.close());
  return { body, texts: trace.events.map(({ text }) => text) };
}
