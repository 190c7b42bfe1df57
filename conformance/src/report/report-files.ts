// Writes reports. A path at which there is nothing, or a regular file, holds the whole report or nothing: a new file beside it takes its
// place when every byte is written. A symbolic link stays; the file that it names is written. Anything else (a device, a pipe) is
// opened and written through, and never replaced. An old report does not survive the start of a run: a CI job would believe it.
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

/** Creates the folder. The reason why nothing can be written in it, one sentence; undefined when all is well. */
export function folderFault(path: string): string | undefined {
  return faultOf(path, 'cannot be written', () => {
    makeFolder(path);
    tryWriting(join(path, 'report'));
  });
}

/** Creates the folder. Why a report cannot be written to the path, one sentence; undefined when all is well. */
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

/** As `writableFault`, for a report that is added to what is there. */
export function appendableFault(path: string): string | undefined {
  return faultOf(path, 'cannot be written', () => {
    makeFolder(dirname(path));
    const place = placeOf(path);
    if (place.kind === 'stream') accessSync(place.path, constants.W_OK);
    else closeSync(openSync(place.path, 'a'));
  });
}

/** Undefined when the report is written, else why not: one sentence. `write` is for tests of disks that are full. */
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

/** Adds to what is there. Undefined when it was written, else why not. */
export function appendFault({ path, text }: ReportFile): string | undefined {
  return faultOf(path, 'could not be written', () => {
    if (placeOf(path).kind === 'stream') writeThrough(path, (descriptor) => appendFileSync(descriptor, text));
    else appendFileSync(path, text);
  });
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

/** What a path leads to: a regular file, present or not, whose symbolic links are resolved; or something to be written through. */
type Place = { readonly kind: 'file' | 'stream'; readonly path: string };

function placeOf(path: string): Place {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return { kind: 'file', path: missingFile(path) };
  if (found.isDirectory()) throw systemError('EISDIR', 'open');
  if (!found.isFile() || isOpenFile(path)) return { kind: 'stream', path };
  return { kind: 'file', path: realpathSync(path) };
}

/** The name of an open file of this process: whoever opened it still writes there, so another file must not take its place. */
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

/** A pipe that nobody reads is refused with ENXIO: to open it would wait for a reader, perhaps for ever. */
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
