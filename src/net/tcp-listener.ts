// The TCP listener: accepts TCP connections and passes each to a handler.

import { createServer, type Server } from 'node:net';
import type { Duplex } from 'node:stream';

/** Serves the accepted connections. */
export type ConnectionHandler = { attach(stream: Duplex, address: string): void };

/** Unsent bytes of a socket above which writes report that it is full. */
const HIGH_WATER_MARK_BYTES = 262_144;

export type TcpServer = {
  readonly host: string;
  /** The actual port, also when port 0 was configured. */
  readonly port: number;
  /** Stops accepting connections; open ones continue. */
  close(): void;
};

export type TcpOptions = {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** A connection could not be accepted, usually because file descriptors ran out; the listener continues. */
  readonly onFault?: (error: Error) => void;
};

/** Listens on a host and port. Rejects with the system's error, for instance EADDRINUSE. */
export function listenTcp(
  handler: ConnectionHandler,
  { host, port, onFault = () => undefined }: TcpOptions,
): Promise<TcpServer> {
  const options = { allowHalfOpen: true, noDelay: true, highWaterMark: HIGH_WATER_MARK_BYTES };
  const server = createServer(options, (socket) => handler.attach(socket, socket.remoteAddress ?? ''));
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.removeListener('error', reject);
      server.on('error', onFault);
      resolve({ host, port: portOf(server), close: () => void server.close() });
    });
  });
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The listener has no port.');
  return address.port;
}
