// What `ps` prints is read as it is printed on Linux and macOS; and this process's own figures can be had.
import { describe, expect, it } from 'vitest';
import { familyOf, parsePs, usageOf } from './process-usage.ts';

describe('the list of processes', () => {
  it('is read with times of every form', () => {
    const text = ['    1     0 1-02:03:04  9000', '  77     1   0:01.25  2048', ' 78 77 00:00:09 512 ', 'x'];
    expect(parsePs(text.join('\n'))).toEqual([
      { pid: 1, parent: 0, cpuUs: (86_400 + 2 * 3600 + 3 * 60 + 4) * 1e6, rssBytes: 9000 * 1024 },
      { pid: 77, parent: 1, cpuUs: 1.25e6, rssBytes: 2048 * 1024 },
      { pid: 78, parent: 77, cpuUs: 9e6, rssBytes: 512 * 1024 },
    ]);
  });

  it('gives a process with its children and theirs', () => {
    const processes = [
      { pid: 2, parent: 1 },
      { pid: 3, parent: 2 },
      { pid: 4, parent: 1 },
      { pid: 5, parent: 9 },
    ];
    expect(familyOf(1, processes).toSorted()).toEqual([1, 2, 3, 4]);
    expect(familyOf(5, processes)).toEqual([5]);
  });
});

describe('the use of a process', () => {
  const isKnown = process.platform !== 'win32';

  it('grows with work, where the system tells it', () => {
    const before = usageOf(process.pid);
    const until = process.cpuUsage().user + 60_000;
    while (process.cpuUsage().user < until);
    const after = usageOf(process.pid);
    expect(before === undefined).toBe(!isKnown);
    if (before === undefined || after === undefined) return;
    expect(after.rssBytes).toBeGreaterThan(1024 * 1024);
    expect(after.cpuUs).toBeGreaterThanOrEqual(before.cpuUs);
  });

  it('is unknown for a process that is not there', () => {
    expect(usageOf(2 ** 30)).toBeUndefined();
  });
});
