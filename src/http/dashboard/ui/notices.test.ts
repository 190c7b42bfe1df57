// Reports of actions.

import { describe, expect, it, vi } from 'vitest';
import { NOTICE_MS, Notices } from './notices.ts';

function noticesWithTimers() {
  const timers: { readonly callback: () => void; readonly delayMs: number }[] = [];
  const notices = new Notices((callback, delayMs) => {
    timers.push({ callback, delayMs });
    return () => undefined;
  });
  return { notices, timers };
}

describe('a report', () => {
  it('of what was done goes after a while', () => {
    const { notices, timers } = noticesWithTimers();
    notices.done('purged');
    expect(notices.value).toMatchObject([{ kind: 'done', text: 'purged' }]);
    expect(timers.map(({ delayMs }) => delayMs)).toEqual([NOTICE_MS]);
    timers[0]?.callback();
    expect(notices.value).toEqual([]);
  });

  it('of what failed stays until it is dismissed', () => {
    const { notices, timers } = noticesWithTimers();
    notices.failed('not purged');
    expect(timers).toEqual([]);
    notices.dismiss(notices.value[0]?.id ?? -1);
    expect(notices.value).toEqual([]);
  });

  it('makes room for newer ones', () => {
    const { notices } = noticesWithTimers();
    for (const text of ['1', '2', '3', '4', '5']) notices.failed(text);
    expect(notices.value.map(({ text }) => text)).toEqual(['2', '3', '4', '5']);
  });

  it('is told to listeners until they end', () => {
    const { notices } = noticesWithTimers();
    const listener = vi.fn();
    const end = notices.subscribe(listener);
    notices.failed('a');
    end();
    notices.failed('b');
    expect(listener).toHaveBeenCalledTimes(1);
  });
});
