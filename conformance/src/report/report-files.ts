// Writes reports. A regular file is replaced atomically: a new file beside it takes its name when every byte is written. A symbolic link
// stays, and the file that it names is written. Anything else (a device, a pipe) is opened and written, never replaced. Old reports are
// removed at the start of a run, so that a CI job does not use them.
import {
  accessSync,
  appendFileSync,
  closeSync,
  constants,
  openSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { makeFolder } from '../folders.ts';
import { systemFaultText } from '../system-fault.ts';

export type ReportFile = { readonly path: string; readonly text: string };

/** Creates the folder. Returns one sentence if files cannot be written in it; else undefined. */
export function folderFault(path: string): string | undefined {
  return faultOf(path, 'cannot be written', () => {
    makeFolder(path);
    tryWriting(join(path, 'report'));
  });
}

/** Creates the folder. Returns one sentence if a report cannot be written to the path; else undefined. */
export function writableFault(path: string): string | undefined {
  return faultOf(path, 'cannot be written', () => mustBeWritable(path));
}

/** As `writableFault`, and removes an older report. */
export function prepareFault(path: string): string | undefined {
  return faultOf(path, 'cannot be written', () => {
    const place = mustBeWritable(path);
    if (place.kind === 'file') rmSync(place.path, { force: true });
  });
}

/** As `writableFault`, for a report that is appended. */
export function appendableFault(path: string): string | undefined {
  return faultOf(path, 'cannot be written', () => {
    makeFolder(dirname(path));
    const place = placeOf(path);
    if (place.kind === 'stream') accessSync(place.path, constants.W_OK);
    else closeSync(openSync(place.path, 'a'));
  });
}

/** Writes the report. Returns one sentence if that fails; else undefined. `write` is for tests of full disks. */
export function writeFault(
  { path, text }: ReportFile,
  write: typeof writeFileSync = writeFileSync,
): string | undefined {
  return faultOf(path, 'could not be written', () => {
    makeFolder(dirname(path));
    const place = placeOf(path);
    if (place.kind === 'stream') writeThrough(place.path, (descriptor) => write(descriptor, text));
    else replace(place.path, (beside) => write(beside, text, { flag: 'wx' }));
  });
}

/** Appends the report. Returns one sentence if that fails; else undefined. */
export function appendFault({ path, text }: ReportFile): string | undefined {
  return faultOf(path, 'could not be written', () => {
    if (placeOf(path).kind === 'stream') writeThrough(path, (descriptor) => appendFileSync(descriptor, text));
    else appendFileSync(path, text);
  });
}

/**
 * A file that is written line by line during a run, so that a killed run leaves its results so far. The first fault ends the writing and
 * is reported at the end.
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

  /** Why the file cannot be written; undefined if it can. */
  get fault(): string | undefined {
    return this.#fault;
  }

  open(): void {
    this.#attempt(() => {
      makeFolder(dirname(this.#path));
      const place = placeOf(this.#path);
      this.#descriptor = place.kind === 'stream' ? openStream(place.path) : openSync(place.path, 'w');
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
    this.#fault ??= faultOf(this.#path, 'could not be written', action);
  }
}

/** The place of a path: a regular file, existing or not, with symbolic links resolved; or a stream. */
type Place = { readonly kind: 'file' | 'stream'; readonly path: string };

function placeOf(path: string): Place {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return { kind: 'file', path: missingFile(path) };
  if (found.isDirectory()) throw systemError('EISDIR', 'open');
  if (!found.isFile() || isOpenFile(path)) return { kind: 'stream', path };
  return { kind: 'file', path: realpathSync(path) };
}

/** Whether the path names an open file of this process, which must not be replaced while it is written. */
function isOpenFile(path: string): boolean {
  return /^\/(?:dev\/(?:std(?:in|out|err)|fd\/\d+)|proc\/[^/]+\/fd\/\d+)$/.test(resolve(path));
}

/** Where the symbolic links end, at a file that does not exist yet. */
function missingFile(path: string): string {
  let file = path;
  for (let linkCount = 0; linkCount <= 40; linkCount += 1) {
    const folder = realpathSync(dirname(file));
    const target = linkTarget(file);
    if (target === undefined) return join(folder, basename(file));
    file = resolve(folder, target);
  }
  throw systemError('ELOOP', 'readlink');
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    // No link.
    return undefined;
  }
}

function systemError(code: string, syscall: string): Error {
  return Object.assign(new Error(code), { code, syscall });
}

function mustBeWritable(path: string): Place {
  makeFolder(dirname(path));
  const place = placeOf(path);
  if (place.kind === 'stream') accessSync(place.path, constants.W_OK);
  else tryWriting(place.path);
  return place;
}

function tryWriting(path: string): void {
  const probe = besides(path);
  writeFileSync(probe, '');
  rmSync(probe);
}

function replace(path: string, write: (beside: string) => void): void {
  const beside = besides(path);
  rmSync(beside, { force: true });
  try {
    write(beside);
    renameSync(beside, path);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
}

function writeThrough(path: string, write: (descriptor: number) => void): void {
  const descriptor = openStream(path);
  try {
    write(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Refuses a pipe without a reader with ENXIO: a blocking open would wait for a reader, perhaps forever. */
function openStream(path: string): number {
  const flags = constants.O_WRONLY | constants.O_APPEND;
  if (!statSync(path).isFIFO()) return openSync(path, flags);
  const trial = openSync(path, flags | constants.O_NONBLOCK);
  try {
    return openSync(path, flags);
  } finally {
    closeSync(trial);
  }
}

function besides(path: string): string {
  return `${path}.${process.pid}.new`;
}

function faultOf(path: string, what: string, write: () => void): string | undefined {
  try {
    write();
    return undefined;
  } catch (error) {
    return `${path} ${what}: ${systemFaultText(error) ?? (error as Error).message}`;
  }
}
