// The health server as a function from request to answer: paths, methods, Host check, errors. It does not listen (see serve-app.ts), so
// it can be tested without a port. Implements HEALTH-001, HEALTH-011 to HEALTH-013, HEALTH-016, METRICS-001, METRICS-020,
// METRICS-021, HTTP-001 to HTTP-003, HTTP-007, HTTP-008.

import { H3 } from 'h3';
import type { BrokerView } from '../broker-view.ts';
import { jsonResponse, notFound, problemResponse } from '../problem.ts';
import { answerFault, methodNotAllowed, refuseForeignHost, withoutBody } from '../requests.ts';
import type { MemorySampler } from './memory.ts';
import { MAX_SHOWN_QUEUES, metricsFormatFor } from './metrics-format.ts';
import { healthRecord, type Moment, metricsRecord } from './records.ts';

export type HealthAppOptions = {
  readonly view: Pick<BrokerView, 'stats' | 'largestQueues' | 'readiness'>;
  readonly sampleMemory: MemorySampler;
  /** Milliseconds since 1970. */
  readonly wallNow: () => number;
  /** Milliseconds since the start of the broker, on a clock that never goes back. */
  readonly uptimeMs: () => number;
  /** Names that the Host header may carry beside IP addresses and localhost. */
  readonly allowedHosts: readonly string[];
  /** Called for an internal error while answering; the client only receives 500. */
  readonly onFault: (error: unknown) => void;
};

export function createHealthApp(options: HealthAppOptions): H3 {
  const app = new H3({ silent: true, onError: (error) => answerFault(error, options.onFault) });
  app.use((event) => refuseForeignHost(event.req, options.allowedHosts));
  app.all('/health', (event) => answerRead(event.req, () => health(options)));
  app.all('/metrics', (event) => answerRead(event.req, () => metrics(event.req, options)));
  app.all('/live', (event) => answerRead(event.req, () => jsonResponse({ live: true })));
  app.all('/ready', (event) => answerRead(event.req, () => readiness(options)));
  app.all('/**', () => unknownPath());
  return app;
}

function health(options: HealthAppOptions): Response {
  const record = healthRecord(takeMoment(options));
  return jsonResponse(record, record.is_healthy ? 200 : 503);
}

async function metrics(request: Request, options: HealthAppOptions): Promise<Response> {
  const moment = takeMoment(options);
  const format = metricsFormatFor(request.headers.get('accept'));
  if (format !== 'json') {
    const largest = options.view.largestQueues(MAX_SHOWN_QUEUES);
    const { metricsTextResponse } = await import('./metrics-text.ts');
    return metricsTextResponse({ moment, largest }, format);
  }
  const response = jsonResponse(metricsRecord(moment));
  response.headers.set('vary', 'accept');
  return response;
}

function readiness({ view }: HealthAppOptions): Response {
  const state = view.readiness();
  if (state.ready) return jsonResponse({ ready: true });
  return problemResponse({ status: 503, title: 'Service Unavailable', detail: state.reason });
}

function takeMoment(options: HealthAppOptions): Moment {
  return {
    stats: options.view.stats(),
    memory: options.sampleMemory(),
    wallNow: options.wallNow(),
    uptimeMs: options.uptimeMs(),
  };
}

/** GET and HEAD; nothing here can be changed over HTTP. */
async function answerRead(request: Request, answer: () => Response | Promise<Response>): Promise<Response> {
  if (request.method === 'GET') return answer();
  if (request.method !== 'HEAD') return methodNotAllowed(request.method, 'GET, HEAD');
  return withoutBody(await answer());
}

function unknownPath(): Response {
  return notFound('There are /health/, /metrics/, /live and /ready here.');
}
