// A measurement during which a Ping was answered late is made again, and says so when it stays late.
import { expect, it } from 'vitest';
import type { CheckContext } from '../../check.ts';
import type { SteadyMeasure } from './steady-measure.ts';
import { measureSteadily } from './steady-measure.ts';

const MAX_DELAY_MS = 150;

/** A context whose broker answers Pings after these times, one for each measurement; `undefined`: never. The time is virtual. */
function contextWith(answerMs: readonly (number | undefined)[], options?: SteadyMeasure<number>) {
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
  return { notes, measured: measureSteadily(context, MAX_DELAY_MS, measure, options) };
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
    const { measured, notes } = contextWith([0, 0, 0], { counts: (value) => value >= first });
    expect(await measured).toBe(number);
    expect(notes).toEqual([]);
  },
);

it.each([
  ['after', 1000, 1],
  ['long before', -1000, 1],
  ['while', 200, 2],
  ['a little before', -20, 2],
])('measures again only what a late Ping met: a moment %s it was late', async (_when, moment, number) => {
  const { measured, notes } = contextWith([400, 0], { moments: () => [moment] });
  expect(await measured).toBe(number);
  expect(notes).toEqual([]);
});

it('takes a Ping without an answer for late from then on', async () => {
  const { measured } = contextWith([undefined, 0], { moments: () => [1e6] });
  expect(await measured).toBe(2);
});
