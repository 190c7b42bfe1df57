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

  it('is serialised once for equal names, and anew for other names or after clear', () => {
    const cache = new QueueListCache();
    const first = cache.payloadOf(['a', 'b'], 100);
    expect(cache.payloadOf(['a', 'b'], 100)).toBe(first);
    expect(String(cache.payloadOf(['a', 'c'], 100))).toBe('["a","c"]');
    const again = cache.payloadOf(['a', 'b'], 100);
    cache.clear();
    expect(cache.payloadOf(['a', 'b'], 100)).toEqual(again);
    expect(cache.payloadOf(['a', 'b'], 8)).toBeUndefined();
  });
});
