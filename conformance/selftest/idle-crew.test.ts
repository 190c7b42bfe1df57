// workOff: runs every item, never more at a time than allowed, and only the minimum while the processor is busy.
import { describe, expect, it } from 'vitest';
import { idleGauge, workOff } from './idle-crew.ts';

const items = Array.from({ length: 9 }, (_, index) => index);

async function mostAtOnce(idleShare: number): Promise<number> {
  const done: number[] = [];
  let running = 0;
  let most = 0;
  const work = async (item: number): Promise<void> => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    done.push(item);
  };
  await workOff(items, work, { least: 2, most: 4, idleShare: 0.2 }, () => idleShare);
  expect([...done].sort()).toEqual(items);
  return most;
}

describe('workOff', () => {
  it('runs the minimum at a time while the processor is busy', async () => {
    expect(await mostAtOnce(0)).toBe(2);
  });

  it('never runs more items at a time than the maximum', async () => {
    const most = await mostAtOnce(1);
    expect(most).toBeGreaterThanOrEqual(2);
    expect(most).toBeLessThanOrEqual(4);
  });

  it('rejects when one rejects', async () => {
    const work = (item: number): Promise<void> =>
      item === 3 ? Promise.reject(new Error('broken')) : Promise.resolve();
    const ended = workOff(items, work, { least: 1, most: 1, idleShare: 0 }, () => 0);
    await expect(ended).rejects.toThrow('broken');
  });
});

describe('idleGauge', () => {
  it('returns the idle share since the previous call', () => {
    const readings = [
      { idle: 0, total: 0 },
      { idle: 30, total: 100 },
      { idle: 130, total: 200 },
      { idle: 130, total: 200 },
    ];
    const gauge = idleGauge(() => readings.shift() ?? { idle: 0, total: 0 });
    expect([gauge(), gauge(), gauge()]).toEqual([0.3, 1, 0]);
  });
});
