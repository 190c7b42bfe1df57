// The last lines of a broker's log, bounded in lines and in their length. It survives restarts of the broker.

const keptLineCount = 200;
const keptLineLength = 2000;

export class LogTail {
  #lines: string[] = [];
  #addedCount = 0;

  get lines(): readonly string[] {
    return this.#lines;
  }

  /** The number of lines so far: a mark for `since`. */
  get addedCount(): number {
    return this.#addedCount;
  }

  add(line: string): void {
    this.#addedCount += 1;
    this.#lines.push(line.slice(0, keptLineLength));
    if (this.#lines.length > keptLineCount) this.#lines = this.#lines.slice(-keptLineCount);
  }

  /** The kept lines after the mark. */
  since(mark: number): readonly string[] {
    const newCount = this.#addedCount - mark;
    return newCount <= 0 ? [] : this.#lines.slice(-newCount);
  }
}
