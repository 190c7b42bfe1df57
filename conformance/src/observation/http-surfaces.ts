// Observes the health server and the dashboard of a broker. If their addresses are not given, it tries the default ports of the protocol
// on the same host. Areas: HEALTH, METRICS, DASH.
import type { HttpAnswer, HttpSurface } from '../check.ts';
import { Evidence } from '../evidence.ts';
import { httpSurface } from '../http-surface.ts';
import type { Timing } from '../timing.ts';
import { Trace } from '../trace.ts';
import { answersPrometheus } from './capabilities.ts';
import type { Fact, Observation } from './observation.ts';

const longForm = 'total_connections_accepted';

export function surfaceAt(name: string, url: string, timing: Timing): HttpSurface {
  const startedAt = performance.now();
  return httpSurface({
    name,
    baseUrl: () => url,
    timing,
    evidence: new Evidence(),
    trace: new Trace(),
    now: () => performance.now() - startedAt,
  });
}

/** `url`: with or without `/health/` at its end. */
export async function observeHealth(url: string, timing: Timing): Promise<Partial<Observation>> {
  const base = url.replace(/\/health\/?$/, '');
  const surface = surfaceAt('the health server', base, timing);
  const health = await answerOf(surface, '/health/');
  if (health === undefined) return { facts: [{ topic: 'health', text: `no answer at ${url}` }] };
  const status = bodyFieldOf(health, 'status');
  if (typeof status !== 'string') {
    const text = `${base}/health/ answers ${health.status} without a health record`;
    return { facts: [{ topic: 'health', text }] };
  }
  const facts: Fact[] = [{ topic: 'health', text: `${base}/health/ answers ${health.status}, ${status}` }];
  const prometheus = await answersPrometheus(surface);
  facts.push({ topic: 'metrics', text: await metricsText(surface, prometheus) });
  return { healthUrl: base, facts, capabilities: prometheus ? ['prometheus'] : [] };
}

async function metricsText(surface: HttpSurface, prometheus: boolean): Promise<string> {
  const metrics = await answerOf(surface, '/metrics/');
  if (metrics === undefined || bodyFieldOf(metrics, 'total_messages_published') === undefined)
    return 'no metrics record';
  const form = bodyFieldOf(metrics, longForm) === undefined ? 'the shorter form' : 'the complete form';
  return `${form} of the record${prometheus ? ', and Prometheus text' : ''}`;
}

export async function observeDashboard(url: string, timing: Timing): Promise<Partial<Observation>> {
  const surface = surfaceAt('the dashboard', url, timing);
  const answer = await answerOf(surface, '/api/version');
  const version = answer === undefined ? undefined : bodyFieldOf(answer, 'server_version');
  if (version === undefined) return { facts: [{ topic: 'dashboard', text: `no dashboard at ${url}` }] };
  return {
    dashboardUrl: url,
    facts: [{ topic: 'dashboard', text: `at ${url}, server_version ${String(version)}` }],
  };
}

async function answerOf(surface: HttpSurface, path: string): Promise<HttpAnswer | undefined> {
  return surface.get(path).catch(() => undefined);
}

/** A field of the JSON object in the body; undefined if the body is not a JSON object. */
export function bodyFieldOf(answer: HttpAnswer, name: string): unknown {
  try {
    const value: unknown = JSON.parse(answer.body);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  } catch {
    return undefined;
  }
}
