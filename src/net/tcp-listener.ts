// The TCP listener: accepts TCP connections and passes each to a handler, decrypted if they use TLS.

import { createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ServerIdentity } from './certificates.ts';
import { OpenConnections } from './open-connections.ts';
import { ReadBuffer } from './read-buffer.ts';
import { RefusedConnections } from './refused-connections.ts';
import { TlsGate } from './tls-gate.ts';

/** Serves the accepted connections. */
export type ConnectionHandler = {
  /** Whether a connection of this address is closed at once. */
  rejects(address: string): boolean;
  /** `releasesWrites`: nobody reads the bytes of a write any more when the stream has called back. */
  attach(stream: Duplex, address: string, options: { readonly releasesWrites: boolean }): void;
  /** What all connections without TLS are read into; undefined: a buffer of the listener. */
  readonly readBuffer?: Buffer | undefined;
};

/** Unsent bytes of a socket above which writes report that it is full. */
const HIGH_WATER_MARK_BYTES = 262_144;

export type TcpServer = {
  readonly host: string;
  /** The actual port, also when port 0 was configured. */
  readonly port: number;
  /** Whether clients must use TLS. */
  readonly tls: boolean;
  /** Connections that are accepted from now on use these certificates; only with TLS. */
  renewIdentity(identity: ServerIdentity): void;
  /** Stops accepting connections; open ones continue. */
  close(): void;
  /** Resolves after `close`, when the last connection has ended. */
  readonly closed: Promise<void>;
};

export type TcpOptions = {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** A connection could not be accepted, usually because file descriptors ran out; the listener continues. */
  readonly onFault?: (error: Error) => void;
  /** Clients must use TLS, and get this certificate. The handler gets a connection before its TLS handshake. */
  readonly identity?: ServerIdentity;
  /** A client did not complete its TLS handshake; only its connection ends. */
  readonly onHandshakeFailure?: (reason: string, address: string | undefined) => void;
};

/** Listens on a host and port. Rejects with the system's error, for instance EADDRINUSE. */
export function listenTcp(handler: ConnectionHandler, options: TcpOptions): Promise<TcpServer> {
  const { host, port, onFault = () => undefined } = options;
  const gate = createGate(options);
  const connections = new OpenConnections();
  const readBuffer = new ReadBuffer(connections, handler.readBuffer);
  const refused = new RefusedConnections();
  const open = (accepted: Socket): Duplex =>
    gate?.secure(accepted) ?? connections.counted(readBuffer.socketFor(accepted, HIGH_WATER_MARK_BYTES));
  const server = createServer(
    {
      allowHalfOpen: true,
      noDelay: true,
      highWaterMark: HIGH_WATER_MARK_BYTES,
      pauseOnConnect: gate === undefined,
    },
    (accepted) => {
      const address = accepted.remoteAddress ?? '';
      if (handler.rejects(address)) refused.close(accepted);
      else handler.attach(open(accepted), address, { releasesWrites: true });
    },
  );
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.removeListener('error', reject);
      server.on('error', onFault);
      resolve({
        host,
        port: portOf(server),
        tls: gate !== undefined,
        renewIdentity: (identity) => gate?.renew(identity),
        close: () => void server.close(),
        closed: new Promise((end) => server.once('close', () => end(connections.noneOpen()))),
      });
    });
  });
}

function createGate({ identity, onHandshakeFailure = () => undefined }: TcpOptions): TlsGate | undefined {
  if (identity === undefined) return undefined;
  return new TlsGate(identity, {
    onFailure: onHandshakeFailure,
    highWaterMarkBytes: HIGH_WATER_MARK_BYTES,
  });
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The listener has no port.');
  return address.port;
}
