// The dashboard's API without a port, over a whole broker with a client, for tests. Answers to GET are compared with the published document.

import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { createDashboardApp, type DashboardAppOptions } from '../http/dashboard/dashboard-app.ts';
import { Command } from '../protocol/command.ts';
import { shownStatistics as stats } from './shown-statistics.ts';
import { subscribe, TestedBroker } from './tested-broker.ts';

const MIB = 1024 * 1024;
/** What the dashboard is told of the memory. */
export const memory = {
  residentBytes: 52 * MIB,
  residentLimitBytes: 1000 * MIB,
  heapUsedBytes: 10 * MIB,
  heapLimitBytes: 1000 * MIB,
};
const now = Date.UTC(2026, 1, 18, 10, 30, 0, 123);

/** The published document. */
export const dashboardDocument = parse(
  readFileSync(new URL('../../spec/openapi/dashboard.yaml', import.meta.url), 'utf8'),
);
const ajv = new Ajv2020({ strict: false });
ajv.addSchema(dashboardDocument, 'dashboard.yaml');

/** What the published document says against an answer to GET at that path. */
function schemaErrors(path: string, value: unknown): unknown {
  const pathname = path.split('?')[0]?.replace(/\/$/, '') ?? '';
  const template = Object.keys(dashboardDocument.paths).find((one) => templatePattern(one).test(pathname));
  if (template === undefined) throw new Error(`The document has no path for ${path}.`);
  const pointer = template.replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D');
  ajv.validate(`dashboard.yaml#/paths/${pointer}/get/responses/200/content/application~1json/schema`, value);
  return ajv.errors;
}

function templatePattern(template: string): RegExp {
  return new RegExp(`${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}

/** A broker with a client, and the dashboard over it. */
export async function testedDashboard(options: Partial<DashboardAppOptions> = {}) {
  const tested = new TestedBroker();
  const client = await tested.connect();
  const app = createDashboardApp({
    view: { stats: () => stats },
    operator: tested.broker.operator,
    live: { open: () => new Response(null) },
    page: undefined,
    sampleMemory: () => memory,
    wallNow: () => now,
    uptimeMs: () => 11_524.4184,
    allowedHosts: ['broker.example'],
    pathPrefix: '/',
    serverVersion: '1.2.3',
    onFault: (fault) => {
      throw fault;
    },
    ...options,
  });
  const request = async (path: string, init: RequestInit = {}): Promise<Response> => {
    let response: Response | undefined;
    const asked = Promise.resolve(app.request(path, init)).then((answer) => {
      response = answer;
    });
    for (let turn = 0; response === undefined && turn < 1000; turn += 1) await tested.settle();
    await asked;
    if (response === undefined) throw new Error(`${path} was not answered.`);
    return response;
  };
  return {
    tested,
    client,
    get: async (path: string): Promise<unknown> => {
      const response = await request(path);
      expect([path, response.status, response.headers.get('content-type')]).toEqual([
        path,
        200,
        'application/json',
      ]);
      const answer: unknown = await response.json();
      expect(schemaErrors(path, answer)).toBeNull();
      return answer;
    },
    request,
    status: async (path: string, method = 'GET'): Promise<number> => (await request(path, { method })).status,
    publish: async (queue: string, ids: readonly string[], fields = {}): Promise<void> => {
      for (const id of ids)
        client.send({ command: Command.Publish, id, queue, payload: '{"n":1}', headers: [], ...fields });
      await tested.settle();
    },
    createQueue: async (queue: string, options: object): Promise<void> => {
      const payload = JSON.stringify(options);
      client.send({ command: Command.CreateQueue, id: `create-${queue}`, queue, payload });
      await tested.settle();
    },
  };
}

export type Dashboard = Awaited<ReturnType<typeof testedDashboard>>;

/** Makes a dead letter of a queue, in `q.dlq`. */
export async function deadLetter(
  { tested, createQueue, publish }: Dashboard,
  id: string,
  queue = 'q',
): Promise<void> {
  const letters = { enableDeadLetterQueue: true, deadLetterQueueName: 'q.dlq' };
  await createQueue(queue, { ...letters, maxRetryAttempts: 1, maxQueueSize: 2 });
  const subscriber = await tested.connect();
  subscriber.send(subscribe(queue));
  await publish(queue, [id]);
  await tested.advance(30_000);
  subscriber.send({ command: Command.Unsubscribe, id: 'u', queue });
  await tested.settle();
}
