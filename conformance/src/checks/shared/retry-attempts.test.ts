// An ack that may have reached the broker after the ack timeout is tried again with another message, and shows nothing in the end.
import { expect, it } from 'vitest';
import type { CheckContext } from '../../check.ts';
import type { Connection } from '../../connection.ts';
import type { ReceivedFrame } from '../../wire/frame.ts';
import { acknowledgedInTime } from './retry-attempts.ts';

/** Acknowledges a message with an ack timeout of 500 ms. `ackMs`: the time from the delivery to the Pong after the ack, for each try. */
async function triedWith(ackMs: readonly number[]) {
  const notes: string[] = [];
  let nowMs = 0;
  const ctx = {
    now: () => nowMs,
    target: { ackTimeoutMs: 500 },
    connect: async () => ({ ping: async () => {} }),
    noteLateness: (text: string) => notes.push(text),
    notShown: (reason: string) => {
      throw new Error(`not shown: ${reason}`);
    },
  } as unknown as CheckContext;
  const deliver = async (number: number) => {
    const again = { atMs: nowMs } as ReceivedFrame;
    const ping = async () => {
      nowMs += ackMs[number - 1] ?? 0;
      return { atMs: nowMs };
    };
    return { number, again, subscriber: { ack: async () => {}, ping } as unknown as Connection };
  };
  const outcome = await acknowledgedInTime(ctx, deliver).then(({ number }) => number, String);
  return { outcome, isNoted: notes.length > 0 };
}

it.each([
  ['counts when it was in time', [100], 1],
  ['is tried again after a stall', [700, 100], 2],
  ['is tried three times', [700, 700, 100], 3],
  ['is judged on a slow network, where it was in time as far as the runner sees', [400, 400, 400], 3],
  ['shows nothing when it is late each time', [700, 700, 700], expect.stringContaining('not shown')],
])('an ack %s', async (_title, ackMs, outcome) => {
  expect((await triedWith(ackMs)).outcome).toEqual(outcome);
});

it('that is late each time makes the engine play the check again', async () => {
  expect((await triedWith([700, 700, 700])).isNoted).toBe(true);
  expect((await triedWith([100])).isNoted).toBe(false);
});
