// Recovery in time slices: what ends one early.

import { expect, it } from 'vitest';
import { Broker } from '../../broker/broker.ts';
import type { RecoveredRecord } from '../../broker/interface/store-record.ts';
import { defaultQueueOptions } from '../../model/queue-options.ts';
import { testSettings } from '../../testing/broker-harness.ts';
import { anyContent } from '../../testing/test-content.ts';
import { QueueLog } from './queue-log.ts';
import { recover as recoverInto } from './recovery.ts';

it('is cancelled after the time slice that is under way', async () => {
  let readCount = 0;
  const recover = function* (): Generator<RecoveredRecord> {
    for (let generation = 1; generation <= 10_000; generation += 1) {
      readCount += 1;
      yield {
        kind: 'queue',
        generation,
        name: `q${generation}`,
        options: defaultQueueOptions,
        createdWallAt: 0,
      };
    }
  };
  let now = 0;
  const clock = { now: () => (now += 20), wallNow: () => 0 };
  const scheduler = { soon: (task: () => void) => void setImmediate(task), after: () => () => undefined };
  const silence = () => undefined;
  const recovering = recoverInto(
    new Broker(testSettings),
    { recover, commit: silence, close: silence },
    {
      environment: { clock, scheduler, freshId: () => '' },
      logger: { debug: silence, info: silence, warn: silence, error: silence },
      queueLog: new QueueLog({ debug: silence, info: silence, warn: silence, error: silence }),
      keepContent: () => anyContent(0),
      maxContentBytes: testSettings.maxContentBytes,
      throwIfCancelled: () => {
        throw new Error('cancelled');
      },
    },
  );
  await expect(recovering).rejects.toThrow('cancelled');
  expect(readCount).toBe(64);
});
