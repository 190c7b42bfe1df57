// The virtual environment and the virtual network. Tests the properties that all other tests rely on: order of timers, settling, bytes that
// arrive once and in order, back-pressure.

import { describe, expect, it } from 'vitest';
import { VirtualEnvironment } from './virtual-environment.ts';
import { openVirtualConnection, type VirtualSocket } from './virtual-network.ts';

describe('VirtualEnvironment', () => {
  it('fires timers at their times, in order, and each once', async () => {
    const environment = new VirtualEnvironment();
    const fired: string[] = [];
    const note = (name: string) => () => void fired.push(`${name} at ${environment.clock.now()}`);
    environment.scheduler.after(20, note('b'));
    environment.scheduler.after(10, note('a'));
    environment.scheduler.after(20, note('c'));
    environment.scheduler.after(31, note('late'));
    await environment.advance(30);
    expect(fired).toEqual(['a at 10', 'b at 20', 'c at 20']);
    expect(environment.clock.now()).toBe(30);
    expect(environment.timerCount).toBe(1);
  });

  it('fires a timer that another one sets on the way', async () => {
    const environment = new VirtualEnvironment();
    const times: number[] = [];
    const again = () => {
      times.push(environment.clock.now());
      if (times.length < 3) environment.scheduler.after(5, again);
    };
    environment.scheduler.after(5, again);
    await environment.advance(100);
    expect(times).toEqual([5, 10, 15]);
  });

  it('does not fire a timer that was cancelled', async () => {
    const environment = new VirtualEnvironment();
    const cancel = environment.scheduler.after(5, () => expect.unreachable('it was cancelled'));
    cancel();
    await environment.advance(10);
    expect(environment.timerCount).toBe(0);
  });

  it('settles after tasks that lead to promises that lead to tasks', async () => {
    const environment = new VirtualEnvironment();
    let depth = 0;
    const deeper = () => {
      depth += 1;
      if (depth < 20) void Promise.resolve().then(() => environment.scheduler.soon(deeper));
    };
    environment.scheduler.soon(deeper);
    await environment.settle();
    expect(depth).toBe(20);
  });

  it('moves the wall clock with time, and alone', async () => {
    const environment = new VirtualEnvironment({ wallNow: 1_000 });
    await environment.advance(500);
    expect(environment.clock.wallNow()).toBe(1_500);
    environment.setWallClock(9_000);
    expect(environment.clock.now()).toBe(500);
    expect(environment.clock.wallNow()).toBe(9_000);
  });

  it('never repeats an id', () => {
    const { freshId } = new VirtualEnvironment();
    expect(new Set([freshId(), freshId(), freshId()]).size).toBe(3);
  });
});

describe('a virtual connection', () => {
  it('carries bytes both ways, in order, and both ends', async () => {
    const environment = new VirtualEnvironment();
    const { client, server } = openVirtualConnection(environment.scheduler);
    const atServer = collect(server);
    const atClient = collect(client);
    client.write('one ');
    client.end('two');
    server.end('three');
    await environment.settle();
    expect(atServer.text()).toBe('one two');
    expect(atClient.text()).toBe('three');
    expect([atServer.hasEnded(), atClient.hasEnded()]).toEqual([true, true]);
  });

  it('cuts at the given lengths', async () => {
    const environment = new VirtualEnvironment();
    const cut = (chunk: Buffer) => [...chunk].map((byte) => Buffer.from([byte]));
    const { client, server } = openVirtualConnection(environment.scheduler, { cut });
    const atServer = collect(server);
    client.write('abc');
    await environment.settle();
    expect(atServer.chunks()).toEqual(['a', 'b', 'c']);
  });

  it('carries nothing while stalled, and everything afterwards', async () => {
    const environment = new VirtualEnvironment();
    const { client, server } = openVirtualConnection(environment.scheduler);
    const atServer = collect(server);
    client.stallLine();
    client.write('late');
    await environment.settle();
    expect(atServer.text()).toBe('');
    client.resumeLine();
    await environment.settle();
    expect(atServer.text()).toBe('late');
  });

  it('pushes back when the other end does not read, and goes on when it does', async () => {
    const environment = new VirtualEnvironment();
    const { client, server } = openVirtualConnection(environment.scheduler);
    for (let count = 0; count < 100; count += 1) client.write(Buffer.alloc(10_000, 1));
    await environment.settle();
    expect(client.writableLength).toBeGreaterThan(500_000);
    const atServer = collect(server);
    await environment.settle();
    expect(atServer.text()).toHaveLength(1_000_000);
    expect(client.writableLength).toBe(0);
  });

  it('ends for the other end when one is destroyed, and swallows what that one still writes', async () => {
    const environment = new VirtualEnvironment();
    const { client, server } = openVirtualConnection(environment.scheduler);
    const atClient = collect(client);
    server.destroy();
    client.write('into the void');
    await environment.settle();
    expect(atClient.hasEnded()).toBe(true);
    expect(client.writableLength).toBe(0);
  });

  it('fails at both ends when the line breaks', async () => {
    const environment = new VirtualEnvironment();
    const { client, server } = openVirtualConnection(environment.scheduler);
    const errors: string[] = [];
    for (const end of [client, server]) end.on('error', (error) => void errors.push(error.message));
    client.breakLine();
    await environment.settle();
    expect(errors).toEqual(['read ECONNRESET', 'read ECONNRESET']);
  });
});

function collect(socket: VirtualSocket) {
  const chunks: string[] = [];
  let ended = false;
  socket.on('data', (chunk: Buffer) => void chunks.push(chunk.toString('latin1')));
  socket.on('end', () => {
    ended = true;
  });
  return { text: () => chunks.join(''), chunks: () => chunks, hasEnded: () => ended };
}
