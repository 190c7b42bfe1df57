// The page of the dashboard and its stream of events, as requests ask for them: which path answers what, to whom, and how. Proves DASH-031 and DASH-035.

import { describe, expect, it } from 'vitest';
import { shownStatistics as stats } from '../../testing/shown-statistics.ts';
import { createDashboardApp, type DashboardAppOptions } from './dashboard-app.ts';
import { eventStreamHeaders } from './live/live-feed.ts';
import { PageFiles } from './page-files.ts';

type Request = (path: string, init?: RequestInit) => Promise<Response>;

const file = (text: string) => ({
  body: new TextEncoder().encode(text),
  gzipBody: undefined,
  headers: { x: 'y' },
});
const page = new PageFiles(file('<!doctype html>'), new Map([['main.js', file('start();')]]));

/** A dashboard whose queues are nowhere. */
function pageRequests(options: Partial<DashboardAppOptions> = {}): Request {
  const app = createDashboardApp({
    view: { stats: () => stats },
    operator: {} as DashboardAppOptions['operator'],
    live: { open: (queue) => new Response(`events of ${queue}`, { headers: eventStreamHeaders }) },
    page,
    sampleMemory: () => ({ residentBytes: 1, residentLimitBytes: 2, heapUsedBytes: 1, heapLimitBytes: 2 }),
    wallNow: () => 0,
    uptimeMs: () => 0,
    allowedHosts: [],
    pathPrefix: '/',
    serverVersion: '1.2.3',
    onFault: (fault) => {
      throw fault;
    },
    ...options,
  });
  return async (path, init = {}) => app.request(path, init);
}

describe('the page', () => {
  it('is served at the prefix, with its files below it [DASH-035, DASH-026]', async () => {
    const request = pageRequests({ pathPrefix: '/mq/' });
    const textOf = async (path: string): Promise<unknown> => {
      const response = await request(path);
      return [response.status, response.headers.get('x'), await response.text()];
    };
    expect(await textOf('/mq/')).toEqual([200, 'y', '<!doctype html>']);
    expect(await textOf('/mq/?view=queues&sort=name')).toEqual([200, 'y', '<!doctype html>']);
    expect(await textOf('/mq/assets/main.js')).toEqual([200, 'y', 'start();']);
  });

  it('leads from its address without the last slash to the right one', async () => {
    const request = pageRequests({ pathPrefix: '/mq/' });
    const response = await request('/mq?queue=orders');
    expect([response.status, response.headers.get('location')]).toEqual([308, '/mq/?queue=orders']);
  });

  it.each([
    ['GET', '/assets/other.js', 404],
    ['GET', '/assets/', 404],
    ['GET', '/assets/..%2f..%2fpackage.json', 404],
    ['GET', '/assets/%2e%2e%2f%2e%2e%2fpackage.json', 404],
    ['GET', '/assets/../../package.json', 404],
    ['GET', '/index.html', 404],
    ['GET', '/queues', 404],
    ['POST', '/', 405],
    ['DELETE', '/assets/main.js', 405],
    ['POST', '/api/events', 405],
  ])('answers %s %s by %i', async (method, path, status) => {
    const request = pageRequests();
    expect((await request(path, { method })).status).toBe(status);
  });

  it.each(['/', '/assets/main.js', '/api/events'])(
    'answers HEAD of %s as GET without a body',
    async (path) => {
      const request = pageRequests();
      const [head, get] = [await request(path, { method: 'HEAD' }), await request(path)];
      expect([head.status, await head.text()]).toEqual([200, '']);
      expect(Object.fromEntries(head.headers)).toEqual(Object.fromEntries(get.headers));
    },
  );

  it('opens a stream of events, for the whole broker or for a queue', async () => {
    const request = pageRequests();
    expect(await (await request('/api/events')).text()).toBe('events of undefined');
    expect(await (await request('/api/events/?queue=%C3%84.b')).text()).toBe('events of Ä.b');
  });

  it.each(['/', '/assets/main.js', '/api/events'])('asks for credentials, if it is to: %s', async (path) => {
    const access = { judge: async () => 'missing' as const };
    const request = pageRequests({ access });
    expect((await request(path)).status).toBe(401);
  });

  it('is answered by 503 with instructions when it was not built [DASH-031]', async () => {
    const request = pageRequests({ page: undefined, pathPrefix: '/mq/' });
    for (const path of ['/mq/', '/mq/assets/main.js']) {
      const response = await request(path);
      expect([response.status, await response.text()]).toEqual([
        503,
        expect.stringContaining('npm run build'),
      ]);
    }
  });
});
