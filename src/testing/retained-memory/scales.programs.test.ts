// The judge itself: true and false accounts, and contents that stay.

import { describe, expect, it } from 'vitest';
import type { StoreRecord } from '../../broker/interface/store-record.ts';
import { openMemoryStore } from '../../storage/memory/memory-store.ts';
import { anyContent } from '../test-content.ts';
import { ContentWatch } from './content-watch.ts';
import { collectGarbage } from './garbage.ts';
import { Scales } from './scales.ts';

const MIB = 1024 * 1024;

/** What a broker accounts, and what it keeps. */
class Account {
  readonly #kept: Buffer[] = [];
  #bytes = 0;

  accountedBytes(): number {
    return this.#bytes;
  }

  take(kept: number, accounted: number): void {
    if (kept > 0) this.#kept.push(Buffer.alloc(kept));
    this.#bytes += accounted;
  }

  get keptCount(): number {
    return this.#kept.length;
  }
}

async function complaintsAfter(kept: number, accounted: number): Promise<readonly string[]> {
  const account = new Account();
  const scales = await Scales.tared(account);
  account.take(kept, accounted);
  await scales.weigh(account, 'then');
  expect(account.keptCount).toBe(kept > 0 ? 1 : 0);
  return scales.complaints;
}

describe('the scales', () => {
  it('are content with an account that is true', async () => {
    expect(await complaintsAfter(20 * MIB, 20 * MIB)).toEqual([]);
  });

  it('complain about memory that nobody accounts', async () => {
    expect(await complaintsAfter(40 * MIB, 20 * MIB)).toEqual([
      expect.stringMatching(/^then: .* 20\.00 MiB accounted: memory that nobody accounts$/),
    ]);
  });

  it('complain about an account of what is not there', async () => {
    expect(await complaintsAfter(0, 20 * MIB)).toEqual([
      expect.stringMatching(/^then: .* 20\.00 MiB accounted: accounted and not there$/),
    ]);
  });
});

/** Adds messages to a watched store and removes all; returns the contents, and nothing else keeps them. */
async function addedAndRemoved(watch: ContentWatch, count: number): Promise<object[]> {
  const store = await watch.watching(async () => openMemoryStore())();
  const contents: object[] = [];
  for (let sequence = 1; sequence <= count; sequence += 1) {
    const content = anyContent(1);
    contents.push(content);
    const message = {
      generation: 1,
      sequence,
      id: `m-${sequence}`,
      priority: 1,
      content,
      acceptedWallAt: 0,
    } as const;
    const records: readonly StoreRecord[] = [
      { kind: 'messageAdded', ...message },
      { kind: 'messageRemoved', generation: 1, sequence },
    ];
    await store.commit(records);
  }
  return contents;
}

describe('the watch over contents', () => {
  it('counts those that have ended and are still kept', async () => {
    const watch = new ContentWatch();
    const kept = await addedAndRemoved(watch, 1000);
    await collectGarbage();
    expect(watch.watchedCount).toBeGreaterThan(20);
    expect(watch.leftoverCount()).toBe(watch.watchedCount);
    expect(kept.splice(0)).toHaveLength(1000);
    await collectGarbage();
    expect(watch.leftoverCount()).toBe(0);
  });
});
