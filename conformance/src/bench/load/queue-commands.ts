// The commands of a measurement besides its load: create a queue, ask for its length, delete it. Areas: QUEUE.
import type { DeliveryMode } from '../../history/operation.ts';
import { deliveryModes } from '../../history/operation.ts';
import { Command } from '../../wire/command.ts';
import { LoadFault } from './load-fault.ts';
import type { LoadLink } from './load-link.ts';

/** Options of a very large queue, which refuses messages instead of dropping them when it is full. */
const roomy = { maxQueueSize: 100_000_000, overflowStrategy: 1 };

export type LoadQueueOptions = {
  readonly mode?: DeliveryMode;
  /** A time span: `00:00:30`. */
  readonly messageTtl?: string;
};

export async function makeQueue(link: LoadLink, queue: string, wishes: LoadQueueOptions = {}): Promise<void> {
  const { mode = 'RoundRobin', ...others } = wishes;
  const payload = JSON.stringify({ ...roomy, ...others, mode: deliveryModes.indexOf(mode) });
  await link.request({ command: Command.CreateQueue, queue, payload });
}

export async function queueLength(link: LoadLink, queue: string): Promise<number> {
  const { payload } = await link.request({ command: Command.QueueInfo, queue });
  if (payload.length === 0) return 0;
  const { messageCount } = JSON.parse(payload.toString('utf8')) as { readonly messageCount?: unknown };
  if (typeof messageCount === 'number') return messageCount;
  throw new LoadFault(`QueueInfo of ${queue} has no messageCount`);
}

export async function deleteQueue(link: LoadLink, queue: string): Promise<void> {
  await link.request({ command: Command.DeleteQueue, queue });
}
