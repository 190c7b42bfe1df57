// The last lines of a broker's log, bounded in lines and in their length. It survives restarts of the broker.

import { visibleLine } from '../report/visible-text.ts';

const keptLineCount = 200;
const toldLineCount = 10;
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

  /** What a message about a broker that did not start ends with; empty if there is no log. */
  get endText(): string {
    if (this.#lines.length === 0) return '';
    // A CI system reads a line that begins with `::`, after spaces too, as a command.
    const told = this.#lines.slice(-toldLineCount).map((line) => `    | ${visibleLine(line)}`);
    return `\n  its log ends with:\n${told.join('\n')}`;
  }

  /** The kept lines after the mark. */
  since(mark: number): readonly string[] {
    const newCount = this.#addedCount - mark;
    return newCount <= 0 ? [] : this.#lines.slice(-newCount);
  }
}
