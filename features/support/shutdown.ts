// The end of a broker, as its clients and its operator see it.

import assert from 'node:assert/strict';
import { Command } from '../../src/protocol/command.ts';
import { type FeatureWorld, ofCommand } from './world.ts';

/** Tells the broker to stop and lets the clients hear of it. */
export async function stop(world: FeatureWorld): Promise<void> {
  const broker = await world.broker();
  await broker.settle(world.clients.values());
  broker.stop();
  await broker.until(() => hasBegunToStop(world) || undefined);
  await world.settle();
}

/** Every client has heard of it, or the broker is gone already. */
function hasBegunToStop(world: FeatureWorld): boolean {
  const clients = [...world.clients.values()];
  const haveHeard = clients.every(
    (client) => client.isClosed || client.inbox.some(ofCommand(Command.Disconnect)),
  );
  return clients.length > 0 ? haveHeard : world.brokerInUse?.state() !== 'running';
}

export async function waitForEnd(world: FeatureWorld): Promise<void> {
  const broker = await world.broker();
  await broker.until(() => broker.state() !== 'running' || undefined);
  assert.equal(broker.state(), 'ended', `the broker is ${broker.state()}\n${broker.log()}`);
}

export async function assertRunning(world: FeatureWorld): Promise<void> {
  await world.settle();
  assert.equal((await world.broker()).state(), 'running');
}

/** A connection is either not taken at all, or closed without a word. */
export async function assertNoNewConnection(world: FeatureWorld): Promise<void> {
  const label = 'a late client';
  try {
    await world.open(label);
  } catch {
    return;
  }
  await world.waitUntilClosed(label);
  await world.receiveNo(label, () => true, 'something');
}
