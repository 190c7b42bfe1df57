// The memory of writes is used again, and whatever streams do meanwhile, each sends its own bytes.

import { Duplex } from 'node:stream';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Command } from '../protocol/command.ts';
import { encodeBody, frameOf } from '../protocol/encode.ts';
import { Outbound } from './outbound.ts';
import { WriteBatch } from './write-batch.ts';
import { WriteBuffers } from './write-buffers.ts';

type Done = (error?: Error | null) => void;

/** Reads the bytes of a write when the test says so, and calls back then: as the system does. */
class LateSocket extends Duplex {
  readonly sent: Buffer[] = [];
  /** Of a stream that does not release its writes: read again at the end. */
  readonly seen: Buffer[] = [];
  #write: { readonly chunks: readonly Buffer[]; readonly done: Done } | undefined;

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: Done): void {
    this.#write = { chunks: [chunk], done };
  }

  override _writev(items: { chunk: Buffer }[], done: Done): void {
    this.#write = { chunks: items.map(({ chunk }) => chunk), done };
  }

  async send(): Promise<void> {
    const write = this.#write;
    if (write === undefined) return;
    this.#write = undefined;
    for (const chunk of write.chunks) this.sent.push(Buffer.from(chunk));
    this.seen.push(...write.chunks);
    write.done();
    await turn();
  }

  override _destroy(error: Error | null, callback: Done): void {
    callback(error);
    this.#write?.done();
  }

  /** The write fails, and the system may still read it. */
  fail(): void {
    this.#write?.done(new Error('failed'));
  }

  /** What the system may still read of a connection that has ended. */
  lateBytes(): Buffer {
    return Buffer.concat(this.#write?.chunks ?? []);
  }
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function connection(buffers: WriteBuffers, releasesWrites: boolean) {
  const socket = new LateSocket();
  socket.on('error', () => undefined);
  const outbound = new Outbound(socket, {
    releasesWrites,
    buffers,
    algorithmFor: () => undefined,
    compress: (_algorithm, body) => (Buffer.isBuffer(body) ? body : body.toBytes()),
    onProgress: () => undefined,
    onFailure: (error) => {
      throw error;
    },
  });
  return { socket, outbound, expected: [] as Buffer[], releasesWrites };
}

/** 0 and 1: sockets; 2: a stream whose bytes are read long after it has called back; 3: a socket that fails or is destroyed. */
const connections = [0, 1, 2, 3];
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      to: fc.subarray(connections, { minLength: 1 }),
      bytes: fc.constantFrom(10, 3000, 5000, 9000, 20_000, 70_000),
    }),
  },
  { weight: 3, arbitrary: fc.record({ sends: fc.constantFrom(0, 1, 2) }) },
  { weight: 1, arbitrary: fc.constantFrom('destroy', 'fail') },
);

it('each stream sends its own bytes', async () => {
  let reusedCount = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
      const buffers = new WriteBuffers();
      const all = connections.map((index) => connection(buffers, index !== 2));
      const memory = new Set<ArrayBufferLike>();
      let number = 0;
      let late: Buffer = Buffer.alloc(0);
      for (const next of steps) {
        if (typeof next === 'string') {
          const { socket } = all[3] as (typeof all)[number];
          if (!socket.destroyed) late = socket.lateBytes();
          if (next === 'fail') socket.fail();
          else socket.destroy();
          await turn();
        } else if ('sends' in next) await all[next.sends]?.socket.send();
        else {
          number += 1;
          const body = encodeBody({
            command: Command.Deliver,
            id: 'm',
            payload: Buffer.alloc(next.bytes, String(number)),
          });
          const writes = new WriteBatch(buffers);
          for (const index of next.to) {
            const { outbound, expected, socket } = all[index] as (typeof all)[number];
            if (!socket.destroyed) expected.push(frameOf(body));
            outbound.push(body);
            outbound.flush(writes);
          }
          writes.end();
        }
      }
      for (const { socket, expected, releasesWrites } of all.slice(0, 3)) {
        while (socket.writableLength > 0) await socket.send();
        expect(Buffer.concat(socket.sent).equals(Buffer.concat(expected))).toBe(true);
        if (!releasesWrites) expect(Buffer.concat(socket.seen).equals(Buffer.concat(expected))).toBe(true);
        for (const { buffer, byteLength } of socket.seen) {
          if (byteLength > 4096 && memory.has(buffer)) reusedCount += 1;
          memory.add(buffer);
        }
      }
      expect(all[3]?.socket.destroyed !== true || all[3].socket.lateBytes().equals(late)).toBe(true);
    }),
    { numRuns: 60 },
  );
  expect(reusedCount).toBeGreaterThan(0);
});
