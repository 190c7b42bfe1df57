// The dashboard as a function from request to answer: the page, and the API over queues and messages, below the path prefix. It does not listen (see
// serve-app.ts), so it can be tested without a port. It asks for no credentials unless it is told to. Implements DASH-001 to DASH-026, DASH-028, DASH-031 to
// DASH-036, DASH-038 to DASH-040, HTTP-001 to HTTP-003.

import { getRequestIP, H3, type H3Event } from 'h3';
import type { BasicAccess } from '../../auth/basic-access.ts';
import type { BrokerView, OperatorView } from '../broker-view.ts';
import type { MemorySampler } from '../health/memory.ts';
import { healthRecord, type Moment, metricsRecord } from '../health/records.ts';
import { openapiDocument } from '../openapi-document.ts';
import { jsonResponse, jsonTextResponse, notFound, problemResponse } from '../problem.ts';
import { answerFault, methodNotAllowed, refuseForeignHost, withoutBody } from '../requests.ts';
import { eventStreamHeaders, type LiveFeed } from './live/live-feed.ts';
import type { PageFiles } from './page-files.ts';
import { pageQuery } from './page-query.ts';
import { jsonList, messageJson, queueJson } from './records.ts';
import {
  accessRefused,
  brokerRefused,
  emptyLastName,
  emptyName,
  messageNotFound,
  noMessageWaits,
  requestRefused,
  requeueRefused,
} from './refusals.ts';

/** A list of messages ends with the one that makes it heavier than this: it is made in one piece, beside the deliveries. */
const MAX_LIST_BYTES = 1_048_576;

export type DashboardAppOptions = {
  readonly view: Pick<BrokerView, 'stats'>;
  readonly operator: OperatorView;
  /** Asks for the credentials of a superuser. Absent: everybody is answered. */
  readonly access?: Pick<BasicAccess, 'judge'> | undefined;
  /** The events of `api/events`. */
  readonly live: Pick<LiveFeed, 'open'>;
  /** Undefined: the page was not built. */
  readonly page: PageFiles | undefined;
  readonly sampleMemory: MemorySampler;
  /** Milliseconds since 1970. */
  readonly wallNow: () => number;
  /** Milliseconds since the start of the broker, on a clock that never goes back. */
  readonly uptimeMs: () => number;
  /** Names that the Host header may carry beside IP addresses and localhost. */
  readonly allowedHosts: readonly string[];
  /** Begins and ends with a slash. */
  readonly pathPrefix: string;
  readonly serverVersion: string;
  /** Called for an internal error while answering; the client only receives 500. */
  readonly onFault: (error: unknown) => void;
};

type Answer = () => Response | Promise<Response>;
/** The answers of one path by method; HEAD is answered as GET, without the body. */
type Methods = Readonly<Partial<Record<'GET' | 'POST' | 'DELETE', Answer>>>;

export function createDashboardApp(options: DashboardAppOptions): H3 {
  const app = new H3({ silent: true, onError: (error) => answerFault(error, options.onFault) });
  const { pathPrefix } = options;
  app.use(({ req }) => refuseForeignHost(req, options.allowedHosts) ?? requestRefused(req));
  const { access } = options;
  if (access !== undefined) {
    app.use(async (event) => {
      const address = getRequestIP(event) ?? '';
      return accessRefused(await access.judge(event.req.headers.get('authorization'), address));
    });
  }
  for (const [path, methodsOf] of Object.entries(apiPaths(options))) {
    app.all(`${pathPrefix}api/${path}`, (event) => answer(event, methodsOf(event)));
  }
  app.all(`${pathPrefix}api/**`, ({ url }) =>
    url.pathname.includes('//') ? emptyName() : unknownPath(options),
  );
  app.all(pathPrefix, (event) => answer(event, { GET: () => pageResponse(event, options) }));
  app.all(`${pathPrefix}assets/:file`, (event) =>
    answer(event, { GET: () => assetResponse(event, options) }),
  );
  app.all('/**', () => unknownPath(options));
  return app;
}

/** What each path below `api/` answers. */
function apiPaths(options: DashboardAppOptions): Readonly<Record<string, (event: H3Event) => Methods>> {
  const { operator, serverVersion, pathPrefix } = options;
  return {
    version: () => ({
      GET: () => jsonResponse({ server_version: serverVersion, webui_version: serverVersion }),
    }),
    health: () => ({ GET: () => jsonResponse(healthRecord(takeMoment(options))) }),
    metrics: () => ({ GET: () => jsonResponse(metricsRecord(takeMoment(options))) }),
    'openapi.json': () => ({ GET: async () => jsonResponse(await openapiDocument(pathPrefix)) }),
    events: ({ req, url }) => ({ GET: () => eventsResponse(req, url.searchParams, options.live) }),
    queues: () => ({ GET: async () => jsonResponse(await operator.listQueues()) }),
    'queues/:queue': ({ context }) => queueMethods(operator, named(context.params, 'queue')),
    'queues/:queue/messages': ({ context, url }) =>
      messagesMethods(operator, named(context.params, 'queue'), url.searchParams),
    'queues/:queue/messages/:id': (event) =>
      messageMethods(operator, named(event.context.params, 'queue'), messageNameOf(event)),
    'queues/:queue/messages/:id/requeue': (event) =>
      requeueMethods(operator, named(event.context.params, 'queue'), messageNameOf(event)),
  };
}

