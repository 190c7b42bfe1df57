// The health server as a function from request to answer: paths, methods, Host check, errors. It does not listen (see health-server.ts), so
// it can be tested without a port. Implements HEALTH-001, HEALTH-011, HEALTH-012, HEALTH-013, METRICS-001, METRICS-020, HTTP-001 to
// HTTP-003, HTTP-007, HTTP-008.

import { H3 } from 'h3';
import type { BrokerView } from '../broker-view.ts';
import { isHostAllowed } from '../host-check.ts';
import { jsonResponse, problemResponse } from '../problem.ts';
import type { MemorySampler } from './memory.ts';
import { healthRecord, type Moment, metricsRecord } from './records.ts';

export type HealthAppOptions = {
  readonly view: BrokerView;
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
  const app = new H3({ silent: true, onError: (error) => answerFault(error, options) });
  app.use((event) => refuseForeignHost(event.req, options.allowedHosts));
  app.all('/health', (event) => answerRead(event.req, () => health(options)));
  app.all('/metrics', (event) =>
    answerRead(event.req, () => jsonResponse(metricsRecord(takeMoment(options)))),
  );
  app.all('/ready', (event) => answerRead(event.req, () => readiness(options)));
  app.all('/**', () => notFound());
  return app;
}

function health(options: HealthAppOptions): Response {
  const record = healthRecord(takeMoment(options));
  return jsonResponse(record, record.is_healthy ? 200 : 503);
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
function answerRead(request: Request, answer: () => Response): Response {
  if (request.method === 'GET') return answer();
  if (request.method !== 'HEAD') return methodNotAllowed(request.method);
  const { status, headers } = answer();
  return new Response(null, { status, headers });
}

function refuseForeignHost(request: Request, allowedHosts: readonly string[]): Response | undefined {
  const host = request.headers.get('host');
  if (isHostAllowed(host, allowedHosts)) return undefined;
  return problemResponse({
    status: 421,
    title: 'Misdirected Request',
    detail:
      'The Host header names no host that this server answers for; allowedHosts in the configuration adds names.',
  });
}

function methodNotAllowed(method: string): Response {
  return problemResponse({
    status: 405,
    title: 'Method Not Allowed',
    detail: `${method} is not served here.`,
    headers: { allow: 'GET, HEAD' },
  });
}

function notFound(): Response {
  return problemResponse({
    status: 404,
    title: 'Not Found',
    detail: 'There are /health/, /metrics/ and /ready here.',
  });
}

/** h3 also passes its own errors, for example for a path that cannot be decoded: their status is below 500. */
function answerFault(
  error: { readonly status: number; readonly cause?: unknown },
  options: HealthAppOptions,
): Response {
  if (error.status < 500) {
    return problemResponse({
      status: error.status,
      title: 'Bad Request',
      detail: 'The request could not be read.',
    });
  }
  options.onFault(error);
  return problemResponse({
    status: 500,
    title: 'Internal Server Error',
    detail: 'The broker could not answer.',
  });
}
