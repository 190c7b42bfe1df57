// The skeleton as a target: an adapter and its broker in one process. It honours no setting but the address and says so by listing
// none: nothing that judges a broker should ever be pointed at it. Ends with its standard input.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { Relay } from './relay.ts';

type Wanted = { readonly tcp: { readonly host: string; readonly port: number } };

/** Reads one line of the adapter protocol, serves, and answers with one line. */
export async function serveSkeleton(): Promise<void> {
  const lines = createInterface({ input: process.stdin });
  lines.once('close', () => process.exit(0));
  process.once('SIGTERM', () => process.exit(0));
  const [line] = (await once(lines, 'line')) as [string];
  const { host } = (JSON.parse(line) as Wanted).tcp;
  const relay = new Relay();
  const server = createServer({ noDelay: true }, (socket) => relay.attach(socket));
  server.listen((JSON.parse(line) as Wanted).tcp.port, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const answer = { protocol: 1, ready: true, broker: { name: 'skeleton' }, tcp: { host, port } };
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
