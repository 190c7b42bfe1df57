// What is written to a stream, in how many writes, and which bytes count as unsent.

import { Duplex } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { Command } from '../protocol/command.ts';
import { encodeBody, encodeFrame, frameOf } from '../protocol/encode.ts';
import { Outbound, type OutboundOptions } from './outbound.ts';
import { WriteBatch } from './write-batch.ts';
import { WriteBuffers } from './write-buffers.ts';

/** A stream that keeps written bytes until the test flushes them. */
class Sink extends Duplex {
  /** One entry per system call. */
  readonly writes: Buffer[] = [];
  /** The buffers of the last call, not copied. */
  pieces: readonly Buffer[] = [];
  #pass: (() => void) | undefined;

  constructor() {
    super({ writableHighWaterMark: 1_000_000 });
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.writes.push(chunk);
    this.#pass = done;
  }

  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this.pieces = chunks.map(({ chunk }) => chunk);
    this._write(Buffer.concat(this.pieces), '', done);
  }

  async pass(): Promise<void> {
    this.#pass?.();
    await turn();
  }
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function outboundTo(stream: Duplex, options: Partial<OutboundOptions> = {}): Outbound {
  return new Outbound(stream, {
    releasesWrites: false,
    buffers: new WriteBuffers(),
    algorithmFor: () => undefined,
    compress: (_algorithm, body) => (Buffer.isBuffer(body) ? body : body.toBytes()),
    onProgress: () => undefined,
    onFailure: (error) => {
      throw error;
    },
    ...options,
  });
}

const pong = (id: string) => ({ command: Command.Pong, id });
const body = (length: number) =>
  encodeBody({ command: Command.Deliver, id: 'm', payload: Buffer.alloc(length, 'x') });

describe('frames that have gathered', () => {
  it('are written in one write, whether fields or bodies, small or large', async () => {
    const sink = new Sink();
    const outbound = outboundTo(sink);
    const [small, large] = [body(100), body(100_000)];
    for (const frame of [pong('a'), small, large, pong('b'), large]) outbound.push(frame);
    expect(sink.writes).toEqual([]);
    outbound.flush();
    await turn();
    const expected = [
      encodeFrame(pong('a')),
      frameOf(small),
      frameOf(large),
      encodeFrame(pong('b')),
      frameOf(large),
    ];
    expect(sink.writes.length).toBe(1);
    expect(sink.writes[0]?.equals(Buffer.concat(expected))).toBe(true);
  });

  it('do not copy a large body', () => {
    const sink = new Sink();
    const outbound = outboundTo(sink);
    const large = body(100_000);
    outbound.push(large);
    outbound.flush();
    expect(outbound.unsentBytes).toBe(5 + large.length);
    expect(sink.pieces[1]).toBe(large);
  });

  it('share the bytes of another connection that sends the same at the same time', () => {
    const writes = new WriteBatch(new WriteBuffers());
    const shared = body(100);
    const [one, other] = [new Sink(), new Sink()];
    for (const sink of [one, other]) {
      const outbound = outboundTo(sink);
      outbound.push(shared);
      outbound.flush(writes);
    }
    expect(one.writes).toEqual([frameOf(shared)]);
    expect(other.writes[0]).toBe(one.writes[0]);
  });

  it('write nothing when there are none, and do not end an open stream', () => {
    const sink = new Sink();
    outboundTo(sink).flush();
    expect([sink.writes.length, sink.writableEnded]).toEqual([0, false]);
  });
});

