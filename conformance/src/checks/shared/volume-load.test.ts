// Tests how much a load in volume sends, and when. The clock is made up: it advances in each round of the load, and while a
// Ping is answered.
import { describe, expect, it } from 'vitest';
import type { CheckContext } from '../../check.ts';
import type { Connection } from '../../connection.ts';
import { Command } from '../../wire/command.ts';
import type { FrameFields } from '../../wire/frame.ts';
import { VolumeLoad } from './volume-load.ts';

type Broker = {
  /** It handles what comes in one write as a whole, and answers nothing before it has. */
  readonly writeMs: number;
  readonly pingMs: number;
  /** The Publish with this number, from 1, is refused for its rate. */
  readonly refused?: number;
};

const roundMs = 20;

type Load = { readonly count: number; readonly batch: number; readonly isBacklog?: true };

type Ran = {
  readonly publishedCount: number;
  readonly maxUnansweredCount: number;
  /** The messages that had been confirmed when the subscriber came. */
  readonly waitingCount: number;
  readonly note: string;
};

async function run(load: Load, { writeMs, pingMs, refused = 0 }: Broker): Promise<Ran> {
  let [nowMs, busyUntil, idCount, publishedCount, maxUnansweredCount] = [0, 0, 0, 0, 0];
  let [confirmedCount, waitingCount, handledCount, isSubscribed] = [0, 0, 0, false];
  const due: { readonly atMs: number; readonly frame: unknown }[] = [];
  const received: unknown[] = [];
  const notes: string[] = [];
  const answersTo = ({ command, id, headers }: FrameFields): readonly unknown[] => {
    if (command === Command.Ping) return [{ command: Command.Pong, id }];
    if (command !== Command.Publish) return [];
    handledCount += 1;
    if (handledCount === refused) return [{ command: Command.Error, id, errorCode: 'RATE_LIMITED' }];
    confirmedCount += 1;
    const header = (name: string): string | undefined =>
      Object.entries(headers ?? {}).find(([key]) => key === name)?.[1];
    return [
      { command: Command.PublishAck, id },
      { command: Command.Deliver, id, header },
    ];
  };
  const connection = {
    name: 'A',
    createQueue: async () => {},
    subscribe: async () => {
      waitingCount = confirmedCount;
      isSubscribed = true;
    },
    queueInfo: async () => ({ messageCount: isSubscribed ? 0 : confirmedCount }),
    ping: async () => {
      nowMs = Math.max(nowMs, busyUntil) + pingMs;
    },
    sendTogether: async (frames: readonly FrameFields[]) => {
      const publishes = frames.filter(({ command }) => command === Command.Publish);
      if (publishes.length > 0) busyUntil = Math.max(nowMs, busyUntil) + writeMs;
      publishedCount += publishes.length;
      due.push(...frames.flatMap(answersTo).map((frame) => ({ atMs: busyUntil, frame })));
      const unanswered = due.filter(({ frame }) => (frame as FrameFields).command === Command.PublishAck);
      maxUnansweredCount = Math.max(maxUnansweredCount, unanswered.length);
    },
    get received() {
      nowMs += roundMs;
      while (due[0] !== undefined && due[0].atMs <= nowMs) received.push(due.shift()?.frame);
      return received;
    },
  } as unknown as Connection;
  const ctx = {
    now: () => nowMs,
    id: () => {
      idCount += 1;
      return `m-${idCount}`;
    },
    queue: (name: string) => name,
    random: { integer: () => 1 },
    timing: { answerMs: 4000, silenceMs: 600, deliveryMs: 4000 },
    recordHistory: () => ({ judgeInSteps: async () => {} }),
    assert: { equal: expectEqual, deepEqual: expectEqual, ok: (value: boolean) => expect(value).toBe(true) },
    note: (text: string) => void notes.push(text),
  } as unknown as CheckContext;
  const plans = [{ name: 'q', publisher: connection, subscribers: [connection], ...load }];
  await new VolumeLoad(ctx, { mode: 'RoundRobin', witness: connection, plans }).run();
  return { publishedCount, maxUnansweredCount, waitingCount, note: notes.join() };
}

function expectEqual(actual: unknown, expected: unknown): void {
  expect(actual).toEqual(expected);
}

describe('a load in volume', () => {
  it('sends a broker the next batch when it has handled the one before, also when that takes long', async () => {
    const ran = await run({ count: 100, batch: 20 }, { writeMs: 2000, pingMs: 1 });
    expect(ran).toMatchObject({ publishedCount: 100, maxUnansweredCount: 20 });
  });

  it('publishes all of its messages if one of the first Pings is fast, and says nothing of it', async () => {
    const ran = await run({ count: 6000, batch: 200 }, { writeMs: 1, pingMs: 100 });
    expect(ran.publishedCount).toBe(6000);
    expect(ran.note).not.toContain('fewer');
  });

  it('publishes a quarter of many messages if Pings are slow, and says so', async () => {
    const ran = await run({ count: 6000, batch: 500 }, { writeMs: 1, pingMs: 200 });
    expect(ran.publishedCount).toBe(1500);
    expect(ran.note).toContain('fewer than the title says');
  });

  it('publishes fewer of many messages if the broker takes long for them, and says so', async () => {
    const ran = await run({ count: 6000, batch: 1000 }, { writeMs: 3500, pingMs: 1 });
    expect(ran.publishedCount).toBeLessThan(6000);
    expect(ran.note).toContain('fewer than the title says');
  });

  it('publishes again what was refused for its rate before anybody subscribes to a backlog', async () => {
    const load = { count: 100, batch: 50, isBacklog: true } as const;
    const ran = await run(load, { writeMs: 100, pingMs: 1, refused: 100 });
    expect(ran).toMatchObject({ publishedCount: 101, waitingCount: 100 });
  });

  it('publishes all of few messages, however slow the broker is', async () => {
    const ran = await run({ count: 1200, batch: 300 }, { writeMs: 3500, pingMs: 200 });
    expect(ran.publishedCount).toBe(1200);
  });
});
