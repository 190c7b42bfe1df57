// The terminal: colours by the rules that people set, progress that leaves no trace.
import { describe, expect, it } from 'vitest';
import { terminalOf } from './terminal.ts';

function terminal(isTTY: boolean, environment: Record<string, string> = {}) {
  const written: string[] = [];
  const stream = { isTTY, columns: 20, write: (text: string) => written.push(text) };
  return { written, terminal: terminalOf(stream, stream, environment) };
}

describe('colour', () => {
  it.each([
    [true, {}, true],
    [false, {}, false],
    [true, { NO_COLOR: '1' }, false],
    [true, { NO_COLOR: '' }, true],
    [false, { FORCE_COLOR: '1' }, true],
    [true, { FORCE_COLOR: '0' }, false],
    [true, { FORCE_COLOR: '1', NO_COLOR: '1' }, false],
  ])('on a terminal: %s, with %o: %s', (isTTY, environment, expected) => {
    expect(terminal(isTTY, environment).terminal.color).toBe(expected);
    expect(terminal(isTTY, environment).terminal.errorColor).toBe(expected);
  });
});

describe('progress', () => {
  it('is cut to the width, replaced by what comes next, and erased at the end', () => {
    const { written, terminal: one } = terminal(true);
    one.progress?.('123456789012345678901234567890');
    one.out('a line');
    one.progress?.('12 of 13');
    one.progress?.(undefined);
    one.progress?.(undefined);
    expect(written).toEqual(['1234567890123456789', '\r\u001b[2K', 'a line\n', '12 of 13', '\r\u001b[2K']);
  });

  it('is not shown where nobody looks on', () => {
    expect(terminal(false).terminal.progress).toBeUndefined();
  });
});
