// Opens a TCP connection to a broker: the only file of the client that uses sockets. Implements CLIENT-001 (host and port).

import { connect, type Socket } from 'node:net';
import { DEFAULT_HOST, DEFAULT_PORT } from '../model/default-address.ts';
import { ConnectionError } from './errors.ts';
import type { ConnectOptions } from './options.ts';

/** @throws ConnectionError with the system's code, or `ETIMEDOUT` when the connection takes longer than `timeoutMs` */
export function dial(options: Pick<ConnectOptions, 'host' | 'port'>, timeoutMs: number): Promise<Socket> {
  const { host = DEFAULT_HOST, port = DEFAULT_PORT } = options;
  // For a name with several addresses, the error that combines their failures has no message.
  const fail = (code: string, cause?: Error) =>
    new ConnectionError(code, `cannot connect to ${host}:${port}: ${cause?.message || code}`, { cause });
  return new Promise((resolve, reject) => {
    // The client combines small frames itself, so Nagle's algorithm would only add delay.
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
