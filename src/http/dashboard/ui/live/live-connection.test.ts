// The connection of the live stream, with streams and clocks in the hands of the test.

import { beforeEach, describe, expect, it } from 'vitest';
import {
  LiveConnection,
  QUIET_MS,
  REFUSED_REOPEN_MS,
  REOPEN_MS,
  type StreamHandlers,
} from './live-connection.ts';
import { LiveStore, type Refusal } from './live-store.ts';

type Stream = { readonly path: string; readonly handlers: StreamHandlers; isOpen: boolean };

const empty = JSON.stringify({
  now: 1,
  health: { isHealthy: true, reasons: [] },
  queues: [],
  values: [],
  points: Object.fromEntries(
    [
      ...['at', 'publishedRate', 'deliveredRate', 'acknowledgedRate', 'errorRate', 'waitingCount'],
      ...['inFlightCount', 'latencyP50Ms', 'latencyP99Ms', 'memoryBytes', 'connectionCount'],
    ].map((field) => [field, []]),
  ),
});

class Bench {
  readonly store = new LiveStore();
  readonly streams: Stream[] = [];
  /** What a question why the stream was refused is answered. */
  refusal: Refusal | undefined;
  readonly asked: string[] = [];
  timer: { readonly callback: () => void; readonly delayMs: number } | undefined;
  readonly connection = new LiveConnection(this.store, {
    openStream: (path, handlers) => {
      const stream = { path, handlers, isOpen: true };
      this.streams.push(stream);
      return () => {
        stream.isOpen = false;
      };
    },
    schedule: (callback, delayMs) => {
      const timer = { callback, delayMs };
      this.timer = timer;
      return () => {
        if (this.timer === timer) this.timer = undefined;
      };
    },
    wallNow: () => 42,
    whyRefused: async (path) => {
      this.asked.push(path);
      return this.refusal;
    },
  });

  get last(): Stream {
    const stream = this.streams.at(-1);
    if (stream === undefined) throw new Error('no stream was opened');
    return stream;
  }

  get open(): readonly Stream[] {
    return this.streams.filter(({ isOpen }) => isOpen);
  }

  /** Lets the time of the only timer come. */
  fire(delayMs: number): void {
    const timer = this.timer;
    expect(timer?.delayMs).toBe(delayMs);
    this.timer = undefined;
    timer?.callback();
  }
}

/** Lets the answer to a question why arrive. */
async function answered(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await Promise.resolve();
}

let bench = new Bench();
beforeEach(() => {
  bench = new Bench();
});

describe('a page on screen', () => {
  it('has one stream, of the queue that it shows', () => {
    bench.connection.watch('a/b c');
    expect(bench.streams).toHaveLength(0);
    bench.connection.setVisible(true);
    bench.connection.setVisible(true);
    expect(bench.open.map(({ path }) => path)).toEqual(['api/events?queue=a%2Fb%20c']);
    bench.connection.watch(undefined);
    bench.connection.watch(undefined);
    expect(bench.open.map(({ path }) => path)).toEqual(['api/events']);
    expect(bench.streams).toHaveLength(2);
  });

  it('is live from the first snapshot on', () => {
    bench.connection.setVisible(true);
    expect(bench.store.phase).toBe('connecting');
    bench.last.handlers.onSnapshot(empty);
    expect([bench.store.phase, bench.store.seenAt]).toEqual(['live', 42]);
  });
});

describe('a page off screen', () => {
  it('asks for nothing, and for everything again when it is back', () => {
    bench.connection.setVisible(true);
    bench.connection.setVisible(false);
    expect(bench.open).toHaveLength(0);
    expect(bench.timer).toBeUndefined();
    bench.connection.setVisible(true);
    expect(bench.open).toHaveLength(1);
  });

  it('does not open a stream that was refused before', async () => {
    bench.connection.setVisible(true);
    bench.last.handlers.onError(true);
    bench.connection.setVisible(false);
    expect(bench.timer).toBeUndefined();
    await answered();
    expect(bench.timer).toBeUndefined();
  });
});

describe('a lost connection', () => {
  beforeEach(() => {
    bench.connection.setVisible(true);
    bench.last.handlers.onSnapshot(empty);
  });

  it('is left to the stream while that tries by itself', () => {
    bench.last.handlers.onError(false);
    expect(bench.store.phase).toBe('lost');
    expect(bench.streams).toHaveLength(1);
    bench.last.handlers.onSnapshot(empty);
    expect(bench.store.phase).toBe('live');
  });

  it('is opened again after a second when the stream gave up', async () => {
    bench.last.handlers.onError(true);
    expect(bench.open).toHaveLength(0);
    await answered();
    bench.fire(REOPEN_MS);
    expect(bench.open).toHaveLength(1);
    expect(bench.store.phase).toBe('lost');
  });

  it('is noticed when no event comes', () => {
    bench.fire(QUIET_MS);
    expect(bench.store.phase).toBe('lost');
    bench.fire(REOPEN_MS);
    expect(bench.open).toHaveLength(1);
  });
});

describe('a stream that the broker refuses', () => {
  const full: Refusal = { status: 503, detail: 'The dashboard has 20 live streams already.' };
  const wrong: Refusal = { status: 401, detail: 'The user name or the password is wrong.' };

  /** A live page whose stream is then refused for that reason. */
  async function refuse(refusal: Refusal | undefined): Promise<void> {
    bench.connection.setVisible(true);
    bench.last.handlers.onSnapshot(empty);
    bench.refusal = refusal;
    bench.last.handlers.onError(true);
    await answered();
  }

  it('is asked why, and opened again after a while', async () => {
    await refuse(full);
    expect([bench.store.phase, bench.store.refusal, bench.asked]).toEqual(['lost', full, ['api/events']]);
    bench.fire(REFUSED_REOPEN_MS);
    expect(bench.open).toHaveLength(1);
    expect(bench.store.refusal).toBe(full);
    bench.last.handlers.onSnapshot(empty);
    expect([bench.store.phase, bench.store.refusal]).toEqual(['live', undefined]);
  });

  it.each([wrong, { ...wrong, status: 403 }])(
    'with $status is not opened again by itself, since it would be refused again',
    async (refusal) => {
      await refuse(refusal);
      expect(bench.store.refusal).toBe(refusal);
      expect([bench.timer, bench.open]).toEqual([undefined, []]);
    },
  );

  it('is opened again when no answer to the question comes', () => {
    bench.connection.setVisible(true);
    bench.last.handlers.onError(true);
    bench.fire(QUIET_MS);
    expect(bench.open).toHaveLength(1);
  });

  it('keeps no reason when the broker does not answer any more', async () => {
    await refuse(full);
    bench.fire(REFUSED_REOPEN_MS);
    bench.last.handlers.onError(false);
    expect([bench.store.phase, bench.store.refusal]).toEqual(['lost', undefined]);
  });

  it('is forgotten when the answer comes after another stream was opened', async () => {
    bench.connection.setVisible(true);
    bench.refusal = full;
    bench.last.handlers.onError(true);
    bench.connection.watch('q');
    await answered();
    expect([bench.store.refusal, bench.open.length]).toEqual([undefined, 1]);
    bench.fire(QUIET_MS);
  });
});
