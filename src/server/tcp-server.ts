// The TCP listener: it accepts connections and hands them to the engine; what they say is none of its business.

import { createServer, type Server } from 'node:net';
import type { Engine } from '../engine/engine.ts';

/** How much may be written to a socket before it says that it is full. */
const HIGH_WATER_MARK_BYTES = 262_144;

export type TcpServer = {
  readonly host: string;
  /** The real port, also where port 0 was asked for. */
  readonly port: number;
  /** Accepts no connection any more; those that are open go on. */
  close(): void;
};

/** Listens on `host` and `port` (0: any free one). Rejects with the system's error, for instance EADDRINUSE. */
export function listenTcp(
  engine: Engine,
  { host, port }: { host: string; port: number },
): Promise<TcpServer> {
  const options = { allowHalfOpen: true, noDelay: true, highWaterMark: HIGH_WATER_MARK_BYTES };
  const server = createServer(options, (socket) => engine.attach(socket, socket.remoteAddress ?? ''));
  return new Promise((resolve, reject) => {
    // Stays when it listens: that one connection cannot be accepted, for want of descriptors, must not end the broker.
    server.on('error', reject);
    server.listen({ host, port }, () => {
      resolve({ host, port: portOf(server), close: () => void server.close() });
    });
  });
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The listener has no port.');
  return address.port;
}