describe('what is unsent', () => {
  it('counts from the flush until the stream has sent it, and reports that', async () => {
    const sink = new Sink();
    const onProgress = vi.fn();
    const outbound = outboundTo(sink, { onProgress });
    outbound.push(body(1000));
    expect(outbound.unsentBytes).toBe(0);
    outbound.flush();
    expect(outbound.unsentBytes).toBe(5 + body(1000).length);
    expect(onProgress).not.toHaveBeenCalled();
    await sink.pass();
    expect(outbound.unsentBytes).toBe(0);
    expect(onProgress).toHaveBeenCalledTimes(1);
  });

  it('counts what is still being compressed, and what waits behind it', async () => {
    const sink = new Sink();
    const compressed = deferred<Buffer>();
    const outbound = outboundTo(sink, {
      algorithmFor: (length) => (length > 500 ? 'gzip' : undefined),
      compress: () => compressed.promise,
    });
    const [large, small] = [body(1000), body(10)];
    for (const frame of [small, large, small]) outbound.push(frame);
    outbound.flush();
    expect(outbound.unsentBytes).toBe(5 + small.length + large.length + small.length);
    outbound.push(small);
    outbound.flush();
    expect(outbound.unsentBytes).toBe(5 + small.length + large.length + 2 * small.length);
    compressed.resolve(Buffer.from('tiny'));
    await turn();
    await sink.pass();
    await sink.pass();
    expect(outbound.unsentBytes).toBe(0);
    expect(Buffer.concat(sink.writes)).toEqual(
      Buffer.concat([frameOf(small), frameOf(Buffer.from('tiny'), 'gzip'), frameOf(small), frameOf(small)]),
    );
  });
});

describe('compressing', () => {
  it('begins for all frames at once, and they leave in order however it ends [CONN-035]', async () => {
    const sink = new Sink();
    const results = [deferred<Buffer>(), deferred<Buffer>(), deferred<Buffer>()];
    let begun = 0;
    const outbound = outboundTo(sink, {
      algorithmFor: () => 'brotli',
      compress: () => results[begun++]?.promise ?? Buffer.alloc(0),
    });
    for (let index = 0; index < 3; index += 1) outbound.push(body(1000));
    outbound.flush();
    outbound.end();
    expect(begun).toBe(3);
    for (const [index, name] of [
      [2, 'third'],
      [0, 'first'],
      [1, 'second'],
    ] as const) {
      results[index]?.resolve(Buffer.from(name));
      await turn();
      await sink.pass();
    }
    await sink.pass();
    const expected = ['first', 'second', 'third'].map((name) => frameOf(Buffer.from(name), 'brotli'));
    expect(Buffer.concat(sink.writes)).toEqual(Buffer.concat(expected));
    expect(sink.writableEnded).toBe(true);
  });

  it('that makes a body no shorter is not used [COMPRESS-001]', () => {
    const sink = new Sink();
    const outbound = outboundTo(sink, {
      algorithmFor: () => 'gzip',
      compress: (_algorithm, same) => Buffer.from(Buffer.isBuffer(same) ? same : same.toBytes()),
    });
    outbound.push(body(1000));
    outbound.flush();
    expect(sink.writes[0]).toEqual(frameOf(body(1000)));
  });

  it('that fails is reported once for each frame, also behind one that is being compressed', async () => {
    const failures: unknown[] = [];
    const outcomes = [new Promise<Buffer>(() => undefined), Promise.reject(new Error('broken'))];
    const outbound = outboundTo(new Sink(), {
      algorithmFor: () => 'gzip',
      compress: () => outcomes.shift() ?? Buffer.alloc(0),
      onFailure: (error) => void failures.push(error),
    });
    outbound.push(body(1000));
    outbound.push(body(1000));
    outbound.flush();
    await turn();
    expect(failures).toEqual([new Error('broken')]);
  });

  it('that ends after the stream was destroyed writes nothing', async () => {
    const sink = new Sink();
    const compressed = deferred<Buffer>();
    const outbound = outboundTo(sink, { algorithmFor: () => 'gzip', compress: () => compressed.promise });
    outbound.push(body(1000));
    outbound.flush();
    sink.destroy();
    compressed.resolve(Buffer.from('late'));
    await turn();
    outbound.flush();
    expect(sink.writes).toEqual([]);
  });
});

describe('the end', () => {
  it('comes after everything that was pushed before it, and once', async () => {
    const sink = new Sink();
    const outbound = outboundTo(sink);
    outbound.push(pong('a'));
    outbound.end();
    expect(sink.writableEnded).toBe(false);
    outbound.flush();
    outbound.flush();
    expect(sink.writableEnded).toBe(true);
    await sink.pass();
    expect(sink.writes).toEqual([encodeFrame(pong('a'))]);
    expect(sink.errored).toBeNull();
  });
});

function deferred<Value>(): { readonly promise: Promise<Value>; readonly resolve: (value: Value) => void } {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((fulfil) => {
    resolve = fulfil;
  });
  return { promise, resolve };
}
