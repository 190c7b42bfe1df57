// A connection is transferred from one check to another: the first check cannot reach the broker any more, and the second one loses no
// bytes of the stream; and how long sending took. Uses a server that answers each frame.

import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Evidence } from '../evidence.ts';
import { randomFor } from '../random.ts';
import { timingFor } from '../timing.ts';
import { Trace } from '../trace.ts';
import { BrokerConnection } from './broker-connection.ts';
import type { WireMode } from './chunking.ts';
import { Command } from './command.ts';
import { decodeBody } from './decode.ts';
import { encodeFrame } from './encode.ts';
import { FrameReader } from './frame-reader.ts';
import type { ConnectionSetting } from './link.ts';

let server: Server;
const seen: string[] = [];
const answers = new Map<number, number>([
  [Command.Connect, Command.ConnectAck],
  [Command.Ping, Command.Pong],
]);

afterEach(() => {
  seen.length = 0;
  server.close();
});

function serve(socket: Socket): void {
  const reader = new FrameReader(1000);
  socket.on('data', (chunk: Buffer) => {
    reader.push(chunk);
    for (let frame = reader.next(); frame !== undefined; frame = reader.next()) {
      const { command, id } = decodeBody(frame.body);
      seen.push(id);
      const answer = answers.get(command);
      if (answer !== undefined) socket.write(encodeFrame({ command: answer, id }));
    }
  });
}

function settingOf(name: string, mode: WireMode): ConnectionSetting {
  let count = 0;
  const nextId = (): string => {
    count += 1;
    return `${name}-${count}`;
  };
  const common = { maxMessageSizeBytes: 1000, evidence: new Evidence(), trace: new Trace(), now: () => 0 };
  return { ...common, name, mode, random: randomFor(1, name), timing: timingFor(1), nextId };
}

async function opened(mode: WireMode): Promise<BrokerConnection> {
  server = createServer(serve).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const connection = new BrokerConnection({ socket, resettable: socket }, settingOf('one', mode));
  await connection.handshake(undefined);
  return connection;
}

it('shows the next check only the handshake', async () => {
  const first = await opened('whole');
  await first.ping();
  const second = first.transferTo(settingOf('two', 'whole'));
  await second.ping();
  expect(second.received.map(({ id }) => id)).toEqual(['one-1', 'two-1']);
  expect(first.received.map(({ id }) => id)).toEqual(['one-1', 'one-2']);
  second.destroy();
});

it('ignores what the earlier check sends later, and stays open if the earlier check ends it', async () => {
  const first = await opened('whole');
  const second = first.transferTo(settingOf('two', 'whole'));
  await first.send({ command: Command.Ping, id: 'late' });
  await first.sendRaw(Buffer.from([1, 2, 3]));
  await first.end();
  first.destroy();
  await expect(first.ping()).rejects.toThrow('did not come');
  await second.ping();
  expect(seen).toEqual(['one-1', 'two-1']);
  expect(second.isClosed).toBe(false);
  second.destroy();
});

it('first sends all remaining pieces of the frame of the earlier check', async () => {
  const first = await opened('bytewise');
  void first.send({ command: Command.Ack, id: 'begun' });
  const second = first.transferTo(settingOf('two', 'bytewise'));
  await second.ping();
  expect(seen).toEqual(['one-1', 'begun', 'two-1']);
  second.destroy();
});

it('can be detached before an answer arrives, and reports the end of the connection', async () => {
  const first = await opened('whole');
  void first.send({ command: Command.Ping, id: 'one-p' });
  const second = first.detach();
  await second.expect({ command: 'Pong', id: 'one-p' });
  second.destroy();
  expect(await second.closed()).toBe('end');
  expect(first.isClosed).toBe(false);
});

describe('the time that sending takes', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => void vi.useRealTimers());

  it('is counted until the last piece is with the socket, and once for frames that are sent at the same time', async () => {
    const connection = await opened('bytewise');
    const before = connection.sendingMs;
    const sending = [connection.send(ping('a')), connection.send(ping('b'))];
    vi.advanceTimersByTime(70);
    expect(connection.sendingMs - before).toBe(70);
    await Promise.all(sending);
    vi.advanceTimersByTime(500);
    expect(connection.sendingMs - before).toBe(70);
  });

  it('is none of the next check', async () => {
    const first = await opened('bytewise');
    const sending = first.send(ping('a'));
    vi.advanceTimersByTime(70);
    await sending;
    expect(first.transferTo(settingOf('two', 'whole')).sendingMs).toBe(0);
  });
});

const ping = (id: string) => ({ command: Command.Ping, id });
