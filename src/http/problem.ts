// HTTP errors as problem details (RFC 9457): one shape for every error of every HTTP server here. The body says what the client did wrong
// and nothing about the process. Implements HTTP-001, HTTP-003 (no header here allows another origin).

export type ProblemDetails = {
  readonly status: number;
  /** The same for every occurrence of this status. */
  readonly title: string;
  /** What was wrong with this request. */
  readonly detail: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** An answer of type application/problem+json. `type` is `about:blank`: the status says all that programs need. */
export function problemResponse({ status, title, detail, headers }: ProblemDetails): Response {
  const body = JSON.stringify({ type: 'about:blank', title, status, detail });
  return new Response(body, {
    status,
    headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store', ...headers },
  });
}

/** For a path or a thing that does not exist. */
export function notFound(detail: string): Response {
  return problemResponse({ status: 404, title: 'Not Found', detail });
}

/** A JSON answer that must not be cached, because it is soon outdated. */
export function jsonResponse(record: unknown, status = 200): Response {
  return jsonTextResponse(JSON.stringify(record), status);
}

/** As {@link jsonResponse}, of a text that is JSON already. */
export function jsonTextResponse(text: string, status = 200): Response {
  return new Response(text, {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  });
}
