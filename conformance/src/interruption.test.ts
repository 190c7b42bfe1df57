// Work that an interrupt ends.
import { expect, it } from 'vitest';
import { Interrupted, untilInterrupted } from './interruption.ts';

const endless = (): Promise<never> => new Promise(() => {});

it('resolves and rejects as the work does when no interrupt comes', async () => {
  const { signal } = new AbortController();
  expect(await untilInterrupted(signal, async () => 7)).toBe(7);
  await expect(untilInterrupted(signal, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
});

it('rejects when the interrupt comes, and does not begin after it', async () => {
  const interrupt = new AbortController();
  const work = untilInterrupted(interrupt.signal, endless);
  interrupt.abort();
  await expect(work).rejects.toThrow(Interrupted);
  let hasBegun = false;
  const begin = async (): Promise<void> => {
    hasBegun = true;
  };
  await expect(untilInterrupted(interrupt.signal, begin)).rejects.toThrow(Interrupted);
  expect(hasBegun).toBe(false);
});
