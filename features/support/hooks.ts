// What holds for every scenario: an Error that no step looked at fails it, so do bytes that are no frames and a broker that
// has failed; its connections end with it, and a failure is told with everything that was said.

import assert from 'node:assert/strict';
import { After, AfterAll, setDefaultTimeout } from '@cucumber/cucumber';
import { Command } from '../../src/protocol/command.ts';
import { describeMessage } from './received-frame.ts';
import { driver, type FeatureWorld, ofCommand } from './world.ts';

/** Longer than any step waits by itself, so that the step says what is missing. */
setDefaultTimeout(30_000);

After(async function (this: FeatureWorld, { result }) {
  if (this.brokerInUse === undefined) return;
  if (result?.status !== 'PASSED') this.log(`${this.conversation.join('\n')}\n${this.brokerInUse.log()}`);
  try {
    if (result?.status === 'PASSED') await lookForFaults(this);
  } finally {
    await endConnections(this);
    this.brokerInUse.release();
  }
});

AfterAll(() => driver.close());

async function lookForFaults(world: FeatureWorld): Promise<void> {
  await world.settle();
  for (const client of world.clients.values()) {
    assert.equal(client.fault, undefined, `${client.label} received something that is no frame`);
    const error = client.take(ofCommand(Command.Error));
    const told =
      error === undefined ? '' : `: ${describeMessage(error.message)}\n${world.conversation.join('\n')}`;
    assert.ok(error === undefined, `${client.label} received an Error that no step looked at${told}`);
  }
  assert.notEqual(world.brokerInUse?.state(), 'failed', `the broker failed\n${world.brokerInUse?.log()}`);
}

/** In good order, so that the next scenario finds a broker without connections. */
async function endConnections(world: FeatureWorld): Promise<void> {
  const clients = [...world.clients.values()].filter((client) => !client.isClosed);
  for (const client of clients) client.hangUp();
  await world.brokerInUse?.until(() => clients.every((client) => client.isClosed) || undefined);
}
