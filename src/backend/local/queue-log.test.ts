// What is said about queues that were recovered or created by nobody's command, and the silence of a log without debug lines.

import { expect, it } from 'vitest';
import type { StoreRecord } from '../../broker/interface/store-record.ts';
import type { LogFields, Logger } from '../../model/logger.ts';
import { defaultQueueOptions } from '../../model/queue-options.ts';
import { QueueLog } from './queue-log.ts';

function queueLog(settings: Partial<Logger> = {}) {
  const lines: [string, LogFields | undefined][] = [];
  const unwanted = (sentence: string) => expect.unreachable(sentence);
  const debug: Logger['debug'] = (sentence, fields) => void lines.push([sentence, fields]);
  return {
    lines,
    log: new QueueLog({ error: unwanted, warn: unwanted, info: unwanted, debug, ...settings }),
  };
}

const created = (generation: number, name: string): StoreRecord => {
  const options = { ...defaultQueueOptions, maxQueueSize: 5 };
  return { kind: 'queueCreated', generation, name, options, createdWallAt: 0 };
};
const deleted = (generation: number): StoreRecord => ({ kind: 'queueDeleted', generation });
const deletion = { kind: 'deleteQueue', connection: 7, token: 0, queue: 'old' } as const;

it('names a recovered queue that is deleted', () => {
  const { lines, log } = queueLog();
  log.recovered({ generation: 3, name: 'old' });
  log.committed([deleted(3), deleted(3)], [deletion]);
  expect(lines).toEqual([['queue deleted', { queue: 'old', connection: 7 }]]);
});

it('names nobody for a queue that no command of the batch names', () => {
  const { lines, log } = queueLog();
  log.committed([created(1, 'orders.dlq')], [deletion, { kind: 'tick' }]);
  expect(lines).toEqual([['queue created', { queue: 'orders.dlq', maxQueueSize: 5 }]]);
});

it('collects nothing when debug lines are not written', () => {
  const { lines, log } = queueLog({ writesDebug: false });
  log.recovered({ generation: 3, name: 'old' });
  log.committed([created(1, 'new'), deleted(3)], [deletion]);
  expect(lines).toEqual([]);
});
