// The only file that starts an HTTP server. listhen is made for development servers: by default it uses another port when the configured
// one is busy or "unsafe", reads HOST, PORT and --host, installs signal handlers that end the process, and waits forever for open
// connections on close. This file sets every option, checks the outcome, and limits the time of closing. Implements HTTP-004 and
// HEALTH-014.

import { createServer, type RequestListener, type Server } from 'node:http';
import { type Listener, listen as startListhen } from 'listhen';
import { formatAddress, ListenError, listenFailureReason } from './listen-error.ts';
import { oneAtATime } from './one-at-a-time.ts';

/** The host names that listhen accepts; it would silently replace any other by localhost. */
const HOST_FORM = /^(?!-)[\d.:A-Za-z-]{1,63}(?<!-)$/;
const ANY_HOSTS: readonly string[] = ['0.0.0.0', '::'];

/** Attempts to bind a free port before the start fails. */
const MAX_ATTEMPTS = 5;

export type HttpListenOptions = {
  /** Address or name to bind to. */
  readonly host: string;
  /** 1 to 65535, or 0 for any free port. */
  readonly port: number;
  /** Called for one request of a connection at a time. */
  readonly handler: RequestListener;
  /** The most connections at a time; further ones are closed. Absent: no limit. */
  readonly maxConnections?: number;
};

export type HttpListener = {
  readonly host: string;
  /** The actual port. */
  readonly port: number;
  /** `http://127.0.0.1:2926`, without a slash at the end. */
  readonly url: string;
  /**
   * Stops listening and resolves when the last connection is closed: idle ones are closed immediately, the others by force after `graceMs`.
   */
  close(options: { readonly graceMs: number }): Promise<void>;
};

/**
 * Starts an HTTP server on exactly this host and port.
 * @throws ListenError when the port is taken, forbidden or unsafe, or the host is not an address of this machine
 */
export async function listenHttp(options: HttpListenOptions): Promise<HttpListener> {
  if (!HOST_FORM.test(options.host)) throw new ListenError(options, 'no valid host name');
  const listener = options.port === 0 ? await startAnywhere(options) : await startStrictly(options);
  if (options.port !== 0 && listener.address.port !== options.port) {
    await listener.close();
    throw new ListenError(options, 'browsers refuse this port as unsafe');
  }
  if (options.maxConnections !== undefined) listener.server.maxConnections = options.maxConnections;
  return toHttpListener(options.host, listener);
}

/** For port 0, tries another port when another process was quicker to bind the free one. */
async function startAnywhere(options: HttpListenOptions): Promise<Listener> {
  for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt += 1) {
    try {
      return await startStrictly(options);
    } catch (error) {
      if (!(error instanceof ListenError) || !error.isPortInUse) throw error;
    }
  }
  return startStrictly(options);
}

async function startStrictly(options: HttpListenOptions): Promise<Listener> {
  try {
    return await withListenErrors(() => startListhen(oneAtATime(options.handler), strictOptions(options)));
  } catch (error) {
    throw new ListenError(options, await reasonOf(error, options));
  }
}

function strictOptions({ host, port }: HttpListenOptions) {
  return {
    hostname: host,
    port: port === 0 ? { port: 0, random: true } : port,
    // Selects the addresses that listhen prints, which is off; but without it a wildcard host becomes localhost.
    public: ANY_HOSTS.includes(host),
    // Production: a busy port is an error. Test: no output on the console.
    isProd: true,
    isTest: true,
    https: false,
    autoClose: false,
    showURL: false,
    qr: false,
    open: false,
    clipboard: false,
    tunnel: false,
    ws: false,
    name: '',
    baseURL: '/',
  };
}

/**
 * listhen probes the port, releases it, and binds it again without an error listener: if somebody else binds the port in between, the
 * error is an uncaught exception. This function catches that one, by its system call, while the server starts, and no other. The process has
 * one place for such a catcher, so servers start one after the other.
 */
function withListenErrors(start: () => Promise<Listener>): Promise<Listener> {
  return starts.inTurn(() => {
    if (process.hasUncaughtExceptionCaptureCallback()) return start();
    return new Promise<Listener>((resolve, reject) => {
      process.setUncaughtExceptionCaptureCallback((error: NodeJS.ErrnoException) => {
        if (error.syscall === 'listen') reject(error);
        else passOn(error);
      });
      start().then(resolve, reject);
    }).finally(() => process.setUncaughtExceptionCaptureCallback(null));
  });
}

/** What would happen to the exception without the catcher: the handlers of the program get it, or it ends the process. */
function passOn(error: Error): void {
  const handlers = process.listeners('uncaughtException');
  if (handlers.length === 0) throw error;
  for (const handle of handlers) handle(error, 'uncaughtException');
}

/** Runs tasks one after the other. */
class Turns {
  #last: Promise<unknown> = Promise.resolve();

  inTurn<Result>(task: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(task);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

/** Of the whole process, as what it protects is: programs with several brokers start their servers in parallel. */
const starts = new Turns();

/** listhen reports only that the port is not available; binding it directly gives the reason. */
async function reasonOf(error: unknown, options: HttpListenOptions): Promise<string> {
  const reason = listenFailureReason(error) ?? listenFailureReason(await probe(options));
  return reason ?? (error instanceof Error ? error.message : String(error));
}

function probe({ host, port }: HttpListenOptions): Promise<unknown> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', resolve);
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}

function toHttpListener(host: string, listener: Listener): HttpListener {
  const { port } = listener.address;
  return {
    host,
    port,
    url: `http://${formatAddress({ host, port })}`,
    close: (options) => closeWithin(listener, options.graceMs),
  };
}

/** Otherwise a client that never finishes its request keeps the process alive. */
async function closeWithin(listener: Listener, graceMs: number): Promise<void> {
  const server: Server = listener.server;
  const force = setTimeout(() => server.closeAllConnections(), graceMs);
  await listener.close();
  clearTimeout(force);
}
