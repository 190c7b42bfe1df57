// The HTTP servers of a broker: health and metrics, and the dashboard. Starts those that the configuration asks for, and ends them together.
// Implements HEALTH-014, DASH-030, DASH-035 and HTTP-004.

import { BasicAccess } from '../auth/basic-access.ts';
import type { Configuration } from '../config/configuration.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { heapLimitBytes } from '../gateway/heap-limit.ts';
import { systemEnvironment } from '../gateway/system-environment.ts';
import { throttledLogger } from '../gateway/throttled-logger.ts';
import type { HttpListener } from '../http/listen.ts';
import { ListenError } from '../http/listen-error.ts';
import type { AppOptions, MakeApp } from '../http/serve-app.ts';
import type { Logger } from '../model/logger.ts';
import type { Authentication } from './authentication.ts';
import { VERSION } from './version.ts';

/** Of each server. Each connection may hold a list of messages that its client does not read, and requests that wait. */
const MAX_HTTP_CONNECTIONS = 100;
/** Where the build puts the page of the dashboard, seen from this folder and from dist/cli, into which the build bundles this file. */
const PAGE_FOLDER = new URL('../http/dashboard/page/', import.meta.url);
/** How long an HTTP request may take after the last client has disconnected. */
const HTTP_GRACE_MS = 1_000;

export type HttpServers = {
  /** Absent when health is off. */
  readonly health: HttpListener | undefined;
  /** Absent when the dashboard is off. */
  readonly dashboard: HttpListener | undefined;
};

export type HttpParts = {
  readonly configuration: Configuration;
  readonly logger: Logger;
  readonly broker: Gateway;
  readonly authentication: Authentication;
  /** Where clients connect; undefined while they cannot. */
  readonly tcp: () => { readonly port: number; readonly tls: boolean } | undefined;
};

/**
 * One after the other: the package below finds out by a handler of the whole process that it cannot listen.
 * @throws ListenError when one of them cannot listen; the other is closed then
 */
export async function startHttpServers(parts: HttpParts): Promise<HttpServers> {
  const health = await startHealth(parts);
  try {
    return { health, dashboard: await startDashboard(parts) };
  } catch (error) {
    await health?.close({ graceMs: 0 });
    throw error;
  }
}

export async function closeHttpServers({ health, dashboard }: HttpServers): Promise<void> {
  await Promise.all([health, dashboard].map((server) => server?.close({ graceMs: HTTP_GRACE_MS })));
}

async function startHealth(parts: HttpParts): Promise<HttpListener | undefined> {
  const { configuration } = parts;
  if (!configuration.health) return undefined;
  const options = await sharedOptions(parts, 'a health request failed');
  const { healthHost: host, healthPort: port } = configuration;
  const makeApp: MakeApp = async () => {
    const { createHealthApp } = await import('../http/health/health-app.ts');
    return createHealthApp(options);
  };
  const where = { host, port, maxConnections: MAX_HTTP_CONNECTIONS, onFault: options.onFault };
  return serve(makeApp, where, '--health-host and --health-port');
}

async function startDashboard(parts: HttpParts): Promise<HttpListener | undefined> {
  const { configuration } = parts;
  if (!configuration.dashboard) return undefined;
  const { LiveFeed } = await import('../http/dashboard/live/live-feed.ts');
  const { readPage } = await import('../http/dashboard/page-files.ts');
  const { dashboardHost: host, dashboardPort: port, pathPrefix } = configuration;
  const shared = await sharedOptions(parts, 'a request to the dashboard failed');
  const options = { ...shared, access: dashboardAccess(parts), serverVersion: VERSION };
  const page = await readPage(PAGE_FOLDER);
  const live = new LiveFeed({ ...options, ...systemEnvironment, tcp: parts.tcp });
  const makeApp: MakeApp = async () => {
    const { createDashboardApp } = await import('../http/dashboard/dashboard-app.ts');
    return createDashboardApp({ ...options, operator: parts.broker.operator, live, page, pathPrefix });
  };
  const { onFault } = shared;
  const where = { host, port, maxConnections: MAX_HTTP_CONNECTIONS, onFault };
  try {
    return endingFirst(live, await serve(makeApp, where, '--dashboard-host and --dashboard-port'));
  } catch (error) {
    live.close();
    throw error;
  }
}

/** Streams never end of themselves: without this, closing would take its whole grace time. */
function endingFirst(live: { close(): void }, listener: HttpListener): HttpListener {
  const close: HttpListener['close'] = (options) => {
    live.close();
    return listener.close(options);
  };
  return { ...listener, close };
}

/** The rules of the configuration see to it that there are users when they are asked for. */
function dashboardAccess({ configuration, authentication, logger }: HttpParts): BasicAccess | undefined {
  const { authenticator, administration } = authentication;
  if (!configuration.dashboardAuthentication || authenticator === undefined || administration === undefined)
    return undefined;
  const { clock } = systemEnvironment;
  const throttled = throttledLogger(logger, clock);
  return new BasicAccess({ authenticator, administration, now: clock.now, logger: throttled });
}

async function sharedOptions({ configuration, logger, broker }: HttpParts, fault: string) {
  const { processMemorySampler } = await import('../http/health/memory.ts');
  const { clock } = systemEnvironment;
  const startedAt = clock.now();
  return {
    view: broker,
    sampleMemory: processMemorySampler(configuration.memoryLimitBytes, heapLimitBytes),
    wallNow: clock.wallNow,
    uptimeMs: () => clock.now() - startedAt,
    allowedHosts: configuration.allowedHosts,
    onFault: (error: unknown) => logger.error(fault, { error: String(error) }),
  };
}

/** A failure to listen says which flags name another address. */
async function serve(makeApp: MakeApp, options: AppOptions, flags: string): Promise<HttpListener> {
  // Loaded on demand: with it the TCP port is already open.
  const { serveApp } = await import('../http/serve-app.ts');
  try {
    return await serveApp(makeApp, options);
  } catch (error) {
    throw error instanceof ListenError ? error.setBy(flags) : error;
  }
}
