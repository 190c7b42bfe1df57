// Messages that were packed come back as they were: ids and contents of any kind, more than fit together, and after the memory was used again.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PackableMessage, PackedContents } from '../broker/interface/message-packing.ts';
import { Command } from '../protocol/command.ts';
import { encodeBody } from '../protocol/encode.ts';
import { collectGarbage } from '../testing/retained-memory/garbage.ts';
import { ContentPacking } from './content-packing.ts';
import { KeptContent } from './kept-content.ts';

type Drawn = { readonly id: string; readonly bytes: number };

const idOf = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.string({ unit: fc.constantFrom('a', 'é', 'ÿ', '€'), maxLength: 20 }),
);
const drawn: fc.Arbitrary<Drawn> = fc.record({
  id: idOf,
  bytes: fc.oneof(fc.nat({ max: 300 }), fc.nat({ max: 6000 })),
});

function messageOf({ id, bytes }: Drawn): PackableMessage {
  const payload = Buffer.alloc(bytes, `${id}${bytes}`);
  return {
    id,
    content: KeptContent.copyOf(encodeBody({ command: Command.Deliver, id, queue: 'q', payload })),
  };
}

function packAll(packing: ContentPacking, messages: readonly PackableMessage[]): PackedContents[] {
  const all: PackedContents[] = [];
  for (let packed = 0; packed < messages.length; ) {
    const contents = packing.pack(messages.slice(packed));
    expect(contents.count).toBeGreaterThan(0);
    expect(contents.count).toBeLessThanOrEqual(packing.maxCount);
    packed += contents.count;
    all.push(contents);
  }
  return all;
}

function unpack(contents: PackedContents): PackableMessage[] {
  return Array.from({ length: contents.count }, (_, index) => ({
    id: contents.idAt(index),
    content: contents.contentAt(index),
  }));
}

function shown(messages: readonly PackableMessage[]): unknown {
  return messages.map(({ id, content }) => [
    id,
    content.byteLength,
    Buffer.from(content.toBytes()).toString('hex'),
  ]);
}

/** The bytes outside of the heap that are in use, without those of earlier tests that would only be given back while a test runs. */
async function arrayBufferBytes(): Promise<number> {
  await collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

describe('packed messages', () => {
  it('come back as they were', () => {
    fc.assert(
      fc.property(fc.array(drawn, { maxLength: 60 }), (all) => {
        const packing = new ContentPacking({ maxCount: 20, maxBytes: 3000 });
        const messages = all.map(messageOf);
        const packed = packAll(packing, messages);
        expect(shown(packed.flatMap(unpack))).toEqual(shown(messages));
      }),
    );
  });

  it('come back as they were from memory that others have left', () => {
    const several = fc.array(fc.array(drawn, { maxLength: 20 }), { minLength: 2, maxLength: 5 });
    fc.assert(
      fc.property(several, (rounds) => {
        const packing = new ContentPacking({ maxCount: 20, maxBytes: 3000 });
        for (const all of rounds) {
          const messages = all.map(messageOf);
          const packed = packAll(packing, messages);
          expect(shown(packed.flatMap(unpack))).toEqual(shown(messages));
          for (const contents of packed) contents.free();
        }
      }),
    );
  });

  it('stay as they were when their memory is used for others', () => {
    const packing = new ContentPacking({ maxBytes: 3000 });
    const first = [messageOf({ id: 'a', bytes: 500 }), messageOf({ id: 'b', bytes: 600 })];
    const packed = packing.pack(first);
    const back = unpack(packed);
    packed.free();
    packing.pack([messageOf({ id: 'other', bytes: 2500 })]);
    expect(shown(back)).toEqual(shown(first));
  });

  it('are kept beside the packed ones when their content is another than that of the id', () => {
    const packing = new ContentPacking();
    const message = { id: 'given', content: messageOf({ id: 'in the content', bytes: 10 }).content };
    expect(shown(unpack(packing.pack([message])))).toEqual(shown([message]));
  });

  it('take no memory of their own where none can be packed', async () => {
    const packing = new ContentPacking();
    const large = messageOf({ id: 'large', bytes: 5000 });
    const before = await arrayBufferBytes();
    const packed = Array.from({ length: 40 }, () => packing.pack([large, large]));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_000_000);
    for (const contents of packed) contents.free();
    expect(shown(unpack(packing.pack([large, messageOf({ id: 'a', bytes: 1 })])))).toHaveLength(2);
  });

  it('leave memory for the next ones, and not more than a little', async () => {
    const packing = new ContentPacking({ maxBytes: 1_000_000 });
    const message = messageOf({ id: 'a', bytes: 10 });
    const before = await arrayBufferBytes();
    for (let round = 0; round < 40; round += 1) packing.pack([message]).free();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(3_000_000);
    const packed = Array.from({ length: 40 }, () => packing.pack([message]));
    expect(process.memoryUsage().arrayBuffers - before).toBeGreaterThan(35_000_000);
    for (const contents of packed) contents.free();
    const free = Array.from({ length: 8 }, () => packing.pack([message]));
    expect(shown(free.flatMap(unpack))).toHaveLength(8);
  });
});
