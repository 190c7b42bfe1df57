// Serves an app on a host and port of its own. Only the composition root calls it. Implements HEALTH-014, DASH-030 and HTTP-004.

import { type H3, toNodeHandler } from 'h3';
import { type HttpListener, type HttpListenOptions, listenHttp } from './listen.ts';

/** @throws ListenError when it cannot listen there */
export function serveApp(app: H3, where: Omit<HttpListenOptions, 'handler'>): Promise<HttpListener> {
  const handler = toNodeHandler(app);
  // The app answers every error itself, so its promise never rejects.
  return listenHttp({ ...where, handler: (request, response) => void handler(request, response) });
}
