// The queue names that users are shown, remembered for the users who asked last: a user who asks again and again must not cost the work of
// 100,000 names each time, and many users must not fill the memory with lists. Implements AUTH-023.

import type { AccessList } from './access-list.ts';

const MAX_REMEMBERED_LISTS = 16;

export class VisibleNames {
  /** What the lists were made from. */
  #names: readonly string[] = [];
  /** The user who asked first stands first. A change of rights makes another access list, so no list outlives it. */
  readonly #lists = new Map<AccessList, readonly string[]>();

  /** Those of the names that the user is shown; for the same array and list the same array, while it is remembered. */
  of(accessList: AccessList, names: readonly string[]): readonly string[] {
    if (this.#names !== names) {
      this.#names = names;
      this.#lists.clear();
    }
    const known = this.#lists.get(accessList);
    if (known !== undefined) return known;
    const [oldest] = this.#lists.keys();
    if (oldest !== undefined && this.#lists.size >= MAX_REMEMBERED_LISTS) this.#lists.delete(oldest);
    const visible = accessList.visible(names);
    this.#lists.set(accessList, visible);
    return visible;
  }
}
