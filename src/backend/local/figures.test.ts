// What the broker counts, against what went over the wire.

import { describe, expect, it } from 'vitest';
import { testSettings } from '../../testing/broker-harness.ts';
import { ack, publish, subscribe, TestedBroker } from '../../testing/tested-broker.ts';

const broker = { ...testSettings, ackTimeoutMs: 1000, retryDelayMs: 100 };

describe('the figures', () => {
  it('count what is published, delivered and acknowledged, and what is in flight [METRICS-008, METRICS-009, METRICS-010, METRICS-014]', async () => {
    const tested = new TestedBroker({ broker });
    const client = await tested.connect();
    await tested.exchange(
      client,
      subscribe('q'),
      publish('q', 'm1'),
      publish('q', 'm2'),
      publish('q', 'm2'),
      publish('r', 'm3'),
    );
    expect(tested.broker.stats()).toMatchObject({
      publishedCount: 3,
      deliveredCount: 2,
      acknowledgedCount: 0,
      inFlightCount: 2,
      queueCount: 2,
    });
    await tested.exchange(client, ack('m1'), ack('m1'), ack('unknown'));
    expect(tested.broker.stats()).toMatchObject({
      acknowledgedCount: 1,
      inFlightCount: 1,
      deliveredCount: 2,
    });
  });

  it('count an ack in the pause before the next attempt [METRICS-010]', async () => {
    const tested = new TestedBroker({ broker });
    const client = await tested.connect();
    await tested.exchange(client, subscribe('q'), publish('q', 'm1'));
    await tested.advance(1050);
    await tested.exchange(client, ack('m1'));
    expect(tested.broker.stats()).toMatchObject({ acknowledgedCount: 1, inFlightCount: 0, retryCount: 0 });
  });

  it('have the same latency when a message is delivered again [METRICS-015]', async () => {
    const tested = new TestedBroker({ broker });
    const client = await tested.connect();
    await tested.exchange(client, publish('q', 'm1'));
    await tested.advance(500);
    await tested.exchange(client, subscribe('q'));
    const { averageDeliveryLatencyMs } = tested.broker.stats();
    expect(averageDeliveryLatencyMs).toBeGreaterThanOrEqual(500);
    await tested.advance(2500);
    expect(tested.broker.stats()).toMatchObject({ retryCount: 2, averageDeliveryLatencyMs });
  });

  it('count retries and dead letters [METRICS-011, METRICS-012, METRICS-009]', async () => {
    const tested = new TestedBroker({ broker });
    const client = await tested.connect();
    const payload = '{"enableDeadLetterQueue":true,"maxRetryAttempts":2}';
    await tested.exchange(
      client,
      { command: 40, id: 'c', queue: 'q', payload },
      subscribe('q'),
      publish('q', 'm1'),
    );
    await tested.advance(1100);
    expect(tested.broker.stats()).toMatchObject({ deliveredCount: 2, retryCount: 1, deadLetteredCount: 0 });
    await tested.advance(1100);
    expect(tested.broker.stats()).toMatchObject({
      deliveredCount: 2,
      retryCount: 1,
      deadLetteredCount: 1,
      inFlightCount: 0,
    });
    expect(tested.broker.queueInfo('q.dlq')?.messageCount).toBe(1);
  });

  it('count Errors sent, messages pushed out and connections rejected [METRICS-013, METRICS-019]', async () => {
    const tested = new TestedBroker({ maxConnections: 1 });
    const client = await tested.connect();
    const payload = '{"maxQueueSize":1}';
    await tested.exchange(
      client,
      { command: 40, id: 'c', queue: 'q', payload },
      publish('q', 'm1'),
      publish('q', 'm2'),
    );
    expect(tested.broker.stats()).toMatchObject({ errorsCount: 1, publishedCount: 2 });
    await tested.exchange(client, publish('', 'm3'));
    tested.attach();
    await tested.settle();
    expect(tested.broker.stats()).toMatchObject({ errorsCount: 3, connectionsRejectedCount: 1 });
  });

  it('never fall, whatever leaves [METRICS-007]', async () => {
    const tested = new TestedBroker({ broker, maxConnections: 1 });
    const client = await tested.connect();
    const readings = [countersOf(tested)];
    const read = () => void readings.push(countersOf(tested));
    const payload = '{"enableDeadLetterQueue":true,"maxRetryAttempts":2}';
    await tested.exchange(client, subscribe('q'), publish('q', 'm1'), publish('q', 'm2'));
    read();
    await tested.exchange(client, ack('m1'), publish('', 'm3'));
    read();
    await tested.exchange(client, { command: 40, id: 'c', queue: 'r', payload }, subscribe('r'));
    await tested.exchange(client, publish('r', 'm4'));
    await tested.advance(2200);
    tested.attach();
    await tested.settle();
    read();
    const queues = ['q', 'r', 'r.dlq'];
    await tested.exchange(client, ...queues.map((queue) => ({ command: 41, id: 'd', queue })));
    read();
    await tested.exchange(client, { command: 2, id: 'bye' });
    read();
    for (const [index, reading] of readings.entries())
      for (const name of counters)
        expect([name, reading[name] >= (readings[index - 1]?.[name] ?? 0)]).toEqual([name, true]);
    for (const name of counters) expect([name, readings.at(-1)?.[name]]).not.toEqual([name, 0]);
    expect(tested.broker.stats()).toMatchObject({
      activeConnectionCount: 0,
      inFlightCount: 0,
      queueCount: 0,
      queuedBytes: 0,
    });
  });
});

const counters = [
  'publishedCount',
  'deliveredCount',
  'acknowledgedCount',
  'retryCount',
  'deadLetteredCount',
  'errorsCount',
  'connectionsAcceptedCount',
  'connectionsRejectedCount',
] as const;

function countersOf(tested: TestedBroker): Readonly<Record<(typeof counters)[number], number>> {
  return { ...tested.broker.stats() };
}
