// The skeleton as a target: an adapter and its broker in one process. It supports only the settings address and durable storage, and
// does not report the others as unsupported, so do not run checks against it. Ends when its standard input ends.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { Ledger } from './ledger.ts';
import { Relay } from './relay.ts';

type Wanted = {
  readonly tcp: { readonly host: string; readonly port: number };
  readonly storage?: string;
  readonly dataDirectory: string;
};

/** Reads one line of the adapter protocol, serves, and answers with one line. */
export async function serveSkeleton(): Promise<void> {
  const lines = createInterface({ input: process.stdin });
  lines.once('close', () => process.exit(0));
  process.once('SIGTERM', () => process.exit(0));
  const [line] = (await once(lines, 'line')) as [string];
  const { tcp, storage, dataDirectory } = JSON.parse(line) as Wanted;
  const isDurable = storage === 'durable' || storage === 'sqlite';
  const ledger = isDurable ? await Ledger.open(dataDirectory) : undefined;
  const relay = new Relay(ledger);
  const server = createServer({ noDelay: true }, (socket) => relay.attach(socket));
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
