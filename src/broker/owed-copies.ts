// The partly sent messages of one queue (FanOutWithAck), in the order in which their delivery began, and each member's position among
// them. A member is owed a copy of every message from its position on, so no list per member is needed, and a message that is taken out
// (evicted, expired, purged) is referenced by no member any more.
//
// Members at the same message share one cursor. Taking a message out moves its cursor to the next message, or merges it into the cursor
// there. So it costs the same for any number of members; `first` then follows the merged cursors and shortens the path.

import type { FanOut } from './delivery/fan-out.ts';

/** A position that members share. */
export class CopyCursor {
  /** Undefined when the message was taken out and none came after it. */
  fanOut: FanOut | undefined;
  mergedInto: CopyCursor | undefined = undefined;

  constructor(fanOut: FanOut) {
    this.fanOut = fanOut;
  }
}

/** What a subscription keeps for this. */
export type CopyOwner = {
  /** Undefined when no copy is owed. */
  copyCursor: CopyCursor | undefined;
  /** The order of the last message whose copy can be owed: that of the last one begun before the subscription ended. */
  lastOwedOrder: number;
};

export class OwedCopies {
  #last: FanOut | undefined;
  #lastOrder = 0;

  /** Appends a message some of whose copies are unsent. */
  append(fanOut: FanOut): void {
    this.#lastOrder += 1;
    fanOut.order = this.#lastOrder;
    fanOut.previous = this.#last;
    if (this.#last !== undefined) this.#last.next = fanOut;
    this.#last = fanOut;
  }

  /** Takes out a message; its copies are owed to nobody any more. */
  remove(fanOut: FanOut): void {
    const { previous, next, cursor } = fanOut;
    if (previous !== undefined) previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    fanOut.previous = undefined;
    fanOut.next = undefined;
    fanOut.cursor = undefined;
    if (cursor === undefined) return;
    if (next?.cursor === undefined) {
      cursor.fanOut = next;
      if (next !== undefined) next.cursor = cursor;
      return;
    }
    // A merged cursor must keep no message: nobody moves it on when that is taken out.
    cursor.fanOut = undefined;
    cursor.mergedInto = next.cursor;
  }

  /** The message whose copy the member is owed next. */
  first(member: CopyOwner): FanOut | undefined {
    if (member.copyCursor === undefined) return undefined;
    const cursor = lastMerged(member.copyCursor);
    const { fanOut } = cursor;
    const isOwed = fanOut !== undefined && fanOut.order <= member.lastOwedOrder;
    member.copyCursor = isOwed ? cursor : undefined;
    return isOwed ? fanOut : undefined;
  }

  isOwed(member: CopyOwner): boolean {
    return this.first(member) !== undefined;
  }

  /** Notes that the member is owed a copy of a message that is about to be appended. */
  owe(member: CopyOwner, fanOut: FanOut): void {
    if (!this.isOwed(member)) member.copyCursor = cursorAt(fanOut);
  }

  /** Moves the member past the message whose copy it was owed next. */
  advance(member: CopyOwner): void {
    const next = this.first(member)?.next;
    member.copyCursor = next === undefined ? undefined : cursorAt(next);
  }

  /** The member has left: it is owed nothing that begins from now on. */
  end(member: CopyOwner): void {
    member.lastOwedOrder = Math.min(member.lastOwedOrder, this.#lastOrder);
  }
}

function cursorAt(fanOut: FanOut): CopyCursor {
  fanOut.cursor ??= new CopyCursor(fanOut);
  return fanOut.cursor;
}

function lastMerged(cursor: CopyCursor): CopyCursor {
  let at = cursor;
  while (at.mergedInto !== undefined) {
    at.mergedInto = at.mergedInto.mergedInto ?? at.mergedInto;
    at = at.mergedInto;
  }
  return at;
}
