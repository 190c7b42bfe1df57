// An earlier run has used up the broker's rate limit: the broker closes new connections immediately, and the runner connects again after the
// window.
import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { Evidence } from '../evidence.ts';
import { randomFor } from '../random.ts';
import type { TlsTrust } from '../target/target-file.ts';
import { timingFor } from '../timing.ts';
import { Trace } from '../trace.ts';
import { openConnection, refusesConnections } from './open-connection.ts';
import type { Pacer } from './pacer.ts';
import { noPacer, windowPacer } from './pacer.ts';

let server: Server;

afterEach(async () => {
  server.close();
  await once(server, 'close');
});

/** Starts a server that closes the first `count` connections immediately and keeps the others. */
async function refusing(
  count: number,
  tls?: TlsTrust,
): Promise<{ open(pacer: Pacer): Promise<boolean>; arrivedAt: number[]; evidence: Evidence; trace: Trace }> {
  const arrivedAt: number[] = [];
  const evidence = new Evidence();
  const trace = new Trace();
  server = createServer((socket: Socket) => {
    arrivedAt.push(performance.now());
    if (arrivedAt.length <= count) socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const address = { host: '127.0.0.1', port, ...(tls && { tls }) };
  const open = async (pacer: Pacer): Promise<boolean> => {
    const setting = {
      name: 'A',
      mode: 'whole',
      random: randomFor(1, 'x'),
      timing: timingFor(1),
      maxMessageSizeBytes: 1000,
      evidence,
      trace,
      now: () => 0,
      nextId: () => 'x',
    } as const;
    const connection = await openConnection(address, setting, pacer);
    const isClosed = connection.isClosed;
    connection.destroy();
    return isClosed;
  };
  return { open, arrivedAt, evidence, trace };
}

it('waits for a window after a refusal, and connects again', async () => {
  const { open, arrivedAt } = await refusing(1);
  const windowMs = 300;
  expect(await open(windowPacer(5, windowMs))).toBe(false);
  const [refusedAt = 0, acceptedAt = 0] = arrivedAt;
  expect(acceptedAt - refusedAt).toBeGreaterThan(windowMs);
});

it('connects again only during the first window, because later the broker counts only this run', async () => {
  const { open, arrivedAt } = await refusing(2);
  await open(windowPacer(5, 300));
  await expect.poll(() => arrivedAt.length).toBe(2);
});

it('does not connect again if the target declares no rate limit', async () => {
  const { open, arrivedAt } = await refusing(1);
  await open(noPacer);
  await expect.poll(() => arrivedAt.length).toBe(1);
});

it('is in the trace also where the connection ends before its TLS handshake: the run looks there for refusals', async () => {
  const { open, trace } = await refusing(1, { verify: false });
  await expect(open(noPacer)).rejects.toThrow('the broker accepts a connection');
  expect(trace.events.map(({ kind, byRunner }) => [kind, byRunner])).toEqual([
    ['opened', undefined],
    ['closed', undefined],
  ]);
});

it('counts as a wait of the check', async () => {
  const { open, evidence } = await refusing(0);
  await open(noPacer);
  expect(evidence.minWaitMs).toBe(timingFor(1).connectMs);
});

describe('whether the broker refuses connections', () => {
  it.each([
    ['closes them at once', (socket: Socket) => socket.destroy(), true],
    ['keeps them', () => {}, false],
    ['says something before it closes them', (socket: Socket) => socket.end('x'), false],
  ])('is seen when it %s', async (_title, accept, expected) => {
    server = createServer((socket) => void accept(socket)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    expect(await refusesConnections({ host: '127.0.0.1', port }, timingFor(1))).toBe(expected);
  });

  it('is not said of one that does not listen', async () => {
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    expect(await refusesConnections({ host: '127.0.0.1', port }, timingFor(1))).toBe(false);
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
});
