// A dashboard that only has the live stream, over HTTP: tests say which events it sends. For tests of programs that read the stream.

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { Change, Point, QueueFacts, QueueValues, Snapshot } from '../http/dashboard/live/live-events.ts';

export type FakeStream = {
  readonly headers: IncomingHttpHeaders;
  readonly send: (name: string, event: unknown) => void;
  /** Ends the answer. */
  readonly end: () => void;
};

export type FakeDashboard = {
  /** With the path prefix, and a slash at its end. */
  readonly url: string;
  readonly close: () => Promise<void>;
};

export type FakeDashboardOptions = {
  readonly pathPrefix?: string;
  /** `name:password`; absent: everybody is answered. */
  readonly credentials?: string;
  readonly onStream: (stream: FakeStream) => void;
};

export async function startFakeDashboard(options: FakeDashboardOptions): Promise<FakeDashboard> {
  const { pathPrefix = '/', credentials, onStream } = options;
  const wanted = credentials && `Basic ${Buffer.from(credentials).toString('base64')}`;
  const server = createServer(({ url, headers }, response) => {
    if (wanted !== undefined && headers.authorization !== wanted) return refuse(response, 401);
    if (url !== `${pathPrefix}api/events`) return refuse(response, 404);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send: FakeStream['send'] = (name, event) =>
      void response.write(`event: ${name}\ndata: ${JSON.stringify(event)}\n\n`);
    onStream({ headers, send, end: () => void response.end() });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as { readonly port: number };
  const close = async (): Promise<void> => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  return { url: `http://127.0.0.1:${port}${pathPrefix}`, close };
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'application/problem+json' });
  response.end(JSON.stringify({ title: 'Refused', detail: 'There is nothing here.' }));
}

export function livePoint(fields: Partial<Point> = {}): Point {
  return {
    at: 0,
    publishedRate: 1234,
    deliveredRate: 5.5,
    acknowledgedRate: 5,
    errorRate: 0,
    waitingCount: 30,
    inFlightCount: 3,
    latencyP50Ms: 1.25,
    latencyP99Ms: 80,
    memoryBytes: 33_554_432,
    connectionCount: 12,
    ...fields,
  };
}

export function liveQueue(id: number, name: string, fields: Partial<QueueFacts> = {}): QueueFacts {
  return {
    id,
    name,
    deliveryMode: 'RoundRobin',
    maxQueueSize: 100,
    overflowStrategy: 'DropOldest',
    maxRetryAttempts: 3,
    messageTtlMs: null,
    deadLetterQueueName: null,
    createdAt: 0,
    depths: [],
    ...fields,
  };
}

export function liveSnapshot(
  queues: readonly QueueFacts[],
  values: readonly QueueValues[],
  fields: Partial<Snapshot> = {},
): Snapshot {
  const point = Object.entries(livePoint()).map(([field, value]) => [field, [value]]);
  return {
    serverVersion: '9.9.9',
    now: 100_000,
    memoryLimitBytes: 536_870_912,
    asksForCredentials: false,
    health: { isHealthy: true, reasons: [] },
    points: Object.fromEntries(point) as Snapshot['points'],
    queues,
    values,
    ...fields,
  };
}

export function liveChange(values: readonly QueueValues[], fields: Partial<Change> = {}): Change {
  return { now: 101_000, health: { isHealthy: true, reasons: [] }, point: livePoint(), values, ...fields };
}
