// The live streams over a broker that the test sets, in virtual time: what is sent first, what later, and what when the client does not read.

import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { EventReader } from '../../../testing/event-reader.ts';
import { TestedLiveView } from '../../../testing/live-view.ts';
import { VirtualEnvironment } from '../../../testing/virtual-environment.ts';
import type { Change, Snapshot } from './live-events.ts';
import { LiveFeed, type LiveFeedOptions } from './live-feed.ts';

function testedFeed(options: Partial<LiveFeedOptions> = {}) {
  const environment = new VirtualEnvironment();
  const view = new TestedLiveView();
  const faults: unknown[] = [];
  const create = (): LiveFeed =>
    new LiveFeed({
      ...environment,
      view,
      sampleMemory: () => view.memory,
      serverVersion: '1.2.3',
      tcp: () => undefined,
      onFault: (fault) => faults.push(fault),
      ...options,
    });
  return { environment, view, create, faults, second: () => environment.advance(1_000) };
}

const document = parse(
  readFileSync(new URL('../../../../spec/openapi/dashboard.yaml', import.meta.url), 'utf8'),
);
const ajv = new Ajv2020({ strict: false });
ajv.addSchema(document, 'dashboard.yaml');
const schemas = { snapshot: 'Snapshot', change: 'Change' } as const;

/** The data of the next event, which is as the published document says. */
async function eventOf<Kind extends Change | Snapshot>(
  reader: EventReader,
  event: keyof typeof schemas,
): Promise<Kind> {
  const read = await reader.next();
  expect(read?.event).toBe(event);
  const data: unknown = JSON.parse(read?.data ?? '');
  ajv.validate(`dashboard.yaml#/components/schemas/${schemas[event]}`, data);
  expect(ajv.errors).toBeNull();
  return data as Kind;
}

const snapshotOf = (reader: EventReader) => eventOf<Snapshot>(reader, 'snapshot');
const changeOf = (reader: EventReader) => eventOf<Change>(reader, 'change');

function openStream(feed: LiveFeed, queue?: string): EventReader {
  return new EventReader(feed.open(queue).body);
}

const idsOf = ({ values }: Change): readonly number[] => values.map(([id]) => id);

