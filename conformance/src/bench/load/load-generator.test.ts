// Publisher and subscribers against the skeleton, in this process: every message is accounted for, and one that is taken away by somebody
// else is missed.
import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Relay } from '../../../bench/skeleton/relay.ts';
import type { DeliveryMode } from '../../history/operation.ts';
import { Command } from '../../wire/command.ts';
import { LatencyHistogram } from '../statistics/latency-histogram.ts';
import { currentSecond, loadClock } from './load-clock.ts';
import type { Address } from './load-link.ts';
import { LoadLink } from './load-link.ts';
import { Publisher } from './publisher.ts';
import { deleteQueue, makeQueue, queueLength } from './queue-commands.ts';
import { SteadyQueue } from './steady-queue.ts';
import { SubscriberGroup } from './subscriber-group.ts';

const clock = loadClock(currentSecond());
const pass = { queue: 'q', tag: 'pass0001', payloadBytes: 100 };
const publish = { ...pass, window: 16, durationMs: 60_000 };

type Running = { readonly address: Address; readonly server: Server; readonly closing: (() => void)[] };

async function runningSkeleton(): Promise<Running> {
  const relay = new Relay();
  const closing: (() => void)[] = [];
  const server = createServer((socket) => {
    closing.push(() => socket.destroy());
    relay.attach(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { address: { host: '127.0.0.1', port: (server.address() as AddressInfo).port }, server, closing };
}

describe('a load on the skeleton', () => {
  let running: Running;
  beforeEach(async () => {
    running = await runningSkeleton();
  });
  afterEach(() => {
    for (const close of running.closing) close();
    running.server.close();
  });

  async function parties(mode: DeliveryMode, count: number) {
    const control = await LoadLink.open(running.address);
    await makeQueue(control, 'q', { mode });
    const publisher = await Publisher.open(running.address, clock);
    const group = new SubscriberGroup(clock, (credit) => publisher.credit(credit));
    const acknowledge = mode !== 'FanOutWithoutAck';
    await group.open(running.address, { queue: 'q', count, prefetch: 8, acknowledge });
    return { control, publisher, group };
  }

  it('counts what was sent, confirmed and delivered', async () => {
    const { publisher, group } = await parties('RoundRobin', 1);
    group.arm({ ...pass, creditEvery: 0 });
    const outcome = await publisher.publish({ ...publish, maxCount: 500 });
    const received = await group.expect(500);
    expect(outcome).toMatchObject({ sentCount: 500, confirmedCount: 500, refusedByCode: {} });
    expect(received).toMatchObject({ receivedCount: 500, lostCount: 0, repeatedCount: 0 });
    const latency = new LatencyHistogram();
    latency.addAll(received.latency);
    expect(latency.count).toBe(500);
  });

  it.each<DeliveryMode>(['FanOutWithAck', 'FanOutWithoutAck'])(
    'gives %s to every subscriber, never further ahead than the lead',
    async (mode) => {
      const { publisher, group } = await parties(mode, 5);
      group.arm({ ...pass, creditEvery: 4 });
      await publisher.publish({ ...publish, maxCount: 300, lead: 32 });
      expect(await group.expect(300)).toMatchObject({ receivedCount: 1500, lostCount: 0 });
    },
  );

  it('sends an open loop at its rate', async () => {
    const { publisher, group } = await parties('RoundRobin', 1);
    group.arm({ ...pass, creditEvery: 0 });
    const outcome = await publisher.publish({ ...publish, durationMs: 100, perSecond: 2000 });
    expect(outcome.sentCount).toBe(200);
    expect(outcome.lateness?.buckets.length).toBeGreaterThan(0);
    expect(await group.expect(200)).toMatchObject({ receivedCount: 200, lostCount: 0 });
  });

  it('misses what somebody else took', async () => {
    const { publisher, group } = await parties('RoundRobin', 1);
    const thief = await LoadLink.open(running.address);
    await thief.request({ command: Command.Subscribe, queue: 'q', headers: { maxInFlight: '10' } });
    group.arm({ ...pass, creditEvery: 0 });
    await publisher.publish({ ...publish, maxCount: 100 });
    const { receivedCount, lostCount } = await group.expect(100, 300);
    expect(receivedCount + lostCount).toBe(100);
    expect(lostCount).toBe(10);
  });

  it('fails when the connection ends under it', async () => {
    const { publisher, group } = await parties('RoundRobin', 1);
    group.arm({ ...pass, creditEvery: 0 });
    const both = Promise.allSettled([
      publisher.publish({ ...publish, perSecond: 10 }),
      group.expect(1_000_000),
    ]);
    for (const close of running.closing) close();
    for (const outcome of await both) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'LoadFault' } });
    }
  });

  it('holds a queue at one length while messages pass through it', async () => {
    const queue = await SteadyQueue.open(running.address, { queue: 's', waitingCount: 30, payloadBytes: 64 });
    const control = await LoadLink.open(running.address);
    expect(await queueLength(control, 's')).toBe(30);
    await queue.pass(400);
    expect(await queueLength(control, 's')).toBe(30);
    await queue.publish(50);
    expect(await queueLength(control, 's')).toBe(80);
    await queue.take(50);
    expect(await queueLength(control, 's')).toBe(30);
    await deleteQueue(control, 's');
    expect(await queueLength(control, 's')).toBe(0);
    queue.close();
  });
});
