// Connects with the password of an attached broker take turns, so that it never has many passwords to check, and what is sent behind a Connect
// stays behind it. Uses a server that answers when it is told to.

import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Evidence } from '../evidence.ts';
import { randomFor } from '../random.ts';
import { timingFor } from '../timing.ts';
import { Trace } from '../trace.ts';
import { BrokerConnection } from './broker-connection.ts';
import { Command } from './command.ts';
import type { Credentials } from './credentials.ts';
import { decodeBody } from './decode.ts';
import { encodeFrame } from './encode.ts';
import { FrameReader } from './frame-reader.ts';
import { LoginTurns } from './login-turns.ts';

type Arrived = { readonly socket: Socket; readonly command: number; readonly id: string };

let server: Server;
const arrived: Arrived[] = [];
const connections: BrokerConnection[] = [];

beforeEach(async () => {
  server = createServer((socket) => {
    const reader = new FrameReader(1000);
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      reader.push(chunk);
      for (let frame = reader.next(); frame !== undefined; frame = reader.next())
        arrived.push({ socket, ...decodeBody(frame.body) });
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(() => {
  for (const connection of connections.splice(0)) connection.destroy();
  arrived.length = 0;
  server.close();
});

function open(name: string, loginTurns: LoginTurns, credentials: Credentials): BrokerConnection {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const common = { maxMessageSizeBytes: 1000, evidence: new Evidence(), trace: new Trace(), now: () => 0 };
  const rest = { mode: 'whole', random: randomFor(1, name), timing: timingFor(1) } as const;
  const setting = { ...common, ...rest, name, nextId: () => `${name}-1`, loginTurns, credentials };
  const connection = new BrokerConnection({ socket, resettable: socket }, setting);
  connections.push(connection);
  return connection;
}

const user = { authUsername: 'u', authPassword: 'p' };
const names = ['a', 'b', 'c', 'd', 'e', 'f'];

/** All send their Connect, with a Ping behind it. */
function connectAll(credentials: Credentials): readonly BrokerConnection[] {
  const turns = new LoginTurns();
  return names.map((name) => {
    const connection = open(name, turns, credentials);
    void connection.send({ command: Command.Connect, id: name });
    void connection.send({ command: Command.Ping, id: `${name}-ping` });
    return connection;
  });
}

const idsArrived = (): readonly string[] => arrived.map(({ id }) => id).sort();
const withPing = (some: readonly string[]): readonly string[] =>
  some.flatMap((name) => [name, `${name}-ping`]).sort();

describe('Connects with a password', () => {
  it('are at most four without an answer, and what follows each stays behind it', async () => {
    connectAll(user);
    await vi.waitFor(() => expect(idsArrived()).toEqual(withPing(['a', 'b', 'c', 'd'])));
    const [first] = arrived;
    if (first === undefined) throw new Error('Nothing has arrived.');
    first.socket.write(encodeFrame({ command: Command.ConnectAck, id: first.id }));
    await vi.waitFor(() => expect(idsArrived()).toEqual(withPing(['a', 'b', 'c', 'd', 'e'])));
    for (const name of ['a', 'e']) {
      const own = arrived.filter(({ id }) => id.startsWith(name)).map(({ command }) => command);
      expect(own).toEqual([Command.Connect, Command.Ping]);
    }
  });

  it('make room when their connection is closed', async () => {
    const [first, second] = connectAll(user);
    await vi.waitFor(() => expect(arrived).toHaveLength(8));
    first?.destroy();
    await second?.abort();
    await vi.waitFor(() => expect(idsArrived()).toEqual(withPing(names)));
  });

  it('wait for no connection that was closed while it waited', async () => {
    const [first, , , , fifth] = connectAll(user);
    await vi.waitFor(() => expect(arrived).toHaveLength(8));
    fifth?.destroy();
    first?.destroy();
    await vi.waitFor(() => expect(idsArrived()).toEqual(withPing(['a', 'b', 'c', 'd', 'f'])));
  });
});

describe('Connects without a password', () => {
  it.each([{}, { authToken: 't' }])('do not wait: %o', async (credentials) => {
    connectAll(credentials);
    await vi.waitFor(() => expect(idsArrived()).toEqual(withPing(names)));
  });
});

describe('a turn', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('is over after five seconds without an answer, and makes room for one', async () => {
    const turns = new LoginTurns();
    const taken: number[] = [];
    for (const number of [0, 1, 2, 3, 4, 5])
      void turns.take().then((end) => {
        taken.push(number);
        if (number === 1) end();
        if (number === 1) end();
      });
    await vi.advanceTimersByTimeAsync(4999);
    expect(taken).toEqual([0, 1, 2, 3, 4]);
    await vi.advanceTimersByTimeAsync(1);
    expect(taken).toEqual([0, 1, 2, 3, 4, 5]);
  });
});
