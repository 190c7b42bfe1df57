// Requests of the operator: answered when they are committed, refused if the core refuses them, and never left without an answer.

import { describe, expect, it } from 'vitest';
import { GatedStore } from '../testing/gated-store.ts';
import { publish, TestedBroker } from '../testing/tested-broker.ts';

async function engineWithMessage(store = new GatedStore()) {
  const tested = new TestedBroker({}, { store });
  const client = await tested.connect();
  client.send(publish('q', 'm1'));
  await tested.settle();
  return { tested, client, store };
}

describe('a purge by the operator', () => {
  it('is over when it is committed, and not before', async () => {
    const { tested, store } = await engineWithMessage();
    store.release();
    await tested.settle();
    let isOver = false;
    const purged = tested.broker.operator.purgeQueue('q').then(() => {
      isOver = true;
    });
    await tested.settle();
    expect([tested.broker.stats().purgedCount, isOver]).toEqual([1, false]);
    store.release();
    await purged;
    expect(isOver).toBe(true);
    expect(tested.broker.queueInfo('q')?.messageCount).toBe(0);
  });

  it('is refused where there is no such queue', async () => {
    const tested = new TestedBroker();
    await tested.settle();
    const purged = tested.broker.operator.purgeQueue('nowhere');
    const refusal = expect(purged).rejects.toMatchObject({ name: 'RequestRefused', code: 'QUEUE_NOT_FOUND' });
    await tested.settle();
    await refusal;
  });

  it('fails when the store fails before it is safe', async () => {
    const { tested, store } = await engineWithMessage();
    const purged = tested.broker.operator.purgeQueue('q');
    const failure = expect(purged).rejects.toThrow('the store has failed: disk full');
    await tested.settle();
    store.fail(new Error('disk full'));
    await tested.settle();
    await failure;
  });

  it('fails after the end', async () => {
    const tested = new TestedBroker();
    const drained = tested.broker.drain();
    await tested.settle();
    await drained;
    await expect(tested.broker.operator.purgeQueue('q')).rejects.toThrow('The broker has ended.');
  });
});
