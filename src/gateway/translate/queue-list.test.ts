// The payload of ListQueues: within its limit, and serialised once.

import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { QueueListCache } from './queue-list.ts';

describe('the list of queues', () => {
  it('is the names in JSON when that fits, and nothing otherwise', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme' })),
        fc.integer({ min: -3, max: 3 }),
        (names, more) => {
          const json = Buffer.from(JSON.stringify(names));
          const payload = new QueueListCache().payloadOf(names, json.length + more);
          expect(payload).toEqual(more < 0 ? undefined : json);
        },
      ),
    );
  });

  it('is not serialised when it cannot fit', () => {
    const stringify = vi.spyOn(JSON, 'stringify');
    expect(new QueueListCache().payloadOf(Array(1000).fill('name'), 500)).toBeUndefined();
    expect(stringify).not.toHaveBeenCalled();
    stringify.mockRestore();
  });

  it('is serialised once for the same array, and anew for another or after clear', () => {
    const cache = new QueueListCache();
    const names = ['a', 'b'];
    const first = cache.payloadOf(names, 100);
    expect(cache.payloadOf(names, 100)).toBe(first);
    expect(String(cache.payloadOf(['a', 'c'], 100))).toBe('["a","c"]');
    cache.clear();
    expect(cache.payloadOf(names, 100)).toEqual(first);
    expect(cache.payloadOf(names, 8)).toBeUndefined();
  });

  it('gives nobody the list that was made for another user in the same batch [AUTH-023]', () => {
    const lists = new QueueListCache();
    const payloads = [['a', 'secret'], ['a'], ['a', 'secret']].map((names) => lists.payloadOf(names, 100));
    expect(payloads.map(String)).toEqual(['["a","secret"]', '["a"]', '["a","secret"]']);
  });
});
