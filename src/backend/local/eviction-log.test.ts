// What is logged of dead letters that push out others: enough to notice, and never a flood.

import { describe, expect, it } from 'vitest';
import type { LogFields } from '../../model/logger.ts';
import { publish, subscribe, TestedBroker } from '../../testing/tested-broker.ts';
import { VirtualEnvironment } from '../../testing/virtual-environment.ts';
import { EvictionLog } from './eviction-log.ts';

function eviction() {
  const environment = new VirtualEnvironment();
  const lines: (LogFields | undefined)[] = [];
  const nothing = () => undefined;
  const warn = (_sentence: string, fields?: LogFields) => void lines.push(fields);
  const log = new EvictionLog(environment, { error: nothing, warn, info: nothing, debug: nothing });
  return { environment, lines, log };
}

describe('the log of evictions', () => {
  it('tells of the first at once and of later ones once a second, with their number [DLQ-021]', async () => {
    const { environment, lines, log } = eviction();
    for (const _ of Array.from({ length: 50 })) log.add(new Map([['q.dlq', 2]]));
    expect(lines).toEqual([{ queue: 'q.dlq', count: 2 }]);
    await environment.advance(1000);
    expect(lines.slice(1)).toEqual([{ queue: 'q.dlq', count: 98 }]);
    await environment.advance(1000);
    expect(lines).toHaveLength(2);
    expect(environment.timerCount).toBe(0);
  });

  it('does not name more than ten queues at once, and counts the others [DLQ-021]', () => {
    const { lines, log } = eviction();
    log.add(new Map(Array.from({ length: 1000 }, (_, number) => [`q${number}`, 1])));
    expect(lines).toHaveLength(11);
    expect(lines[10]).toEqual({ queues: 990, count: 990 });
  });

  it('tells the rest at the end, and leaves no timer', () => {
    const { environment, lines, log } = eviction();
    log.add(new Map([['a', 1]]));
    log.add(new Map([['a', 4]]));
    log.end();
    expect(lines).toEqual([
      { queue: 'a', count: 1 },
      { queue: 'a', count: 4 },
    ]);
    expect(environment.timerCount).toBe(0);
  });
});

describe('a broker', () => {
  it('logs that a dead letter pushes out another one, and nothing else that is pushed out [DLQ-021]', async () => {
    const tested = new TestedBroker();
    const client = await tested.connect();
    const create = (queue: string, options: object) =>
      ({ command: 40, id: 'c', queue, payload: JSON.stringify(options) }) as const;
    const nack = (id: string) =>
      ({ command: 30, id, headers: [['failureReason', 'DeserializationError']] }) as const;
    await tested.exchange(
      client,
      create('small', { maxQueueSize: 1 }),
      publish('small', 's1'),
      publish('small', 's2'),
      create('q', { maxQueueSize: 1, enableDeadLetterQueue: true }),
      subscribe('q'),
      publish('q', 'm1'),
      publish('q', 'm2'),
    );
    await tested.exchange(client, nack('m1'));
    expect(tested.logged).toEqual([]);
    await tested.exchange(client, nack('m2'));
    expect(tested.logged).toEqual(['a full dead letter queue has lost its oldest messages']);
  });
});
