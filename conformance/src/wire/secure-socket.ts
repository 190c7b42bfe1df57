// TLS on an open TCP connection to the broker. The TCP socket stays at hand, because only it can be reset. Area: TLS.
import type { Socket } from 'node:net';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { connect } from 'node:tls';
import type { TlsVersion } from '../check.ts';
import type { TlsTrust } from '../target/target-file.ts';

export type SecureOptions = {
  readonly trust: TlsTrust;
  readonly host: string;
  /** Offers this version only; otherwise TLS 1.2 and 1.3. */
  readonly version?: TlsVersion | undefined;
  readonly withinMs: number;
};

/** Rejects with the reason in words, when the handshake fails or does not end in time. The TCP socket is destroyed then. */
export function secureSocket(tcp: Socket, options: SecureOptions): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ socket: tcp, ...handshakeOptions(options) });
    const fail = (reason: string): void => {
      clearTimeout(timer);
      tcp.destroy();
      reject(new Error(`the TLS handshake failed: ${reason}`));
    };
    const { withinMs } = options;
    const timer = setTimeout(() => fail(`it did not end within ${withinMs} ms`), withinMs);
    const failWith = (error: Error): void => fail(error.message);
    const failClosed = (): void => fail('the broker closed the connection');
    socket.once('error', failWith).once('close', failClosed);
    socket.once('secureConnect', () => {
      clearTimeout(timer);
      socket.off('error', failWith).off('close', failClosed);
      resolve(socket);
    });
  });
}

function handshakeOptions({ trust, host, version }: SecureOptions): ConnectionOptions {
  const { ca, verify = true, anyName = false } = trust;
  return {
    rejectUnauthorized: verify,
    host,
    // An address is no name that a client may ask for.
    ...(/[a-z]/i.test(host) && !host.includes(':') ? { servername: host } : {}),
    ...(ca === undefined ? {} : { ca }),
    ...(anyName ? { checkServerIdentity: () => undefined } : {}),
    ...(version === undefined ? {} : versionOptions(version)),
  };
}

/** OpenSSL offers versions before 1.2 only at its lowest security level. */
function versionOptions(version: TlsVersion): ConnectionOptions {
  const ciphers = version === 'TLSv1.1' ? { ciphers: 'DEFAULT@SECLEVEL=0' } : {};
  return { minVersion: version, maxVersion: version, ...ciphers };
}
