// The skeleton as a target: an adapter and its broker in one process. It supports only the settings address, TLS and durable storage, and
// does not report the others as unsupported: it accepts every credential. So do not run checks against it. Ends when its standard input ends.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { createServer as createTlsServer } from 'node:tls';
import { Ledger } from './ledger.ts';
import { Relay } from './relay.ts';

type Wanted = {
  readonly tcp: { readonly host: string; readonly port: number };
  readonly storage?: string;
  readonly tls?: { readonly certificatePath: string; readonly keyPath: string } | null;
  readonly dataDirectory: string;
};

/** Reads one line of the adapter protocol, serves, and answers with one line. */
export async function serveSkeleton(): Promise<void> {
  const lines = createInterface({ input: process.stdin });
  lines.once('close', () => process.exit(0));
  process.once('SIGTERM', () => process.exit(0));
  const [line] = (await once(lines, 'line')) as [string];
  const { tcp, storage, tls, dataDirectory } = JSON.parse(line) as Wanted;
  const isDurable = storage === 'durable' || storage === 'sqlite';
  const ledger = isDurable ? await Ledger.open(dataDirectory) : undefined;
  const relay = new Relay(ledger);
  const server = serverFor(tls, (socket) => relay.attach(socket));
  server.listen(tcp.port, tcp.host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const unsupported = isDurable && ledger === undefined ? ['storage'] : [];
  const answer = {
    protocol: 1,
    ready: true,
    broker: { name: 'skeleton' },
    tcp: { ...tcp, port },
    unsupported,
  };
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

function serverFor(tls: Wanted['tls'], attach: (socket: Socket) => void): Server {
  if (tls === undefined || tls === null) return createServer({ noDelay: true }, attach);
  const files = { cert: readFileSync(tls.certificatePath), key: readFileSync(tls.keyPath) };
  return createTlsServer({ noDelay: true, ...files }, attach);
}
