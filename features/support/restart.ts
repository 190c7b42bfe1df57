// A broker that ends and is started again over the same store, and one whose store fails: what its clients do meanwhile. Clients of
// an earlier life are forgotten, so that a scenario can speak of them as of new ones.

import assert from 'node:assert/strict';
import { Command } from '../../src/protocol/command.ts';
import { queueInfo } from './queues.ts';
import * as shutdown from './shutdown.ts';
import { type FeatureWorld, ofCommand } from './world.ts';

/** Stops it in good order and starts it again. */
export async function restart(world: FeatureWorld): Promise<void> {
  await world.settle();
  await shutdown.stop(world);
  await shutdown.waitForEnd(world);
  await startAgain(world);
}

export async function crash(world: FeatureWorld): Promise<void> {
  await world.settle();
  await (await world.broker()).crash();
}

/** Over the same store, for clients that come anew. */
export async function startAgain(world: FeatureWorld): Promise<void> {
  const broker = await world.broker();
  await broker.until(() => [...world.clients.values()].every(({ isClosed }) => isClosed) || undefined);
  world.clients.clear();
  await broker.startAgain();
}

export async function fillDisk(world: FeatureWorld, isFull: boolean): Promise<void> {
  await world.settle();
  await (await world.broker()).fillDisk(isFull);
}

/** Between two attempts to connect, in the scenario's time. */
const RETRY_MS = 1_000;
const MOST_ATTEMPTS = 60;

/** The client connects as soon as the broker lets it: until then it is told that the store fails. */
export async function connectAgain(world: FeatureWorld, label: string): Promise<void> {
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
    await world.pass(RETRY_MS);
    world.clients.delete(label);
    const client = await world.open(label);
    client.send({ command: Command.Connect, id: world.freshId('connect') });
    const isAnswer = ofCommand(Command.ConnectAck);
    const answer = await (await world.broker()).until(
      () =>
        client.take((frame) => isAnswer(frame) || frame.message.command === Command.Error) ?? closed(client),
    );
    if (answer !== 'closed' && answer !== undefined && isAnswer(answer)) return;
    client.hangUp();
  }
  assert.fail(`${label} was not let in after ${MOST_ATTEMPTS} attempts`);
}

function closed({ isClosed }: { readonly isClosed: boolean }): 'closed' | undefined {
  return isClosed ? 'closed' : undefined;
}

/** Connect is refused with the code. */
export async function assertNotLetIn(world: FeatureWorld, label: string, code: string): Promise<void> {
  world.clients.delete(label);
  const client = await world.open(label);
  client.send({ command: Command.Connect, id: world.freshId('connect') });
  const { message } = await world.receive(label, ofCommand(Command.Error), 'an Error');
  assert.equal(message.errorCode, code);
}

export async function noteCreation(world: FeatureWorld, queue: string): Promise<void> {
  world.notedNumbers.set(`creation of ${queue}`, {
    createdAt: (await queueInfo(world, queue))?.['createdAt'],
  });
}

export async function assertSameCreation(world: FeatureWorld, queue: string): Promise<void> {
  const noted = world.notedNumbers.get(`creation of ${queue}`)?.['createdAt'];
  assert.equal(typeof noted, 'string', `the creation time of ${queue} was not noted`);
  assert.equal((await queueInfo(world, queue))?.['createdAt'], noted);
}