describe('a stream', () => {
  it('begins with a snapshot', async () => {
    const { view, create, environment, second } = testedFeed();
    view.set(1, { messageCount: 2 });
    view.set(2, { name: 'orders' });
    const feed = create();
    await second();
    const response = feed.open(undefined);
    expect([
      response.status,
      response.headers.get('content-type'),
      response.headers.get('cache-control'),
    ]).toEqual([200, 'text/event-stream', 'no-store']);
    const reader = new EventReader(response.body);
    const snapshot = await snapshotOf(reader);
    expect(snapshot).toMatchObject({
      serverVersion: '1.2.3',
      now: environment.clock.wallNow(),
      memoryLimitBytes: view.memory.residentLimitBytes,
      asksForCredentials: false,
      health: { isHealthy: true, reasons: [] },
      queues: [
        { id: 1, name: 'q1' },
        { id: 2, name: 'orders' },
      ],
      values: [
        [1, 2, 0, 0, 0, 0, 0, 0, 0],
        [2, 0, 0, 0, 0, 0, 0, 0, 0],
      ],
    });
    expect(snapshot.points.at).toHaveLength(2);
    expect(snapshot).not.toHaveProperty('watched');
    expect(reader.retryMs).toBe(1_000);
  });

  it('says where clients connect, as soon as they can', async () => {
    const tcp = { host: '127.0.0.1', port: 4000, tls: true };
    const closed = testedFeed();
    expect(await snapshotOf(openStream(closed.create()))).not.toHaveProperty('tcp');
    const listening = testedFeed({ tcp: () => tcp });
    const { tcp: told } = await snapshotOf(openStream(listening.create()));
    expect(told).toEqual({ port: 4000, tls: true });
  });

  it('says whether the dashboard asks for credentials', async () => {
    const access = { watch: () => () => undefined };
    const { create } = testedFeed({ access });
    expect(await snapshotOf(openStream(create()))).toMatchObject({ asksForCredentials: true });
  });

  it('then sends every second what has changed, and nothing else', async () => {
    const { view, create, environment, second } = testedFeed();
    view.set(1);
    view.set(2);
    const reader = openStream(create());
    await snapshotOf(reader);
    view.set(2, { messageCount: 9 });
    await second();
    expect(await changeOf(reader)).toEqual({
      now: environment.clock.wallNow(),
      health: { isHealthy: true, reasons: [] },
      point: expect.objectContaining({ at: environment.clock.wallNow(), waitingCount: 9 }),
      values: [[2, 9, 0, 0, 0, 0, 0, 0, 0]],
    });
    await second();
    expect((await changeOf(reader)).values).toEqual([]);
  });

  it('sends rates that fall to 0', async () => {
    const { view, create, second } = testedFeed();
    view.set(1);
    const reader = openStream(create());
    await snapshotOf(reader);
    view.set(1, { enteredCount: 5 });
    await second();
    expect((await changeOf(reader)).values).toEqual([[1, 0, 0, 5, 0, 0, 0, 0, 0]]);
    await second();
    expect((await changeOf(reader)).values).toEqual([[1, 0, 0, 0, 0, 0, 0, 0, 0]]);
  });

  it('tells of queues that are created and removed', async () => {
    const { view, create, second } = testedFeed();
    view.set(1);
    const reader = openStream(create());
    await snapshotOf(reader);
    view.set(2, { messageCount: 1 });
    await second();
    expect(await changeOf(reader)).toMatchObject({
      created: [{ id: 2, name: 'q2' }],
      values: [[2, 1, 0, 0, 0, 0, 0, 0, 0]],
    });
    view.delete(1);
    view.delete(2);
    await second();
    expect(await changeOf(reader)).toMatchObject({ values: [], removed: [1, 2] });
    await second();
    expect(await changeOf(reader)).not.toHaveProperty('removed');
  });
});

describe('a watched queue', () => {
  it('comes with its subscribers and its last 15 minutes', async () => {
    const { view, create, second } = testedFeed();
    view.set(1, { name: 'orders', messageCount: 4 });
    view.subscribers = [
      { connection: 12, inFlightCount: 3, window: 10 },
      { connection: 13, inFlightCount: 0, window: undefined },
    ];
    const reader = openStream(create(), 'orders');
    const subscribers = [
      { connection: 12, inFlightCount: 3, window: 10 },
      { connection: 13, inFlightCount: 0, window: null },
    ];
    expect((await snapshotOf(reader)).watched).toMatchObject({
      id: 1,
      subscribers,
      history: { waitingCount: [4] },
    });
    await second();
    expect((await changeOf(reader)).watched).toEqual({ id: 1, subscribers });
  });

  it('has at most 100 subscribers', async () => {
    const { view, create } = testedFeed();
    view.set(1);
    view.subscribers = Array.from({ length: 200 }, (_, connection) => ({
      connection,
      inFlightCount: 0,
      window: 1,
    }));
    const { watched } = await snapshotOf(openStream(create(), 'q1'));
    expect(watched?.subscribers).toHaveLength(100);
  });

  it('may be created later, removed, and created again', async () => {
    const { view, create, second } = testedFeed();
    const reader = openStream(create(), 'q');
    expect(await snapshotOf(reader)).not.toHaveProperty('watched');
    const next = async (change: () => void) => {
      change();
      await second();
      return changeOf(reader);
    };
    const created = await next(() => view.set(5, { name: 'q' }));
    expect(created).toMatchObject({ created: [{ id: 5 }], watched: { id: 5 } });
    const removed = await next(() => view.delete(5));
    expect(removed).toMatchObject({ removed: [5] });
    expect(removed).not.toHaveProperty('watched');
    expect(await next(() => view.set(6, { name: 'q' }))).toMatchObject({ watched: { id: 6 } });
  });
});

