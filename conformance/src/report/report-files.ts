// Writes a report so that its path holds the whole of it or nothing: a new file beside it takes its place when every byte is there. An
// old report never survives the start of a run, because a CI job would believe it. It knows nothing of what is written.
import { appendFileSync, closeSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export type ReportFile = { readonly path: string; readonly text: string };

/** Makes the folder and takes an older report away. The reason why it cannot be, one sentence; undefined when all is well. */
export function prepareFault(path: string): string | undefined {
  return faultOf(path, () => {
    mkdirSync(dirname(path), { recursive: true });
    const probe = besides(path);
    writeFileSync(probe, '');
    rmSync(probe);
    rmSync(path, { force: true });
  });
}

/** Undefined when the file stands there complete, else why not: one sentence. `write` is for tests of disks that are full. */
export function writeFault(
  { path, text }: ReportFile,
  write: typeof writeFileSync = writeFileSync,
): string | undefined {
  const beside = besides(path);
  const fault = faultOf(path, () => {
    mkdirSync(dirname(path), { recursive: true });
    write(beside, text);
    renameSync(beside, path);
  });
  if (fault !== undefined) faultOf(beside, () => rmSync(beside, { force: true }));
  return fault;
}

/** Adds to what is there. Undefined when it was written, else why not. */
export function appendFault({ path, text }: ReportFile): string | undefined {
  return faultOf(path, () => appendFileSync(path, text));
}

/**
 * A file that grows line by line while a run goes on, so that a run which is killed leaves what was known. The first fault ends the
 * writing; it is kept for the end.
 */
export class GrowingFile {
  readonly #path: string;
  readonly #write: (descriptor: number, text: string) => void;
  #descriptor: number | undefined;
  #fault: string | undefined;

  constructor(path: string, write: (descriptor: number, text: string) => void = appendFileSync) {
    this.#path = path;
    this.#write = write;
  }

  /** Why it cannot be written, or could not; undefined when all is well. */
  get fault(): string | undefined {
    return this.#fault;
  }

  open(): void {
    this.#attempt(() => {
      mkdirSync(dirname(this.#path), { recursive: true });
      this.#descriptor = openSync(this.#path, 'w');
    });
  }

  add(text: string): void {
    const descriptor = this.#descriptor;
    if (descriptor === undefined || this.#fault !== undefined) return;
    this.#attempt(() => this.#write(descriptor, text));
  }

  close(): void {
    const descriptor = this.#descriptor;
    if (descriptor !== undefined) this.#attempt(() => closeSync(descriptor));
    this.#descriptor = undefined;
  }

  #attempt(action: () => void): void {
    this.#fault ??= faultOf(this.#path, action);
  }
}

function besides(path: string): string {
  return `${path}.${process.pid}.new`;
}

function faultOf(path: string, write: () => void): string | undefined {
  try {
    write();
    return undefined;
  } catch (error) {
    return `${path} could not be written: ${(error as Error).message}`;
  }
}
