// What one user may do, compiled from its principal: which operations on which queues, and which names it is shown. Immutable but for what it
// remembers of its own decisions: a change of rights makes a new object, so no decision outlives it. Implements AUTH-016, AUTH-017, AUTH-020
// and AUTH-023.

import { type Principal, QueueOperation } from '../../model/access.ts';
import { foldCase, Pattern } from './pattern.ts';

/** The rights of a user as its connections hold them: a change of rights replaces the list, for all of them at once. */
export type UserRights = { accessList: AccessList };

/** Names whose decisions are remembered; the next one makes it forget all, so a user cannot fill the memory with names. */
const MAX_REMEMBERED_NAMES = 256;

/** A set of operations, one bit for each. */
type Operations = number;

const NO_PATTERN: Operations = 0;
/** Set when some pattern matches, even one without operations. */
const SOME_PATTERN: Operations = 1 << Object.keys(QueueOperation).length;

type CompiledEntry = { readonly pattern: Pattern; readonly operations: Operations };

export class AccessList {
  /** What it was compiled from. */
  readonly principal: Principal;
  readonly #entries: readonly CompiledEntry[];
  readonly #remembered = new Map<string, Operations>();
  #lastNames: readonly string[] | undefined;
  #lastVisible: readonly string[] = [];

  constructor(principal: Principal) {
    this.principal = principal;
    this.#entries = principal.accessList.map(({ queuePattern, operations }) => ({
      pattern: new Pattern(queuePattern),
      operations: operations.reduce((set, operation) => set | bitOf(operation), SOME_PATTERN),
    }));
  }

  /** Whether the user may do this with the queue of that name, which need not exist. */
  allows(operation: QueueOperation, queue: string): boolean {
    return this.principal.isSuperuser || (this.#operationsOn(queue) & bitOf(operation)) !== 0;
  }

  /** Whether the user may do this with some queue. */
  allowsSomewhere(operation: QueueOperation): boolean {
    return (
      this.principal.isSuperuser ||
      this.#entries.some(({ operations }) => (operations & bitOf(operation)) !== 0)
    );
  }

  /** Those of the names that some pattern of the user matches; for the same array the same array. */
  visible(names: readonly string[]): readonly string[] {
    if (this.principal.isSuperuser) return names;
    if (this.#lastNames !== names) {
      this.#lastNames = names;
      this.#lastVisible = names.filter((name) => this.#judge(name) !== NO_PATTERN);
    }
    return this.#lastVisible;
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
    const name = foldCase(queue);
    return this.#entries.reduce(
      (sum, { pattern, operations }) => (pattern.matches(name) ? sum | operations : sum),
      NO_PATTERN,
    );
  }
}

function bitOf(operation: QueueOperation): Operations {
  return 1 << operation;
}