describe('5,000 queues that change every second', () => {
  async function busyFeed(watched?: string) {
    const tested = testedFeed();
    const change = (round: number): void => {
      for (let id = 1; id <= 5_000; id += 1) tested.view.set(id, { messageCount: round });
    };
    change(1);
    const reader = openStream(tested.create(), watched);
    const snapshot = await snapshotOf(reader);
    let round = 1;
    const next = async (): Promise<Change> => {
      round += 1;
      change(round);
      await tested.second();
      return changeOf(reader);
    };
    return { ...tested, reader, snapshot, next };
  }

  it('are all in the snapshot', async () => {
    const { snapshot } = await busyFeed();
    expect([snapshot.queues.length, snapshot.values.length]).toEqual([5_000, 5_000]);
  });

  it('are told in turns of about 20 kB, none much more often than another', async () => {
    const { next } = await busyFeed();
    const counts = new Map<number, number>();
    for (let told = 0; told < 15_000; ) {
      const change = await next();
      const length = JSON.stringify(change.values).length;
      expect(length).toBeGreaterThan(19_000);
      expect(length).toBeLessThan(22_000);
      for (const id of idsOf(change)) counts.set(id, (counts.get(id) ?? 0) + 1);
      told += change.values.length;
    }
    expect(counts.size).toBe(5_000);
    expect(Math.max(...counts.values()) - Math.min(...counts.values())).toBeLessThanOrEqual(2);
  });

  it('leave the watched one first', async () => {
    const { next } = await busyFeed('q4999');
    for (let turn = 0; turn < 3; turn += 1) expect(idsOf(await next())[0]).toBe(4_999);
  });

  it('are told to the end when they do not change any more, with their last values', async () => {
    const { next, reader, second } = await busyFeed();
    const last = new Map<number, number>();
    const keep = ({ values }: Change): void => {
      for (const [id, waitingCount] of values) last.set(id, waitingCount);
    };
    keep(await next());
    for (let turn = 0; last.size < 5_000 && turn < 50; turn += 1) {
      await second();
      keep(await changeOf(reader));
    }
    expect([...last.values()].every((waitingCount) => waitingCount === 2)).toBe(true);
    await second();
    expect((await changeOf(reader)).values).toEqual([]);
  });
});

