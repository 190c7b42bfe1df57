// The terminal while `truemq top` runs: its alternate screen, without cursor, line wrap and echo. Draws frames, and restores everything on every way
// out; restoring twice does no harm.

import type { Terminal } from '../command.ts';
import type { Line, Screen } from './frame.ts';
import { type Key, keysOf } from './keys.ts';

const ESCAPE = '\u001b';
const ENTER = `${ESCAPE}[?1049h${ESCAPE}[?25l${ESCAPE}[?7l${ESCAPE}[2J`;
const LEAVE = `${ESCAPE}[0m${ESCAPE}[?7h${ESCAPE}[?25h${ESCAPE}[?1049l`;
const HOME = `${ESCAPE}[H`;
/** Before the text: after a text in the last column it would erase a part of it. */
const ERASE_LINE = `${ESCAPE}[2K`;
const PLAIN = `${ESCAPE}[0m`;

/** Of a terminal that does not say how large it is. */
const DEFAULT_SCREEN: Screen = { width: 80, height: 24 };

export type ScreenEvents = {
  readonly onKey: (key: Key) => void;
  readonly onResize: () => void;
  /** The terminal is gone. */
  readonly onEnd: () => void;
};

export class TerminalScreen {
  readonly #terminal: Terminal;
  readonly #styles: Readonly<Record<Line['style'], string>>;
  readonly #release: () => void;
  #isOpen = true;

  /** Takes the terminal over. `hasColor`: alarms are red. */
  constructor(terminal: Terminal, hasColor: boolean, events: ScreenEvents) {
    this.#terminal = terminal;
    const alarm = hasColor ? `${ESCAPE}[1;31m` : `${ESCAPE}[1m`;
    this.#styles = { plain: '', strong: `${ESCAPE}[1m`, head: `${ESCAPE}[7m`, alarm };
    const { input, output } = terminal;
    const receive = (chunk: Buffer | string) => {
      for (const key of keysOf(chunk.toString())) events.onKey(key);
    };
    const restoreAtExit = terminal.onExit(() => this.close());
    this.#release = () => {
      restoreAtExit();
      input.off('data', receive).off('end', events.onEnd).off('error', events.onEnd);
      output.off('resize', events.onResize);
    };
    input.setRawMode(true);
    output.write(ENTER);
    input.on('data', receive).once('end', events.onEnd).once('error', events.onEnd).resume();
    output.on('resize', events.onResize);
  }

  get size(): Screen {
    const { columns, rows } = this.#terminal.output;
    return { width: columns || DEFAULT_SCREEN.width, height: rows || DEFAULT_SCREEN.height };
  }

  draw(lines: readonly Line[]): void {
    if (!this.#isOpen) return;
    const texts = lines.map(({ text, style }) => {
      const code = this.#styles[style];
      return `${ERASE_LINE}${code}${text}${code === '' ? '' : PLAIN}`;
    });
    this.#terminal.output.write(`${HOME}${texts.join('\r\n')}`);
  }

  /** Gives the terminal back as it was. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#release();
    const { input, output } = this.#terminal;
    output.write(LEAVE);
    try {
      input.setRawMode(false);
    } catch {
      // The terminal is gone.
    }
    input.pause();
  }
}
