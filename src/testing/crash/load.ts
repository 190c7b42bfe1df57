// Publishers and subscribers of one life of the broker, and what they tell the ledger. Every tenth job is poisonous: its handler
// throws, so that it must come out of the dead letter queue instead. Ids name their queue, so a message in the wrong place shows.

import { type Client, ConnectionError, connect, type ReceivedMessage } from '../../client/index.ts';
import type { CrashLedger } from './crash-ledger.ts';

export const QUEUES = ['work', 'urgent', 'jobs'] as const;
const DEAD_LETTERS = 'jobs.dlq';
const PUBLISHERS = 2;
/** Publishes that wait for their answers at a time, per publisher. */
const PIPELINE = 24;

/** Creates the queues; they are there already in every life but the first. */
export async function createQueues(port: number): Promise<void> {
  const client = await connect({ port, reconnect: false });
  await client.createQueue('work', { maxQueueSize: 100_000 });
  await client.createQueue('urgent', { mode: 'PriorityBased', maxQueueSize: 100_000 });
  await client.createQueue('jobs', {
    enableDeadLetterQueue: true,
    maxRetryAttempts: 1,
    maxQueueSize: 100_000,
  });
  await client.close();
}

/** Publishes until the broker has ended; reports when `enough` were confirmed in this life. */
export async function publishUntilGone(
  port: number,
  ledger: CrashLedger,
  {
    life,
    enough,
    onEnough,
  }: { readonly life: number; readonly enough: number; readonly onEnough: () => void },
): Promise<void> {
  let confirmedCount = 0;
  const publishOne = async (client: Client, id: string) => {
    ledger.published(id);
    await client.publish(id.split(' ')[0] ?? '', { id }, { id });
    ledger.confirmed(id);
    confirmedCount += 1;
    if (confirmedCount === enough) onEnough();
  };
  const publishAlways = async (client: Client, name: string) => {
    for (let number = 1; ; number += 1) {
      const queue = QUEUES[number % QUEUES.length] ?? 'work';
      const poison = queue === 'jobs' && number % 30 === 2 ? ' poison' : '';
      await publishOne(client, `${queue} ${life}.${name}.${number}${poison}`);
    }
  };
  const publisher = async (index: number) => {
    const client = await connect({ port, reconnect: false });
    const lines = Array.from({ length: PIPELINE }, (_, line) => publishAlways(client, `${index}.${line}`));
    await Promise.all(lines.map(untilGone));
  };
  await Promise.all(Array.from({ length: PUBLISHERS }, (_, index) => untilGone(publisher(index))));
}

/** Resolves when the connection ends, which ends the work; any other failure is one. */
async function untilGone(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
  }
}

/** Asks repeatedly whether the acks of a subscriber are committed, until the broker has ended. */
export async function askUntilGone(taker: LoadSubscriber): Promise<void> {
  await untilGone(taker.askForEver());
}

export type LoadSubscriber = { askForEver(): Promise<never>; close(): Promise<void> };

/** Takes messages of every queue. */
export async function subscriber(port: number, ledger: CrashLedger): Promise<LoadSubscriber> {
  const client = await connect({ port, reconnect: false, onHandlerError: () => undefined });
  const acked: string[] = [];
  const latest = new Map<string, string>();
  const take = ({ id, queue }: ReceivedMessage) => {
    // The one before in this queue was acknowledged before this one was handed over.
    const before = latest.get(queue);
    if (before !== undefined) acked.push(before);
    latest.delete(queue);
    if (queue === 'jobs' && id.endsWith(' poison')) throw new Error('poison');
    ledger.taken(id, queue);
    latest.set(queue, id);
  };
  for (const queue of [...QUEUES, DEAD_LETTERS]) await client.subscribe(queue, take);
  return {
    async askForEver() {
      for (;;) {
        const sent = acked.splice(0);
        await client.queueInfo('work');
        ledger.settled(sent);
      }
    },
    close: () => client.close(),
  };
}

/** How many messages the broker still has, waiting or in flight. */
export async function heldCount(client: Client, healthUrl: string): Promise<number> {
  const infos = await Promise.all([...QUEUES, DEAD_LETTERS].map((queue) => client.queueInfo(queue)));
  const waiting = infos.reduce((sum, info) => sum + (info?.messageCount ?? 0), 0);
  const metrics = (await (await fetch(`${healthUrl}/metrics/`)).json()) as { in_flight_messages: number };
  return waiting + metrics.in_flight_messages;
}
