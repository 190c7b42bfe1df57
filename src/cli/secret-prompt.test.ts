// A secret typed on a terminal, key by key.

import { PassThrough } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { askSecret } from './secret-prompt.ts';

/** A terminal that notes what it is told. */
class FakeTerminal extends PassThrough {
  readonly modes: boolean[] = [];

  setRawMode(isRaw: boolean): void {
    this.modes.push(isRaw);
  }
}

function prompt() {
  const [terminal, output] = [new FakeTerminal(), new PassThrough()];
  const interrupt = vi.fn();
  return { terminal, output, interrupt, answer: askSecret('password: ', terminal, output, interrupt) };
}

describe('a question for a secret', () => {
  it('is asked when the terminal shows nothing any more [AUTH-054]', () => {
    const [terminal, output] = [new FakeTerminal(), new PassThrough()];
    const modesThen: boolean[][] = [];
    output.on('data', () => modesThen.push([...terminal.modes]));
    void askSecret('password: ', terminal, output, () => undefined);
    expect(modesThen).toEqual([[true]]);
  });

  it('takes what is typed before Enter, and shows nothing of it [AUTH-054]', async () => {
    const { terminal, output, answer } = prompt();
    for (const keys of ['s', 'ecx', '\u007f', 'ret é', '\r', 'rest']) terminal.write(keys);
    expect(await answer).toBe('secret é');
    expect((await output.end().toArray()).join('')).toBe('password: \n');
    expect(terminal.modes).toEqual([true, false]);
    expect(terminal.isPaused()).toBe(true);
  });

  it('takes back the line at Ctrl-U, and puts a character together that arrives in two pieces', async () => {
    const { terminal, answer } = prompt();
    const bytes = Buffer.from('\u00e9');
    for (const keys of ['wrong\u0015s', bytes.subarray(0, 1), bytes.subarray(1), '\r']) terminal.write(keys);
    expect(await answer).toBe('s\u00e9');
  });

  it.each(['one\rtwo\r', 'one\ntwo\n', 'one\r\ntwo\r\n'])(
    'leaves the rest of a paste to the next question: %j',
    async (paste) => {
      const { terminal, output, answer } = prompt();
      terminal.write(paste);
      expect(await answer).toBe('one');
      expect(await askSecret('again: ', terminal, output, () => undefined)).toBe('two');
    },
  );

  it.each(['one\rtwo\rthree\r', 'one\ntwo\nthree\n', 'one\r\ntwo\r\nthree\r\n'])(
    'leaves it with line ends as a terminal gives them to whoever reads lines: %j',
    async (paste) => {
      const { terminal, answer } = prompt();
      terminal.write(paste);
      await answer;
      expect(String(terminal.read())).toBe('two\nthree\n');
    },
  );

  it('takes the line of a pipe that pretends to be a terminal', async () => {
    const { terminal, answer } = prompt();
    terminal.write('secret\n');
    expect(await answer).toBe('secret');
  });

  it('is interrupted by Ctrl-C when the terminal is as before', async () => {
    const { terminal, interrupt } = prompt();
    const modesThen: boolean[] = [];
    interrupt.mockImplementation(() => modesThen.push(...terminal.modes));
    terminal.write('abc\u0003');
    await vi.waitFor(() => expect(modesThen).toEqual([true, false]));
  });

  it.each([
    ['Ctrl-D', (terminal: FakeTerminal) => void terminal.write('\u0004')],
    ['the end of the input', (terminal: FakeTerminal) => void terminal.end()],
  ])('is broken off by %s, and the terminal is as before', async (_, breakOff) => {
    const { terminal, answer } = prompt();
    breakOff(terminal);
    await expect(answer).rejects.toThrow('no password was given');
    expect(terminal.modes).toEqual([true, false]);
  });
});
