// An example of a store for those who write one: a text file with one line of JSON for each batch, read from the first to the last
// line at a start. It passes the contract and is no more than that: the file grows for ever. Explained in
// docs/guides/write-a-store.md.

import { type FileHandle, open } from 'node:fs/promises';
import type { RecoveredRecord, StoredMessage, StoreRecord } from '../broker/interface/store-record.ts';
import { type StorageProvider, StoreError } from '../storage/storage-provider.ts';

/** Opens the store in that file, which is created when it is not there. */
export async function openJsonLinesStore(path: string): Promise<StorageProvider> {
  const file = await open(path, 'a+');
  try {
    const lines = (await file.readFile('utf8')).split('\n');
    // A batch is there when its line has an end. What follows the last end was being written when the broker crashed.
    const torn = lines.pop() ?? '';
    const { size } = await file.stat();
    await file.truncate(size - Buffer.byteLength(torn));
    return new JsonLinesStore(file, lines);
  } catch (error) {
    await file.close();
    throw new StoreError(`the store ${path} cannot be read: ${String(error)}`, { cause: error });
  }
}

class JsonLinesStore implements StorageProvider {
  readonly #file: FileHandle;
  #lines: readonly string[];

  constructor(file: FileHandle, lines: readonly string[]) {
    this.#file = file;
    this.#lines = lines;
  }

  *recover(): Iterable<RecoveredRecord> {
    const queues = new Map<number, RecoveredRecord>();
    const messages = new Map<number, RecoveredRecord>();
    const add = (stored: StoredMessage) =>
      messages.set(stored.sequence, { ...withBytes(stored), kind: 'message', failedAttempts: 0 });
    for (const line of this.#lines) {
      for (const record of JSON.parse(line) as readonly StoreRecord[]) {
        if (record.kind === 'queueCreated') queues.set(record.generation, { ...record, kind: 'queue' });
        else if (record.kind === 'queueDeleted') queues.delete(record.generation);
        else if (record.kind === 'messageAdded') add(record);
        else if (record.kind === 'messageRemoved') messages.delete(record.sequence);
        else if (record.kind === 'deadLettered') {
          messages.delete(record.from.sequence);
          add(record.to);
        } else {
          const message = messages.get(record.sequence);
          if (message?.kind !== 'message') continue;
          messages.set(record.sequence, { ...message, failedAttempts: record.failedAttempts });
        }
      }
      // The numbers of a queue that has ended may be used again, so its messages go with it.
      for (const [sequence, { generation }] of messages)
        if (!queues.has(generation)) messages.delete(sequence);
    }
    this.#lines = [];
    yield* queues.values();
    yield* messages.values();
  }

  /** One write and one sync for a batch, however long; an empty batch makes the same way. */
  async commit(records: readonly StoreRecord[]): Promise<void> {
    await this.#file.appendFile(`${JSON.stringify(records.map(withText))}\n`);
    await this.#file.datasync();
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

/** JSON has no bytes: a content is written in base64. */
function withText(record: StoreRecord): object {
  if (record.kind === 'messageAdded') return { ...record, content: base64Of(record) };
  if (record.kind === 'deadLettered')
    return { ...record, to: { ...record.to, content: base64Of(record.to) } };
  return record;
}

function base64Of({ content }: StoredMessage): string {
  return Buffer.from(content as Uint8Array).toString('base64');
}

/** The port asks for a Uint8Array; this store gives back a plain one, so that the tests see that the broker takes it. */
function withBytes(stored: StoredMessage): StoredMessage {
  return { ...stored, content: Uint8Array.from(Buffer.from(stored.content as unknown as string, 'base64')) };
}
