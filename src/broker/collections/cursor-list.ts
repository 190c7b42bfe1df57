// A list that several readers read at their own pace. A reader gets every item from its position on, so no list per reader is needed,
// and a removed item is referenced by no reader.
//
// Readers at the same item share one cursor. Removing an item moves its cursor to the next item, or merges it into the cursor there.
// So removing costs the same for any number of readers; `next` then follows the merged cursors and shortens the path.

/** A position that readers share. */
export class Cursor<Item> {
  /** Undefined when the item was removed and no item followed it. */
  item: Item | undefined;
  mergedInto: Cursor<Item> | undefined = undefined;

  constructor(item: Item) {
    this.item = item;
  }
}

/** What an item keeps for the list that it is in. */
export type CursorItem<Item> = {
  /** Its number in the order of appending. */
  order: number;
  earlier: Item | undefined;
  later: Item | undefined;
  cursor: Cursor<Item> | undefined;
};

/** What a reader keeps for the list that it reads. */
export type CursorReader<Item> = {
  /** Undefined when it has read everything. */
  position: Cursor<Item> | undefined;
  /** The order of the last item that it may read; infinite until `end`. */
  lastOrder: number;
};

export class CursorList<Item extends CursorItem<Item>> {
  #last: Item | undefined;
  #lastOrder = 0;

  append(item: Item): void {
    this.#lastOrder += 1;
    item.order = this.#lastOrder;
    item.earlier = this.#last;
    if (this.#last !== undefined) this.#last.later = item;
    this.#last = item;
  }

  /** Removes an item that is in this list. Readers that were to read it go on with the one after it. */
  remove(item: Item): void {
    const { earlier, later, cursor } = item;
    if (earlier !== undefined) earlier.later = later;
    if (later === undefined) this.#last = earlier;
    else later.earlier = earlier;
    item.earlier = undefined;
    item.later = undefined;
    item.cursor = undefined;
    if (cursor === undefined) return;
    if (later?.cursor === undefined) {
      cursor.item = later;
      if (later !== undefined) later.cursor = cursor;
      return;
    }
    // A merged cursor must keep no item: nothing moves it on when that item is removed.
    cursor.item = undefined;
    cursor.mergedInto = later.cursor;
  }

  /** The item that the reader is to read next. */
  next(reader: CursorReader<Item>): Item | undefined {
    if (reader.position === undefined) return undefined;
    const cursor = lastMerged(reader.position);
    const { item } = cursor;
    const isReadable = item !== undefined && item.order <= reader.lastOrder;
    reader.position = isReadable ? cursor : undefined;
    return isReadable ? item : undefined;
  }

  /** Whether the reader has something to read. */
  isBehind(reader: CursorReader<Item>): boolean {
    return this.next(reader) !== undefined;
  }

  /** Has the reader read an item that is about to be appended: from there on, unless it is to read earlier ones first. */
  include(reader: CursorReader<Item>, item: Item): void {
    if (!this.isBehind(reader)) reader.position = cursorAt(item);
  }

  /** Moves the reader past the item that it was to read next. */
  advance(reader: CursorReader<Item>): void {
    const later = this.next(reader)?.later;
    reader.position = later === undefined ? undefined : cursorAt(later);
  }

  /** The reader reads nothing that is appended from now on. */
  end(reader: CursorReader<Item>): void {
    reader.lastOrder = Math.min(reader.lastOrder, this.#lastOrder);
  }
}

function cursorAt<Item extends CursorItem<Item>>(item: Item): Cursor<Item> {
  item.cursor ??= new Cursor(item);
  return item.cursor;
}

function lastMerged<Item>(cursor: Cursor<Item>): Cursor<Item> {
  let at = cursor;
  while (at.mergedInto !== undefined) {
    at.mergedInto = at.mergedInto.mergedInto ?? at.mergedInto;
    at = at.mergedInto;
  }
  return at;
}
