// A terminal that notes what it is told. Has the shape of the commands' Terminal without importing it, because nothing may import the composition
// root.

import { PassThrough, Writable } from 'node:stream';

class FakeInput extends PassThrough {
  readonly modes: boolean[] = [];

  setRawMode(isRaw: boolean): void {
    this.modes.push(isRaw);
  }
}

class FakeOutput extends Writable {
  columns = 100;
  rows = 20;
  text = '';

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    this.emit('written');
    done();
  }
}

export class FakeTerminal {
  readonly input = new FakeInput();
  readonly output = new FakeOutput();
  readonly #exitHandlers = new Set<() => void>();

  readonly onExit = (handle: () => void): (() => void) => {
    this.#exitHandlers.add(handle);
    return () => void this.#exitHandlers.delete(handle);
  };

  get modes(): readonly boolean[] {
    return this.input.modes;
  }

  get exitHandlerCount(): number {
    return this.#exitHandlers.size;
  }

  written(): string {
    return this.output.text;
  }

  clear(): void {
    this.output.text = '';
  }

  /** Resolves when what was written since the last `clear` contains this text. */
  shows(text: string): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!this.output.text.includes(text)) return;
        this.output.off('written', look);
        resolve();
      };
      this.output.on('written', look);
      look();
    });
  }

  resize(columns: number, rows: number): void {
    Object.assign(this.output, { columns, rows });
    this.output.emit('resize');
  }

  /** The process ends. */
  exit(): void {
    for (const handle of this.#exitHandlers) handle();
  }
}
