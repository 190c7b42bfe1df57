// Loads with many parties against the skeleton in this process: every shape ends with all its deliveries, and one whose broker goes away fails.
import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Command } from '../../src/wire/command.ts';
import { FrameSplitter } from '../../src/wire/frame-splitter.ts';
import { Relay } from '../skeleton/relay.ts';
import { deliveriesOfOne, type Shape, shapes } from './shape.ts';
import { ShapeLoad } from './shape-load.ts';

describe('a load with many parties', () => {
  let server: Server;
  const closing: (() => void)[] = [];
  const sent = { publishes: 0, acks: 0, withPriority: 0 };
  beforeEach(async () => {
    Object.assign(sent, { publishes: 0, acks: 0, withPriority: 0 });
    const relay = new Relay();
    server = createServer((socket) => {
      closing.push(() => socket.destroy());
      const splitter = new FrameSplitter((frame) => {
        if (frame.command === Command.Publish) sent.publishes += 1;
        if (frame.command === Command.Ack) sent.acks += 1;
        if (frame.bytes.toString('latin1', frame.headersAt, frame.endAt).includes('priority'))
          sent.withPriority += 1;
      });
      socket.on('data', (chunk: Buffer) => splitter.push(chunk));
      relay.attach(socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => {
    for (const close of closing.splice(0)) close();
    server.close();
  });

  const opened = (shape: Shape): Promise<ShapeLoad> =>
    ShapeLoad.open({ host: '127.0.0.1', port: (server.address() as AddressInfo).port }, shape);
  const small = (shape: Shape): Shape => ({
    ...shape,
    queueCount: Math.min(shape.queueCount, 20),
    publisherCount: Math.min(shape.publisherCount, 5),
    passCount: 400,
  });

  it.each(shapes.map((shape) => [shape.load, small(shape)] as const))('%s', async (_, shape) => {
    const load = await opened(shape);
    await load.pass();
    await load.pass();
    load.close();
    expect(sent.publishes).toBe(800);
    expect(sent.acks).toBeGreaterThanOrEqual(800 * deliveriesOfOne(shape) - 256 * shape.subscriberCount);
    expect(sent.withPriority).toBe(shape.priorities.length === 0 ? 0 : 800);
  });

  it('fails when its broker goes away', async () => {
    const load = await opened(small(shapes[0] as Shape));
    for (const close of closing) close();
    await expect(load.pass()).rejects.toThrow();
    load.close();
  });

  it('has passes that its publishers can share', () => {
    for (const { passCount, queueCount, publisherCount } of shapes)
      expect(passCount % (queueCount * publisherCount)).toBe(0);
  });
});
