// What all HTTP servers here do with a request before and after it is answered: the checks of path and Host, methods, and faults. Implements
// HTTP-002, HTTP-007 and HTTP-008.

import { isHostAllowed, isReadableHost } from './host-check.ts';
import { problemResponse } from './problem.ts';

/** A segment of a path that parsers of URLs resolve: `.` and `..`, each dot also escaped. They take a backslash for a slash. */
const DOT_SEGMENT = /(?:^|[/\\])(?:\.|%2e){1,2}(?=[/\\]|$)/i;

/**
 * The answer to a request whose path has a dot segment; undefined: it has none. To resolve it, as the parser does that the app uses, would
 * mean another thing than the request names: with `..` for the id of a message, its queue. `target`: as it stands in the request.
 */
export function refuseDotSegment(target: string): Response | undefined {
  const [path = ''] = target.split(/[?#]/, 1);
  if (!DOT_SEGMENT.test(path)) return undefined;
  return problemResponse({
    status: 400,
    title: 'Bad Request',
    detail: 'The path has a segment "." or "..": a queue or message of that name cannot be named in a path.',
  });
}

/** The answer to a request whose Host names another server; undefined: the request is to be answered. */
export function refuseForeignHost(request: Request, allowedHosts: readonly string[]): Response | undefined {
  const host = request.headers.get('host');
  return isHostAllowed(host, allowedHosts) ? undefined : misdirected();
}

/** The answer to a request whose Host is no host, of which no URL can be made; undefined: it is one, or there is none. */
export function refuseUnreadableHost(host: string | undefined): Response | undefined {
  return host === undefined || isReadableHost(host) ? undefined : misdirected();
}

function misdirected(): Response {
  return problemResponse({
    status: 421,
    title: 'Misdirected Request',
    detail:
      'The Host header names no host that this server answers for; allowedHosts in the configuration adds names.',
  });
}

/** `allowed`: the methods of this path, as the Allow header names them. */
export function methodNotAllowed(method: string, allowed: string): Response {
  return problemResponse({
    status: 405,
    title: 'Method Not Allowed',
    detail: `${method} is not served here.`,
    headers: { allow: allowed },
  });
}

/** The same answer without its body, as HEAD asks for. */
export function withoutBody({ status, headers }: Response): Response {
  return new Response(null, { status, headers });
}

/** h3 also passes its own errors, for example for a path that cannot be decoded: their status is below 500. */
export function answerFault(
  error: { readonly status: number; readonly cause?: unknown },
  onFault: (error: unknown) => void,
): Response {
  if (error.status < 500) {
    return problemResponse({
      status: error.status,
      title: 'Bad Request',
      detail: 'The request could not be read.',
    });
  }
  onFault(error);
  return problemResponse({
    status: 500,
    title: 'Internal Server Error',
    detail: 'The broker could not answer.',
  });
}
