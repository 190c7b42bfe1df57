// Requests to a dashboard that does not answer as a dashboard does: what the message says.

import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { testCommandContext } from '../../testing/command-context.ts';
import { ExitCode } from '../command.ts';
import { dlq } from '../dlq.ts';
import { DashboardApi } from './dashboard-api.ts';
import { DashboardError, dashboardRequests } from './dashboard-request.ts';

const open: Server[] = [];

afterEach(async () => {
  for (const server of open.splice(0)) {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  }
});

async function startServer(answer: RequestListener): Promise<URL> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  open.push(server);
  await once(server, 'listening');
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}

async function failureOf(answer: RequestListener): Promise<unknown> {
  const { send, close } = dashboardRequests({ url: await startServer(answer), credentials: undefined });
  return send('GET', 'api/queues')
    .catch((error: unknown) => error)
    .finally(close);
}

it.each<[string, RequestListener, DashboardError]>([
  [
    'a page',
    (_, response) => void response.end('<html>'),
    new DashboardError('the answer is not JSON: is this the address of a dashboard?'),
  ],
  [
    'problem details, escaped',
    (_, response) => void response.writeHead(503).end('{"detail":"not \\u001b[2Jnow"}'),
    new DashboardError('not \\x1b[2Jnow', 503),
  ],
  [
    'another 404',
    (_, response) => void response.writeHead(404).end('nothing'),
    new DashboardError('the answer has status 404: is this the address of a dashboard?', 404),
  ],
  ['nothing', (request) => void request.socket.destroy(), new DashboardError('the connection was lost')],
])('fails with a clear message at %s', async (_, answer, expected) => {
  const failure = await failureOf(answer);
  expect(failure).toEqual(expected);
  expect(failure).toMatchObject({ statusCode: expected.statusCode });
});

it('fails when an answer does not have the form of the API', async () => {
  const wrong = new DashboardApi(async () => '7');
  await expect(wrong.deadLetterQueueOf('q')).rejects.toThrow(/does not have the form of the API/);
  await expect(wrong.deadLettersIn('q').next()).rejects.toThrow(/does not have the form of the API/);
});

it('escapes the names in a path, and refuses those that would name something else', async () => {
  const paths: string[] = [];
  const api = new DashboardApi(async (_, path) => {
    paths.push(path);
    return '';
  });
  await expect(api.purge('.')).rejects.toThrow('the dashboard has no address for the name "."');
  await expect(api.requeue('q', { id: '..', source: 'q' })).rejects.toThrow('no address for the name ".."');
  await api.requeue('a/b', { id: '?x#', source: undefined });
  await api.requeue('q', { id: 'm1', source: 'a&b/..' });
  expect(paths).toEqual([
    'api/queues/a%2Fb/messages/%3Fx%23/requeue',
    'api/queues/q/messages/m1/requeue?source=a%26b%2F..',
  ]);
});

it('shows the payload of a dead letter as the dashboard sends it: its numbers, the order of its keys and the repeated ones', async () => {
  const payload = '{"b": 1.10,\n\t"a":9007199254740993,"2":0,"1":-0,"a":"]\\u0041"}';
  const headers = '{"deadLetterSource":"q","deadLetterReason":"MaxRetries","deadLetterAttempts":"3"}';
  const message = `{"id":"m1","payload":${payload},"headers":${headers}}`;
  const url = await startServer((request, response) => {
    const page = request.url?.endsWith('offset=0') ? `[${message}, {"id":"m2","headers":${headers}}]` : '[]';
    response.end(request.url === '/api/queues/q' ? '{}' : page);
  });
  const outputOf = async (argv: readonly string[]) => {
    const context = testCommandContext();
    await dlq.run(['list', 'q', '--dashboard-url', url.href, ...argv], context);
    return context.output();
  };
  const table = await outputOf([]);
  expect(table).toContain(`  ${payload.replace('\n\t', ' ')}\n`);
  expect(table).toMatch(/^m2 .* null$/m);
  const json = await outputOf(['--json']);
  expect(json).toContain(`"payload": ${payload}\n`);
  expect(JSON.parse(json)).toEqual([
    { ...expectedLetter, id: 'm1', payload: JSON.parse(payload) },
    { ...expectedLetter, id: 'm2', payload: null },
  ]);
});

const expectedLetter = {
  source: 'q',
  reason: 'MaxRetries',
  attemptCount: 3,
  deadLetteredAt: null,
  headers: { deadLetterSource: 'q', deadLetterReason: 'MaxRetries', deadLetterAttempts: '3' },
};

it('says that the dashboard asks for credentials, or refuses them', async () => {
  const wanted = `Basic ${Buffer.from('ann:secret').toString('base64')}`;
  const url = await startServer((request, response) => {
    if (request.headers.authorization !== wanted) return void response.writeHead(401).end();
    response.end(request.url === '/api/queues/q' ? '{}' : '[]');
  });
  const run = async (argv: readonly string[], environment: Readonly<Record<string, string>> = {}) => {
    const context = testCommandContext(environment);
    const exitCode = await dlq.run(['list', 'q', '--dashboard-url', url.href, '--json', ...argv], context);
    return [exitCode, context.output(), context.errors()];
  };
  expect(await run(['--username', 'ann'], { TRUEMQ_PASSWORD: 'secret' })).toEqual([
    ExitCode.Done,
    '[]\n',
    '',
  ]);
  expect((await run([]))[2]).toMatch(/asks for a name and a password\n.*--username/);
  const refused = await run(['--username', 'ann'], { TRUEMQ_PASSWORD: 'x' });
  expect(refused).toEqual([
    ExitCode.Failed,
    '',
    `truemq: the dashboard at ${url.href} refuses this name or password\n`,
  ]);
});
