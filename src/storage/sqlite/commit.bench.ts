// How long a commit holds the event loop: in the loop, as the store does it, and beside it, in a thread that is handed the records. Every
// batch adds 128 messages of 1 KiB and takes away the 128 before them, as a loaded broker does, the checkpoints of the log included.
//
//   node --import tsx src/storage/sqlite/commit.bench.ts

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import type { StoreRecord } from '../../broker/interface/store-record.ts';
import { contentOf } from '../../testing/test-content.ts';
import { openSqliteStore } from './sqlite-store.ts';

const BATCH_MESSAGES = 128;
const CONTENT_BYTES = 1024;
const WARM_BATCHES = 100;
const BATCHES = 2_000;

/** A thread does not inherit the TypeScript loader. */
const THREAD = `import('tsx/esm/api').then(({ register }) => {
  register();
  return import(require('node:worker_threads').workerData.module);
});`;

/** Passes a batch on; resolves when it is committed. `held` is called with the milliseconds for which the caller was blocked. */
type Commit = (records: readonly StoreRecord[], held: (ms: number) => void) => Promise<void>;

async function compare(): Promise<void> {
  process.stdout.write(
    '| | held p50 ms | held p99 ms | held max ms | until safe p50 ms | until safe p99 ms | messages/s |\n',
  );
  process.stdout.write('|---|--:|--:|--:|--:|--:|--:|\n');
  for (const synchronous of ['full', 'normal'] as const) {
    await measure(`in the loop, ${synchronous}`, await inLoop(synchronous));
    await measure(`in a thread, ${synchronous}`, await inThread(synchronous));
  }
}

type Subject = { readonly commit: Commit; readonly end: () => Promise<void> };

async function inLoop(synchronous: 'full' | 'normal'): Promise<Subject> {
  const folder = mkdtempSync(join(tmpdir(), 'truemq-commit-'));
  const store = await openSqliteStore({ path: join(folder, 'q.db'), synchronous });
  return {
    commit: async (records, held) => {
      const startedAt = performance.now();
      await store.commit(records);
      held(performance.now() - startedAt);
    },
    end: async () => {
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function inThread(synchronous: 'full' | 'normal'): Promise<Subject> {
  const folder = mkdtempSync(join(tmpdir(), 'truemq-commit-'));
  const worker = new Worker(THREAD, {
    eval: true,
    workerData: { path: join(folder, 'q.db'), synchronous, module: import.meta.url },
  });
  return {
    commit: (records, held) =>
      new Promise((resolve) => {
        worker.once('message', () => resolve());
        const startedAt = performance.now();
        worker.postMessage(records);
        held(performance.now() - startedAt);
      }),
    end: async () => {
      await worker.terminate();
      rmSync(folder, { recursive: true });
    },
  };
}

/** The thread: one batch after another. */
async function serveBatches(): Promise<void> {
  const store = await openSqliteStore(workerData as { path: string; synchronous: 'full' | 'normal' });
  parentPort?.on('message', (records: readonly StoreRecord[]) => {
    void store.commit(records);
    parentPort?.postMessage('safe');
  });
}

async function measure(title: string, { commit, end }: Subject): Promise<void> {
  const batches = new Batches();
  for (let count = 0; count < WARM_BATCHES; count += 1) await commit(batches.next(), () => undefined);
  const held: number[] = [];
  const safe: number[] = [];
  const startedAt = performance.now();
  for (let count = 0; count < BATCHES; count += 1) {
    const records = batches.next();
    const handedAt = performance.now();
    await commit(records, (ms) => held.push(ms));
    safe.push(performance.now() - handedAt);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const rate = Math.round((BATCHES * BATCH_MESSAGES) / seconds).toLocaleString('en-US');
  const figures = [
    ...[0.5, 0.99, 1].map((share) => quantile(held, share)),
    ...[0.5, 0.99].map((share) => quantile(safe, share)),
  ];
  process.stdout.write(`| ${title} | ${figures.join(' | ')} | ${rate} |\n`);
  await end();
}

function quantile(values: readonly number[], share: number): string {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(2);
}

class Batches {
  #sequence = 0;

  next(): readonly StoreRecord[] {
    const before = this.#sequence;
    const records: StoreRecord[] = [];
    for (let count = 1; count <= BATCH_MESSAGES; count += 1) {
      const sequence = before + count;
      records.push({
        kind: 'messageAdded',
        generation: 1,
        sequence,
        id: `message-${sequence}`,
        priority: 1,
        content: contentOf(Buffer.alloc(CONTENT_BYTES, sequence)),
        acceptedWallAt: 1_700_000_000_000,
      });
      if (before > 0)
        records.push({ kind: 'messageRemoved', generation: 1, sequence: sequence - BATCH_MESSAGES });
    }
    this.#sequence += BATCH_MESSAGES;
    return records;
  }
}

if (isMainThread) await compare();
else await serveBatches();
