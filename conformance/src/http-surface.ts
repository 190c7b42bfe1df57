// HTTP requests to the health server and the dashboard. Uses node:http instead of fetch, because checks set the Host header and need the
// exact answer. Counts each answer as evidence. Areas: HTTP, HEALTH, METRICS, DASH.
import { request as httpRequest } from 'node:http';
import type { HttpAnswer, HttpRequest, HttpSurface } from './check.ts';
import type { Evidence } from './evidence.ts';
import { display, ExpectationFailure, PrerequisiteMissing } from './expectation.ts';
import type { Timing } from './timing.ts';
import type { Trace } from './trace.ts';
import type { HttpExchange } from './watch/watched-http.ts';

export type HttpSetting = {
  /** The name in reports, for example `the health server`. */
  readonly name: string;
  /** The address, read again for each request because a restart may change it; undefined if the target has none. */
  readonly baseUrl: () => string | undefined;
  readonly timing: Timing;
  readonly evidence: Evidence;
  readonly trace: Trace;
  readonly now: () => number;
  /** Called with each request and its answer. */
  readonly answered?: (exchange: HttpExchange) => void;
};

export function httpSurface(setting: HttpSetting): HttpSurface {
  const request = async (path: string, options: HttpRequest): Promise<HttpAnswer> => {
    const base = setting.baseUrl();
    if (base === undefined) throw new PrerequisiteMissing(`the target has no address of ${setting.name}`);
    const prefix = base.replace(/\/+$/, '');
    const url = new URL(options.asIs === true ? prefix : `${prefix}${path}`);
    const method = options.method ?? 'GET';
    const host = options.headers?.['host'];
    trace(setting, `> ${method} ${path}${host === undefined ? '' : `, Host ${host}`}`, '');
    const askedAtMs = setting.now();
    const sent = options.asIs === true ? `${url.pathname.replace(/\/+$/, '')}${path}` : undefined;
    const answer = await exchange(url, { ...options, method, path: sent }, setting);
    setting.evidence.count('responses');
    setting.answered?.({ method, path, answer, askedAtMs, answeredAtMs: setting.now() });
    trace(setting, `< ${answer.status} to ${method} ${path}`, answer.body);
    return answer;
  };
  return { request, get: (path, options = {}) => request(path, { ...options, method: 'GET' }) };
}

function exchange(
  url: URL,
  options: HttpRequest & { readonly method: string; readonly path: string | undefined },
  setting: HttpSetting,
): Promise<HttpAnswer> {
  const timeoutMs = options.withinMs ?? setting.timing.httpMs;
  setting.evidence.addWait(timeoutMs);
  return new Promise((resolve, reject) => {
    const path = options.path ?? url.pathname;
    const fail = (actual: string): void =>
      reject(noAnswer(`${setting.name} answers ${path}`, timeoutMs, actual));
    const headers = { connection: 'close', ...options.headers };
    const target = options.path === undefined ? {} : { path: options.path };
    const how = { method: options.method, headers, agent: false, ...target };
    const request = httpRequest(url, how, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', (error) => fail(String(error)));
      response.on('end', () => {
        clearTimeout(timer);
        resolve(answerOf(response.statusCode ?? 0, response.headers, Buffer.concat(chunks).toString('utf8')));
      });
    });
    const timer = setTimeout(() => request.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    request.on('error', (error) => {
      clearTimeout(timer);
      fail(error.message);
    });
    request.end();
  });
}

function answerOf(status: number, headers: NodeJS.Dict<string | string[]>, body: string): HttpAnswer {
  const flat = Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')] as const);
  return { status, headers: Object.fromEntries(flat), body, json: () => parse(body) };
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new ExpectationFailure('the body is JSON', { expected: 'one JSON text', actual: display(body) });
  }
}

function noAnswer(what: string, timeoutMs: number, actual: string): ExpectationFailure {
  return new ExpectationFailure(what, {
    expected: `an answer within ${timeoutMs} ms`,
    actual,
  });
}

function trace(setting: HttpSetting, text: string, body: string): void {
  setting.trace.add({ atMs: setting.now(), connection: 'http', kind: 'http', text }, Buffer.from(body));
}
