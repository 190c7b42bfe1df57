// The naive broker's rules for rights (AUTH): who may do what, by the simplest matcher of patterns, which tries every length for every `*`.

import type { Input } from '../../broker/interface/input.ts';
import { type Principal, QueueOperation } from '../../model/access.ts';
import type { NaiveState } from './state.ts';

type CommandInput = Extract<Input, { readonly token: unknown }>;

/** Whether the command is one that its user has no right for. */
export function lacksRight(state: NaiveState, input: Input): input is CommandInput {
  if (!('token' in input)) return false;
  const principal = state.connections.find(({ id }) => id === input.connection)?.principal;
  if (principal === undefined) return false;
  switch (input.kind) {
    case 'publish':
      return !may(principal, QueueOperation.Publish, input.queue);
    case 'subscribe':
      return !may(principal, QueueOperation.Subscribe, input.queue);
    case 'createQueue':
      return !may(principal, QueueOperation.CreateQueue, input.queue);
    case 'deleteQueue':
      return !may(principal, QueueOperation.DeleteQueue, input.queue);
    case 'purgeQueue':
      return !may(principal, QueueOperation.PurgeQueue, input.queue);
    case 'queueInfo':
      return !may(principal, QueueOperation.GetQueueInfo, input.queue);
    case 'listQueues':
      return !mayList(principal);
    case 'unsubscribe':
    case 'barrier':
    // Nobody but the operator can ask these.
    case 'listMessages':
    case 'readMessage':
    case 'removeMessage':
    case 'requeueMessage':
      return false;
  }
}

export function may(principal: Principal, operation: QueueOperation, queue: string): boolean {
  const matching = principal.accessList.filter((entry) => matchesNaively(entry.queuePattern, queue));
  return principal.isSuperuser || matching.some((entry) => entry.operations.includes(operation));
}

function mayList({ isSuperuser, accessList }: Principal): boolean {
  return isSuperuser || accessList.some((entry) => entry.operations.includes(QueueOperation.ListQueues));
}

/** Whether a list of queues shows that name. */
export function isShown(principal: Principal | undefined, name: string): boolean {
  if (principal === undefined || principal.isSuperuser) return true;
  return principal.accessList.some((entry) => matchesNaively(entry.queuePattern, name));
}

/** Takes time without limit for some patterns. */
export function matchesNaively(pattern: string, name: string): boolean {
  const [first, ...others] = pattern;
  const rest = others.join('');
  if (first === undefined) return name === '';
  if (first === '*')
    return matchesNaively(rest, name) || (name !== '' && matchesNaively(pattern, tailOf(name)));
  const [letter] = name;
  return letter !== undefined && isSameLetter(first, letter) && matchesNaively(rest, tailOf(name));
}

function tailOf(text: string): string {
  const [, ...tail] = text;
  return tail.join('');
}

/** In any case, as the engine of regular expressions sees it. */
function isSameLetter(a: string, b: string): boolean {
  return new RegExp(
    `^${/[\p{L}\p{Nd}]/u.test(a) ? a : `\\u{${a.codePointAt(0)?.toString(16)}}`}$`,
    'iu',
  ).test(b);
}
