// A measurement during which a Ping was answered late is made again, and says so when it stays late.
import { expect, it } from 'vitest';
import type { CheckContext } from '../../check.ts';
import { measureSteadily } from './steady-measure.ts';

const MAX_DELAY_MS = 150;

/** A context whose broker answers Pings after these times, one for each measurement; `undefined`: never. The time is virtual. */
function contextWith(answerMs: readonly (number | undefined)[], counts?: (number: number) => boolean) {
  const notes: string[] = [];
  let nowMs = 0;
  let measured = 0;
  let onPing = (): void => {};
  const ping = async (): Promise<void> => {
    const delayMs = answerMs[measured - 1];
    onPing();
    if (delayMs === undefined) throw new Error('no Pong');
    nowMs += delayMs;
  };
  const context = {
    now: () => nowMs,
    connect: async () => ({ ping }),
    noteLateness: (text: string) => notes.push(text),
  } as unknown as CheckContext;
  const measure = (number: number): Promise<number> => {
    measured = number;
    return new Promise((resolve) => {
      onPing = () => resolve(number);
    });
  };
  return { notes, measured: measureSteadily(context, MAX_DELAY_MS, measure, counts) };
}

it.each([
  [[0], 1],
  [[400, 0], 2],
  [[undefined, 400, 0], 3],
])('measures until Pings are answered in time: %j', async (answerMs, number) => {
  const { measured, notes } = contextWith(answerMs);
  expect(await measured).toBe(number);
  expect(notes).toEqual([]);
});

it('says that the machine was too busy after three measurements', async () => {
  const { measured, notes } = contextWith([400, 400, 400]);
  expect(await measured).toBe(3);
  expect(notes).toEqual([expect.stringMatching(/only after \d{3} ms .* 150 ms matter/)]);
});

it.each([
  [2, 2],
  [9, 3],
])(
  'measures again what does not count, and says nothing about the machine: from %i on',
  async (first, number) => {
    const { measured, notes } = contextWith([0, 0, 0], (value) => value >= first);
    expect(await measured).toBe(number);
    expect(notes).toEqual([]);
  },
);