describe('a client that does not read', () => {
  it('gets all points and the difference when it reads again soon', async () => {
    const { view, create, second } = testedFeed();
    view.set(1);
    const reader = openStream(create());
    await snapshotOf(reader);
    for (let count = 1; count <= 10; count += 1) {
      view.set(1, { messageCount: count });
      await second();
    }
    // The first was waiting in the stream; the others were not sent before it was taken.
    expect((await changeOf(reader)).values).toEqual([[1, 1, 0, 0, 0, 0, 0, 0, 0]]);
    await second();
    const later: Change[] = [];
    for (let index = 0; index < 10; index += 1) later.push(await changeOf(reader));
    expect(later.map(({ point }) => point.waitingCount)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 10]);
    expect(later.map(({ values }) => values.length)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    expect(later.at(-1)?.values).toEqual([[1, 10, 0, 0, 0, 0, 0, 0, 0]]);
  });

  it('gets a snapshot when it has missed more', async () => {
    const { view, create, second } = testedFeed();
    view.set(1);
    const reader = openStream(create());
    await snapshotOf(reader);
    for (let count = 1; count <= 40; count += 1) {
      view.set(1, { messageCount: count });
      await second();
    }
    view.delete(1);
    view.set(2);
    await changeOf(reader);
    await second();
    const snapshot = await snapshotOf(reader);
    expect(snapshot.points.at).toHaveLength(42);
    expect(snapshot.queues.map(({ id }) => id)).toEqual([2]);
    await second();
    expect((await changeOf(reader)).values).toEqual([]);
  });

  it('costs one piece of text, whatever it misses', async () => {
    const { view, create, second } = testedFeed();
    for (let id = 1; id <= 1_000; id += 1) view.set(id);
    const response = create().open(undefined);
    for (let turn = 0; turn < 100; turn += 1) {
      for (let id = 1; id <= 1_000; id += 1) view.set(id, { messageCount: turn });
      await second();
    }
    const reader = response.body?.getReader();
    const first = await reader?.read();
    expect(first?.value?.length).toBeLessThan(200);
  });

  it('has no wrong queue in a snapshot that it takes slowly', async () => {
    const { view, create, second } = testedFeed();
    for (let id = 1; id <= 1_000; id += 1) view.set(id);
    const reader = openStream(create());
    for (let piece = 0; piece < 5; piece += 1) await reader.readPiece();
    view.delete(1);
    view.delete(1_000);
    view.set(1_001);
    view.set(2, { messageCount: 7 });
    await second();
    const snapshot = await snapshotOf(reader);
    const known = snapshot.queues.map(({ id }) => id);
    const valued = snapshot.values.map(([id]) => id);
    expect([known.includes(1), known.includes(1_000), known.includes(1_001)]).toEqual([true, false, false]);
    expect(valued).toEqual(known.filter((id) => id !== 1));
    expect(snapshot.values.find(([id]) => id === 2)?.[1]).toBe(7);
    await second();
    expect(await changeOf(reader)).toMatchObject({
      created: [{ id: 1_001 }],
      removed: [1],
      values: [[1_001, 0, 0, 0, 0, 0, 0, 0, 0]],
    });
  });
});

describe('streams', () => {
  it('are at most 20; one that is gone makes room', async () => {
    const { create } = testedFeed();
    const feed = create();
    const readers = Array.from({ length: 20 }, () => openStream(feed));
    const refused = feed.open(undefined);
    expect([refused.status, refused.headers.get('content-type'), await refused.json()]).toEqual([
      503,
      'application/problem+json',
      expect.objectContaining({ detail: expect.stringMatching(/20 live streams/) }),
    ]);
    await readers[0]?.cancel();
    expect(feed.open(undefined).status).toBe(200);
  });

  it('end when the feed is closed, and none begins after', async () => {
    const { create, environment } = testedFeed();
    const feed = create();
    const reader = openStream(feed);
    await snapshotOf(reader);
    feed.close();
    expect(await reader.next()).toBeUndefined();
    expect([environment.timerCount, feed.open(undefined).status]).toEqual([0, 503]);
  });

  it('end when their users lose access, which makes room; the others go on', async () => {
    const watchers = new Map<string | null, () => void>();
    const access = {
      watch: (authorization: string | null, onLoss: () => void) => {
        watchers.set(authorization, onLoss);
        return () => void watchers.delete(authorization);
      },
    };
    const { create, second } = testedFeed({ access });
    const feed = create();
    const open = (authorization: string) => new EventReader(feed.open(undefined, authorization).body);
    const [ended, other] = [open('Basic a'), open('Basic b')];
    await snapshotOf(ended);
    await snapshotOf(other);
    watchers.get('Basic a')?.();
    expect(await ended.next()).toBeUndefined();
    await second();
    await changeOf(other);
    expect([...watchers.keys()]).toEqual(['Basic b']);
    await other.cancel();
    expect([...watchers.keys()]).toEqual([]);
  });

  it('end alone when they fail', async () => {
    const { view, create, faults, second } = testedFeed();
    view.set(1);
    const feed = create();
    const [failing, other] = [openStream(feed, 'q1'), openStream(feed)];
    await snapshotOf(failing);
    await snapshotOf(other);
    view.subscriberFigures = () => {
      throw new Error('no subscribers');
    };
    await second();
    expect(await failing.next()).toBeUndefined();
    expect(faults).toEqual([new Error('no subscribers')]);
    await changeOf(other);
  });
});
