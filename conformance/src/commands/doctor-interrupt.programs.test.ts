// An interrupt ends the doctor while it waits for the broker, and it leaves nothing behind on a broker that it does not own.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { spawnBroker } from '../target/broker.ts';
import type { Target } from '../target/target-file.ts';
import { doctor, targetWith } from '../testing/doctor.ts';
import { timingFor } from '../timing.ts';
import { Command } from '../wire/command.ts';
import { decodeBody } from '../wire/decode.ts';

const headBytes = 5;

it('ends with 5, and deletes the queues on an attached broker', async () => {
  const { lifecycle } = targetWith('no-delivery');
  if (lifecycle.kind !== 'spawn') throw new Error('the broker is spawned');
  const broker = await spawnBroker(lifecycle, {}, timingFor(1));
  const interrupt = new AbortController();
  const created = new Set<string>();
  const server = createServer((client) => {
    const upstream = connect(broker.endpoints.tcp);
    client.on('error', () => upstream.destroy());
    // The broker ends while the doctor's connections do.
    upstream.on('error', () => client.destroy());
    client.pipe(upstream).pipe(client);
    client.on('data', (chunk: Buffer) => {
      // The doctor writes one frame at a time.
      const { command, queue } = decodeBody(chunk.subarray(headBytes));
      if (command === Command.CreateQueue) created.add(queue);
      if (command === Command.DeleteQueue) created.delete(queue);
      if (command === Command.Publish && queue.includes('delivery')) interrupt.abort();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const endpoints = { tcp: { host: '127.0.0.1', port } };
  const target: Target = { schema: 1, name: 'x', lifecycle: { kind: 'attach' }, endpoints };
  const { exitCode, text } = await doctor(target, '20', interrupt.signal);
  expect({ exitCode, text }).toEqual({ exitCode: 5, text: 'truemq-conformance: interrupted' });
  expect([...created]).toEqual([]);
  await broker.dispose();
  server.close();
});
