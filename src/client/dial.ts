// Opens a connection to a broker, over TCP or TLS: the only file of the client that uses sockets. Implements CLIENT-001 (host and port),
// CLIENT-033 and TLS-010.

import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { DEFAULT_HOST, DEFAULT_PORT } from '../model/default-address.ts';
import { orAborted } from './abort.ts';
import { ConnectionError } from './errors.ts';
import { tlsFailure } from './tls-failure.ts';
import { type DialOptions, tlsContext } from './tls-options.ts';

/**
 * Resolves with a stream to the broker: after the TLS handshake, if TLS is used.
 * @throws ConnectionError with the system's or OpenSSL's code, or `ETIMEDOUT` when the connection takes longer than `timeoutMs`; the reason of
 * the signal
 */
export function dial(options: DialOptions, timeoutMs: number, signal?: AbortSignal): Promise<Socket> {
  const { host = DEFAULT_HOST, port = DEFAULT_PORT } = options;
  const fail = (error: NodeJS.ErrnoException) => {
    // For a name with several addresses, the error that combines their failures has no message.
    const { code = 'CONNECTION_FAILED', message } = error;
    const reason = tlsFailure(error) ?? (message || code);
    return new ConnectionError(code, `cannot connect to ${host}:${port}: ${reason}`, { cause: error });
  };
  let abort: () => void = () => undefined;
  const dialed = new Promise<Socket>((resolve, reject) => {
    const { socket, readyEvent } = open({ ...options, host, port });
    abort = () => socket.destroy();
    const onError = (error: Error) => reject(fail(error));
    const timer = setTimeout(() => {
      socket.destroy();
      reject(fail(Object.assign(new Error('ETIMEDOUT'), { code: 'ETIMEDOUT' })));
    }, timeoutMs);
    socket.once('error', onError);
    socket.once('close', () => clearTimeout(timer));
    socket.once(readyEvent, () => {
      clearTimeout(timer);
      socket.off('error', onError);
      resolve(socket);
    });
  });
  return orAborted(dialed, signal, abort);
}

type Address = { readonly host: string; readonly port: number };

type Opening = { readonly socket: Socket; readonly readyEvent: 'connect' | 'secureConnect' };

function open(options: DialOptions & Address): Opening {
  const { host, port } = options;
  // The client combines small frames itself, so Nagle's algorithm would only add delay.
  if (options.useTls !== true)
    return { socket: connect({ host, port, noDelay: true }), readyEvent: 'connect' };
  const servername = options.tlsServerName ?? host;
  const socket = connectTls({
    host,
    port,
    secureContext: tlsContext(options),
    rejectUnauthorized: options.skipCertificateValidation !== true,
    // An IP address must not be sent as a name; the certificate is compared with the host then.
    ...(isIP(servername) === 0 && { servername }),
  });
  return { socket: socket.setNoDelay(true), readyEvent: 'secureConnect' };
}
