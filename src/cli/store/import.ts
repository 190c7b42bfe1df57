// `truemq store import`: makes a new store from an exported text. Writes it under another name and renames it when it is complete and
// synced, so that no broker finds a partial store. Overwrites nothing.

import { createReadStream, existsSync } from 'node:fs';
import { link, open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import type { StoreRecord } from '../../broker/interface/store-record.ts';
import { reasonOf, refuseNoFile } from '../../storage/sqlite/open-database.ts';
import { openSqliteStore } from '../../storage/sqlite/sqlite-store.ts';
import { type StorageProvider, StoreError } from '../../storage/storage-provider.ts';
import { type CommandContext, ExitCode } from '../command.ts';
import { readLines } from '../lines.ts';
import { defaultBrokerSettings } from './default-settings.ts';
import { untilInterrupted } from './interruption.ts';
import { recordsOf } from './records-of.ts';
import { StoreExamination } from './store-examination.ts';
import { StoreTextReader } from './store-text-reader.ts';

/** Records per commit. */
const SLICE_COUNT = 2_000;
/** Lines whose problems are printed; the others are counted. */
const MAX_SHOWN = 20;

/** Reads from the file `input`, or from stdin. */
export async function importStore(
  path: string,
  input: string | undefined,
  context: CommandContext,
): Promise<ExitCode> {
  refuseNoFile(path);
  refuseExisting(path);
  return untilInterrupted(context, `nothing was imported into ${path}`, (interruption) =>
    importNew(path, input, interruption, context),
  );
}

async function importNew(
  path: string,
  input: string | undefined,
  interruption: AbortSignal,
  { stdin, stdout, stderr }: CommandContext,
): Promise<ExitCode> {
  const unfinished = `${path}.import-${process.pid}`;
  try {
    const store = await openSqliteStore({ path: unfinished, synchronous: 'normal' });
    const fill = new Fill(store);
    try {
      await fill.from(addAbortSignal(interruption, input === undefined ? stdin : createReadStream(input)));
    } finally {
      await store.close();
    }
    if (fill.problemCount > 0) {
      stderr.write(fill.complaints());
      return ExitCode.Failed;
    }
    await giveName(unfinished, path);
    stdout.write(`${path} has ${fill.summary()}\n`);
    return ExitCode.Done;
  } catch (error) {
    throw new StoreError(`nothing was imported into ${path}: ${reasonOf(error)}`, { cause: error });
  } finally {
    for (const suffix of ['', '-wal', '-journal']) await unlink(unfinished + suffix).catch(() => undefined);
  }
}

/** SQLite would treat files beside the old name as a part of the new store. */
function refuseExisting(path: string): void {
  const existing = ['', '-wal', '-journal'].map((suffix) => path + suffix).find((each) => existsSync(each));
  if (existing === undefined) return;
  throw new StoreError(`${existing} exists; an import makes a new file and overwrites nothing`);
}

/** Fails if a file with that name was created meanwhile. */
async function giveName(unfinished: string, path: string): Promise<void> {
  await link(unfinished, path).catch((error: unknown) => {
    // The file system has no hard links: checks again that the name is free.
    if (!hasCode(error, ['EPERM', 'ENOTSUP', 'ENOSYS'])) throw error;
    refuseExisting(path);
    return rename(unfinished, path);
  });
  const folder = await open(dirname(path), 'r');
  await folder.sync().finally(() => folder.close());
}

function hasCode(error: unknown, codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

/** Turns lines into records and stores them; after an invalid line the rest is only checked. */
class Fill {
  readonly #store: StorageProvider;
  readonly #reader = new StoreTextReader();
  readonly #examination = new StoreExamination(defaultBrokerSettings());
  readonly #problems: string[] = [];
  problemCount = 0;
  #slice: StoreRecord[] = [];

  constructor(store: StorageProvider) {
    this.#store = store;
  }

  async from(input: Readable): Promise<void> {
    let lineNumber = 0;
    for await (const line of readLines(input)) {
      lineNumber += 1;
      this.#take(line, lineNumber);
      if (this.#slice.length >= SLICE_COUNT) await this.#commit();
    }
    const problem = this.#reader.problemAtEnd();
    if (problem !== undefined) this.#complain(`after line ${lineNumber}: ${problem}`);
    await this.#commit();
  }

  summary(): string {
    const { queueCount, messageCount, deadLetterCount } = this.#examination;
    return `queues ${queueCount}, messages ${messageCount}, of these dead letters ${deadLetterCount}`;
  }

  complaints(): string {
    const hidden = this.problemCount - this.#problems.length;
    const more = hidden > 0 ? [`and ${hidden} more`] : [];
    return [...this.#problems, ...more, 'nothing was imported'].map((text) => `truemq: ${text}\n`).join('');
  }

  #take(line: Buffer, lineNumber: number): void {
    const read = this.#reader.read(line);
    if (read.kind === 'frame') return;
    const problem = read.kind === 'problem' ? read.problem : this.#examination.take(read.record);
    if (problem !== undefined) this.#complain(`line ${lineNumber}: ${problem}`);
    else if (read.kind === 'record') this.#slice.push(...recordsOf(read.record));
  }

  #complain(problem: string): void {
    this.problemCount += 1;
    if (this.#problems.length < MAX_SHOWN) this.#problems.push(problem);
  }

  async #commit(): Promise<void> {
    const slice = this.#slice;
    this.#slice = [];
    if (this.problemCount === 0) await this.#store.commit(slice);
  }
}