function queueMethods(operator: OperatorView, queue: string): Methods {
  const ifExists = async (then: (json: string) => Response | Promise<Response>): Promise<Response> => {
    const info = await operator.queueInfo(queue);
    return info === undefined ? notFound(`Queue ${queue} does not exist.`) : then(queueJson(info));
  };
  return {
    GET: () => ifExists((json) => jsonTextResponse(json)),
    DELETE: () => ifExists(() => done(operator.deleteQueue(queue))),
  };
}

function messagesMethods(operator: OperatorView, queue: string, parameters: URLSearchParams): Methods {
  const page = { ...pageQuery(parameters), maxBytes: MAX_LIST_BYTES };
  return {
    GET: async () => jsonTextResponse(jsonList((await operator.listMessages(queue, page)).map(messageJson))),
    DELETE: () => done(operator.purgeQueue(queue)),
  };
}

/** `source`: only a dead letter that comes from this queue is meant; undefined: any message with this id. */
type MessageName = { readonly id: string; readonly source: string | undefined };

function messageNameOf({ context, url }: H3Event): MessageName {
  return { id: named(context.params, 'id'), source: url.searchParams.get('source') ?? undefined };
}

function messageMethods(operator: OperatorView, queue: string, { id, source }: MessageName): Methods {
  return {
    GET: async () => {
      const message = await operator.readMessage(queue, id, source);
      if (message === undefined) return messageNotFound(source);
      return jsonTextResponse(messageJson(message));
    },
    DELETE: async () => {
      const isRemoved = await operator.removeMessage(queue, id, source);
      return isRemoved ? noContent() : noMessageWaits(source);
    },
  };
}

function requeueMethods(operator: OperatorView, queue: string, { id, source }: MessageName): Methods {
  return {
    POST: async () => {
      const outcome = await operator.requeueMessage(queue, id, source);
      return outcome === 'requeued' ? noContent() : requeueRefused(outcome, source);
    },
  };
}

/** The part of the path with that name; h3 leaves it escaped, so that a slash in a name is none of the path. */
function named(parameters: Readonly<Record<string, string>> | undefined, name: string): string {
  return decodeURIComponent(parameters?.[name] ?? '');
}

async function answer({ req, url }: H3Event, methods: Methods): Promise<Response> {
  const method = req.method === 'HEAD' ? 'GET' : req.method;
  const chosen = methods[method as keyof Methods];
  if (chosen === undefined) return methodNotAllowed(req.method, allowed(methods));
  if (method !== 'GET' && url.pathname.endsWith('/')) return emptyLastName();
  const response = await answerOrRefusal(chosen);
  return req.method === 'HEAD' ? withoutBody(response) : response;
}

async function answerOrRefusal(chosen: Answer): Promise<Response> {
  try {
    return await chosen();
  } catch (error) {
    return brokerRefused(error);
  }
}

function allowed(methods: Methods): string {
  return Object.keys(methods)
    .flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    .join(', ');
}

function takeMoment({ view, sampleMemory, wallNow, uptimeMs }: DashboardAppOptions): Moment {
  return { stats: view.stats(), memory: sampleMemory(), wallNow: wallNow(), uptimeMs: uptimeMs() };
}

async function done(change: Promise<void>): Promise<Response> {
  await change;
  return noContent();
}

function noContent(): Response {
  return new Response(null, { status: 204, headers: { 'cache-control': 'no-store' } });
}

/** HEAD is answered without a stream, which nobody would read. */
function eventsResponse(
  { method, headers }: Request,
  parameters: URLSearchParams,
  live: Pick<LiveFeed, 'open'>,
): Response {
  if (method === 'HEAD') return new Response(null, { headers: eventStreamHeaders });
  return live.open(parameters.get('queue') ?? undefined, headers.get('authorization'));
}

/** The addresses in the page begin where it is, so it is only at the prefix with its last slash. */
function pageResponse({ req, url }: H3Event, { page, pathPrefix }: DashboardAppOptions): Response {
  if (url.pathname !== pathPrefix)
    return new Response(null, { status: 308, headers: { location: `${pathPrefix}${url.search}` } });
  return page === undefined ? pageIsMissing() : page.index(req);
}

function assetResponse({ req, context }: H3Event, { page }: DashboardAppOptions): Response {
  return page === undefined ? pageIsMissing() : page.asset(named(context.params, 'file'), req);
}

function pageIsMissing(): Response {
  const detail =
    'The page of the dashboard was not built: run "npm run build" in the clone of the broker, and start it again. What the page would show is below api/, for example api/queues and api/metrics.';
  return problemResponse({ status: 503, title: 'Service Unavailable', detail });
}

function unknownPath({ pathPrefix }: DashboardAppOptions): Response {
  return notFound(`The dashboard is at ${pathPrefix}, its API below ${pathPrefix}api/.`);
}
