// A file system of its own, of a few megabytes, that can be filled, emptied and made read-only: for tests of what happens then. It is
// mounted, which only root may do and only Linux does in this way; elsewhere it says why it is not there.

import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder } from '../storage/contract/file-place.ts';

export class SmallFileSystem {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Rejects with the reason where it cannot be had. */
  static async mounted(sizeBytes: number): Promise<SmallFileSystem> {
    const folder = await newFolder();
    try {
      mount('-t', 'tmpfs', '-o', `size=${sizeBytes}`, 'tmpfs', folder);
      return new SmallFileSystem(folder);
    } catch (error) {
      rmSync(folder, { recursive: true });
      throw error;
    }
  }

  /** Takes every byte that is left; again and again, where some were given back meanwhile. */
  fill(): void {
    const file = openSync(this.#filler, 'a');
    try {
      for (const size of [65_536, 4_096, 1]) writeUntilFull(file, Buffer.alloc(size));
    } finally {
      closeSync(file);
    }
  }

  /** Gives back what `fill` has taken. */
  empty(): void {
    unlinkSync(this.#filler);
  }

  /** Only while no file in it is open for writing. */
  makeReadOnly(): void {
    mount('-o', 'remount,ro', this.folder);
  }

  remove(): void {
    execFileSync('umount', ['-l', this.folder], { stdio: 'pipe' });
    rmSync(this.folder, { recursive: true });
  }

  get #filler(): string {
    return join(this.folder, 'filler');
  }
}

function mount(...argv: readonly string[]): void {
  execFileSync('mount', argv, { stdio: 'pipe' });
}

function writeUntilFull(file: number, bytes: Buffer): void {
  try {
    for (;;) writeSync(file, bytes);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
  }
}
