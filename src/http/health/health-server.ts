// Starts the health server: the app of health-app.ts on its own host and port. Only the composition root calls it. Implements HEALTH-014,
// HTTP-004.

import { toNodeHandler } from 'h3';
import { type HttpListener, listenHttp } from '../listen.ts';
import { createHealthApp, type HealthAppOptions } from './health-app.ts';

export type HealthServerOptions = HealthAppOptions & {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
};

/** @throws ListenError when it cannot listen there */
export function startHealthServer(options: HealthServerOptions): Promise<HttpListener> {
  const handler = toNodeHandler(createHealthApp(options));
  // The handler answers every error itself, so its promise never rejects.
  return listenHttp({
    host: options.host,
    port: options.port,
    handler: (request, response) => void handler(request, response),
  });
}
