// A binary min-heap whose entries can be taken out from anywhere. Equal keys leave by rank, then in the order
// in which they came.

/** More entries than a heap will ever have seen. */
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

  /** `rank`: of equal keys, those of a lower rank leave first. Throws for the key NaN, which would break the order. */
  insert(key: number, item: Item, rank = 0): HeapNode<Item> {
    if (Number.isNaN(key)) throw new Error('A heap cannot order the key NaN.');
    const node = new HeapNode(key, item, rank * RANK_STEP + this.#nextOrder++);
    this.#nodes.push(node);
    this.#rise(node, this.#nodes.length - 1);
    return node;
  }

  /** Takes out an entry that is in this heap; one that has left already stays out. */
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
