// A binary min-heap whose entries can be removed at any position. Entries with equal keys are ordered by rank, then by insertion.

/** Greater than the number of entries that a heap is ever given. */
const RANK_STEP = 2 ** 48;

export class HeapNode<Item> {
  readonly key: number;
  readonly item: Item;
  readonly order: number;
  index = -1;

  constructor(key: number, item: Item, order: number) {
    this.key = key;
    this.item = item;
    this.order = order;
  }
}

export class Heap<Item> {
  readonly #nodes: HeapNode<Item>[] = [];
  #nextOrder = 0;

  get size(): number {
    return this.#nodes.length;
  }

  /** The entry with the smallest key. */
  first(): HeapNode<Item> | undefined {
    return this.#nodes[0];
  }

  /** The items, in no order. */
  items(): Item[] {
    return this.#nodes.map(({ item }) => item);
  }

  /** `rank`: of entries with equal keys, those of a lower rank come first. Throws for the key NaN, which would break the order. */
  insert(key: number, item: Item, rank = 0): HeapNode<Item> {
    if (Number.isNaN(key)) throw new Error('A heap cannot order the key NaN.');
    const node = new HeapNode(key, item, rank * RANK_STEP + this.#nextOrder++);
    this.#nodes.push(node);
    this.#rise(node, this.#nodes.length - 1);
    return node;
  }

  /** Removes an entry, if it is still in this heap. */
  remove(node: HeapNode<Item>): void {
    const at = node.index;
    if (at < 0) return;
    node.index = -1;
    const last = this.#nodes.pop();
    if (last === undefined || last === node) return;
    this.#rise(last, at);
    if (last.index === at) this.#sink(last, at);
  }

  #rise(node: HeapNode<Item>, from: number): void {
    let at = from;
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = this.#nodes[parentAt];
      if (parent === undefined || !before(node, parent)) break;
      this.#place(parent, at);
      at = parentAt;
    }
    this.#place(node, at);
  }

  #sink(node: HeapNode<Item>, from: number): void {
    let at = from;
    for (;;) {
      const child = this.#smallerChild(at);
      if (child === undefined || !before(child, node)) break;
      const next = child.index;
      this.#place(child, at);
      at = next;
    }
    this.#place(node, at);
  }

  #smallerChild(at: number): HeapNode<Item> | undefined {
    const left = this.#nodes[2 * at + 1];
    const right = this.#nodes[2 * at + 2];
    if (left === undefined || right === undefined) return left;
    return before(right, left) ? right : left;
  }

  #place(node: HeapNode<Item>, at: number): void {
    this.#nodes[at] = node;
    node.index = at;
  }
}

function before<Item>(a: HeapNode<Item>, b: HeapNode<Item>): boolean {
  return a.key < b.key || (a.key === b.key && a.order < b.order);
}
