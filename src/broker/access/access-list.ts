// What one user may do, compiled from its principal: which operations on which queues, and which names it is shown. Immutable but for what it
// remembers of its own decisions: a change of rights makes a new object, so no decision outlives it. Implements AUTH-016, AUTH-017, AUTH-020
// and AUTH-023.

import { type Principal, QueueOperation } from '../../model/access.ts';
import { EntryIndex } from './entry-index.ts';

/** The rights of a user as its connections hold them: a change of rights replaces the list, for all of them at once. */
export type UserRights = { accessList: AccessList };

/** Names whose decisions are remembered; the next one makes it forget all, so a user cannot fill the memory with names. */
const MAX_REMEMBERED_NAMES = 64;

/** A set of operations, one bit for each. */
type Operations = number;

const NO_PATTERN: Operations = 0;
/** Set when some pattern matches, even one without operations. */
const SOME_PATTERN: Operations = 1 << Object.keys(QueueOperation).length;

export class AccessList {
  /** What it was compiled from. */
  readonly principal: Principal;
  readonly #entries = new EntryIndex<Operations>();
  /** What all entries together allow. */
  readonly #operationsSomewhere: Operations;
  readonly #remembered = new Map<string, Operations>();

  constructor(principal: Principal) {
    this.principal = principal;
    let everything = NO_PATTERN;
    for (const { queuePattern, operations } of principal.accessList) {
      const allowed = operations.reduce((set, operation) => set | bitOf(operation), SOME_PATTERN);
      this.#entries.add(queuePattern, allowed);
      everything |= allowed;
    }
    this.#operationsSomewhere = everything;
  }

  /** Whether the user may do this with the queue of that name, which need not exist. */
  allows(operation: QueueOperation, queue: string): boolean {
    return this.principal.isSuperuser || (this.#operationsOn(queue) & bitOf(operation)) !== 0;
  }

  /** Whether the user may do this with some queue. */
  allowsSomewhere(operation: QueueOperation): boolean {
    return this.principal.isSuperuser || (this.#operationsSomewhere & bitOf(operation)) !== 0;
  }

  /** Those of the names that some pattern of the user matches; the same array for a superuser. */
  visible(names: readonly string[]): readonly string[] {
    if (this.principal.isSuperuser) return names;
    return names.filter((name) => this.#entries.matching(name).next().done !== true);
  }

  #operationsOn(queue: string): Operations {
    const known = this.#remembered.get(queue);
    if (known !== undefined) return known;
    if (this.#remembered.size >= MAX_REMEMBERED_NAMES) this.#remembered.clear();
    const operations = this.#judge(queue);
    this.#remembered.set(queue, operations);
    return operations;
  }

  /** All patterns that match add up. */
  #judge(queue: string): Operations {
    let sum = NO_PATTERN;
    for (const operations of this.#entries.matching(queue)) sum |= operations;
    return sum;
  }
}

function bitOf(operation: QueueOperation): Operations {
  return 1 << operation;
}
