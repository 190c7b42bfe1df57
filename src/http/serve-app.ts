// Serves an app on a host and port of its own. The app is made for the first request: its packages load what Node needs for fetch, which took
// a fifth of the start of a broker, and most brokers are started for something else. Only the composition root calls it. Implements
// HEALTH-014, DASH-030 and HTTP-004.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { H3, NodeHandler } from 'h3';
import { type HttpListener, type HttpListenOptions, listenHttp } from './listen.ts';
import { refuseDotSegment, refuseUnreadableHost } from './requests.ts';

export type MakeApp = () => Promise<H3>;

export type AppOptions = Omit<HttpListenOptions, 'handler'> & {
  /** Called when the app cannot be made, each time that it is needed, and when it fails; the client then receives 500. */
  readonly onFault: (error: unknown) => void;
};

/**
 * `makeApp` is called for the first request, and again for a later one if it has failed.
 * @throws ListenError when it cannot listen there
 */
export function serveApp(makeApp: MakeApp, options: AppOptions): Promise<HttpListener> {
  const { onFault, ...where } = options;
  let made: Promise<NodeHandler> | undefined;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // Here, because the app sees the path only when its dot segments are resolved, and fails where it cannot make a URL of Host and path.
    const refusal = refuseDotSegment(request.url ?? '') ?? refuseUnreadableHost(request.headers.host);
    if (refusal !== undefined) return send(refusal, response);
    made ??= nodeHandler(makeApp);
    let handler: NodeHandler;
    try {
      handler = await made;
    } catch (error) {
      made = undefined;
      onFault(error);
      response.writeHead(500).end();
      return;
    }
    await handler(request, response);
  };
  // The app answers every error of its own. What it fails on before it has begun must not end the process.
  const handler = (request: IncomingMessage, response: ServerResponse) =>
    void answer(request, response).catch((error: unknown) => {
      onFault(error);
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end();
    });
  return listenHttp({ ...where, handler });
}

async function send(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
}

async function nodeHandler(makeApp: MakeApp): Promise<NodeHandler> {
  const { toNodeHandler } = await import('h3');
  return toNodeHandler(await makeApp());
}
