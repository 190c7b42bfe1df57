// Opens a TCP connection to a broker. The only place of the client that knows about sockets. Area CLIENT.

import { connect, type Socket } from 'node:net';
import { DEFAULT_HOST, DEFAULT_PORT } from '../model/default-address.ts';
import { ConnectionError } from './errors.ts';
import type { ConnectOptions } from './options.ts';

/** @throws ConnectionError with the system's code, or `ETIMEDOUT` when the connection takes longer than `timeoutMs` */
export function dial(options: Pick<ConnectOptions, 'host' | 'port'>, timeoutMs: number): Promise<Socket> {
  const { host = DEFAULT_HOST, port = DEFAULT_PORT } = options;
  // Where a name has several addresses, the error that sums up their failures has no message of its own.
  const fail = (code: string, cause?: Error) =>
    new ConnectionError(code, `cannot connect to ${host}:${port}: ${cause?.message || code}`, { cause });
  return new Promise((resolve, reject) => {
    // Small frames are the rule; the client gathers them itself, so waiting for more would only add delay.
    const socket = connect({ host, port, noDelay: true });
    const onError = (error: NodeJS.ErrnoException) => reject(fail(error.code ?? 'CONNECTION_FAILED', error));
    const timer = setTimeout(() => {
      socket.destroy();
      reject(fail('ETIMEDOUT'));
    }, timeoutMs);
    socket.once('error', onError);
    socket.once('close', () => clearTimeout(timer));
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.off('error', onError);
      resolve(socket);
    });
  });
}
