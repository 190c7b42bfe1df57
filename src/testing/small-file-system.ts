// A separate file system of a few megabytes that tests can fill, empty and make read-only. Mounting it needs root and Linux; elsewhere
// creating it rejects with the reason.

import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder } from '../storage/contract/file-place.ts';

export class SmallFileSystem {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Rejects with the reason if it cannot be mounted. */
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

  /** Fills all free space, repeatedly if some was freed meanwhile. */
  fill(): void {
    const file = openSync(this.#filler, 'a');
    try {
      for (const size of [65_536, 4_096, 1]) writeUntilFull(file, Buffer.alloc(size));
    } finally {
      closeSync(file);
    }
  }

  /** Frees the space that `fill` used. */
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
