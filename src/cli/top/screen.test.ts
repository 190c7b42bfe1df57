// What the terminal is sent: every way in has a way out.

import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { FakeTerminal } from '../../testing/fake-terminal.ts';
import { TerminalScreen } from './screen.ts';

const ESCAPE = '\u001b';
const LEAVE = `${ESCAPE}[0m${ESCAPE}[?7h${ESCAPE}[?25h${ESCAPE}[?1049l`;

function openScreen(terminal = new FakeTerminal(), hasColor = true) {
  const events: string[] = [];
  const screen = new TerminalScreen(terminal, hasColor, {
    onKey: (key) => void events.push(key),
    onResize: () => void events.push('resize'),
    onEnd: () => void events.push('end'),
  });
  return { terminal, screen, events };
}

describe('the screen', () => {
  it('takes over the alternate screen without cursor, and gives everything back once', () => {
    const { terminal, screen } = openScreen();
    expect(terminal.modes).toEqual([true]);
    expect(terminal.written()).toContain(`${ESCAPE}[?1049h${ESCAPE}[?25l`);
    terminal.clear();
    screen.close();
    screen.close();
    screen.draw([{ text: 'late', style: 'plain' }]);
    expect(terminal.written()).toBe(LEAVE);
    expect(terminal.modes).toEqual([true, false]);
    expect(terminal.input.isPaused()).toBe(true);
    expect(terminal.exitHandlerCount).toBe(0);
  });

  it('gives everything back when the process ends', () => {
    const { terminal } = openScreen();
    terminal.clear();
    terminal.exit();
    expect([terminal.written(), terminal.modes]).toEqual([LEAVE, [true, false]]);
  });

  it('is given back also by a terminal that is gone', () => {
    const { terminal, screen } = openScreen();
    terminal.input.setRawMode = () => {
      throw new Error('EIO');
    };
    expect(() => screen.close()).not.toThrow();
    expect(terminal.exitHandlerCount).toBe(0);
  });

  it('draws lines with their styles, from the top', () => {
    const lines = [
      { text: 'a', style: 'alarm' },
      { text: 'b', style: 'plain' },
    ] as const;
    const drawn = (hasColor: boolean) => {
      const { terminal, screen } = openScreen(new FakeTerminal(), hasColor);
      terminal.clear();
      screen.draw(lines);
      return terminal.written();
    };
    const rest = `a${ESCAPE}[0m\r\n${ESCAPE}[2Kb`;
    expect(drawn(true)).toBe(`${ESCAPE}[H${ESCAPE}[2K${ESCAPE}[1;31m${rest}`);
    expect(drawn(false)).toBe(`${ESCAPE}[H${ESCAPE}[2K${ESCAPE}[1m${rest}`);
  });

  it('passes on keys, changes of its size and its end, until it is closed', () => {
    const { terminal, screen, events } = openScreen();
    terminal.input.emit('data', `q${ESCAPE}[A`);
    terminal.resize(30, 10);
    terminal.input.emit('end');
    expect(events).toEqual(['q', 'up', 'resize', 'end']);
    expect(screen.size).toEqual({ width: 30, height: 10 });
    screen.close();
    terminal.input.emit('data', 'x');
    terminal.resize(31, 10);
    expect(events).toHaveLength(4);
  });

  it('has 80 columns and 24 rows when the terminal does not say its size', () => {
    const { terminal, screen } = openScreen();
    terminal.resize(0, 0);
    expect(screen.size).toEqual({ width: 80, height: 24 });
    const plain = { ...terminal, input: terminal.input, output: new PassThrough(), onExit: terminal.onExit };
    const unsized = new TerminalScreen(plain, true, { onKey: () => 0, onResize: () => 0, onEnd: () => 0 });
    expect(unsized.size).toEqual({ width: 80, height: 24 });
  });
});
