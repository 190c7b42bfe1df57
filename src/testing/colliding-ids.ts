// Ids whose hashes are all the same, as a client may choose them. Their last two characters undo what the first two have done to the hash
// function of src/broker/collections/id-table.ts; a test of that function sees that they still do.

/** Four characters. `number`: 0 to 65,535, each for another id. UTF-8 has no form for some of them (those with half a surrogate pair). */
export function collidingId(number: number): string {
  const state = stateAfter(4, number);
  return String.fromCharCode(number & 0xffff, 0, state & 0xffff, state >>> 16);
}

/** The state of the hash function after an id of this length has begun with the character and a zero. */
function stateAfter(length: number, character: number): number {
  const hash = Math.imul(length ^ character, 0x9e_37_79_b1);
  return hash ^ (hash >>> 15);
}
