// Writes a number with its noun for messages: `1 byte`, `2 bytes`, `0 bytes`. Pure.

/** `plural`: for nouns that do not only add an s. */
export function countText(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}
