// The gate before all commands: says whether one is refused before it is looked at, and why. Nothing else in the core asks for rights, but for
// the list of queues, which shows each user its own. Implements SHUTDOWN-007, AUTH-021, AUTH-022, AUTH-030 and ERROR-014.

import { QueueOperation } from '../model/access.ts';
import { SHUTTING_DOWN } from './answers.ts';
import type { Core } from './core.ts';
import type { InputKind } from './input-kinds.ts';
import type { RefusalCode } from './interface/effect.ts';
import type { Input } from './interface/input.ts';

export type CommandInput = Extract<Input, { readonly token: unknown }>;

/** The right that each command needs. Creating a missing queue by a publish or a subscribe needs no right of its own (AUTH-030). */
const neededRight: { readonly [Kind in InputKind]?: QueueOperation } = {
  publish: QueueOperation.Publish,
  subscribe: QueueOperation.Subscribe,
  createQueue: QueueOperation.CreateQueue,
  deleteQueue: QueueOperation.DeleteQueue,
  purgeQueue: QueueOperation.PurgeQueue,
  queueInfo: QueueOperation.GetQueueInfo,
  listQueues: QueueOperation.ListQueues,
};

type Refusal = { readonly code: RefusalCode; readonly text: string };

/** Why the command is not to be carried out; undefined: it is. */
export function refusalOf(core: Core, command: CommandInput): Refusal | undefined {
  if (core.step.isDraining && command.kind !== 'barrier')
    return { code: 'SHUTTING_DOWN', text: SHUTTING_DOWN };
  if (hasRight(core, command)) return undefined;
  return { code: 'NOT_AUTHORIZED', text: 'The access list of the user does not allow this.' };
}

/** Connections without a user have all rights, and so has the operator, who has no connection. */
function hasRight(core: Core, command: CommandInput): boolean {
  const operation = neededRight[command.kind];
  const accessList = core.connections.find(command.connection)?.rights?.accessList;
  if (operation === undefined || accessList === undefined) return true;
  return 'queue' in command
    ? accessList.allows(operation, command.queue)
    : accessList.allowsSomewhere(operation);
}
