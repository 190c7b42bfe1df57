// Asks for a secret on the terminal without showing what is typed.

import type { Readable, Writable } from 'node:stream';
import { UsageError } from './arguments.ts';

/** A terminal as input. */
export type SecretInput = Readable & { setRawMode(isRaw: boolean): unknown };

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const BACKSPACES: ReadonlySet<string> = new Set(['\b', '\u007f']);

/**
 * Resolves with what was typed before Enter. Calls `interrupt` at Ctrl-C, which sends no signal while nothing is shown, and never resolves then.
 * @throws UsageError when the input ends (Ctrl-D)
 */
export function askSecret(
  question: string,
  input: SecretInput,
  output: Writable,
  interrupt: () => void,
): Promise<string> {
  // First: what is typed as soon as the question is seen must not be shown either.
  input.setRawMode(true);
  output.write(question);
  return new Promise((resolve, reject) => {
    const typed: string[] = [];
    const end = (settle: () => void): void => {
      input.off('data', receive).off('end', breakOff);
      input.setRawMode(false);
      input.pause();
      output.write('\n');
      settle();
    };
    const breakOff = (): void => end(() => reject(new UsageError('no password was given')));
    const receive = (chunk: Buffer | string): void => {
      for (const character of chunk.toString()) {
        if (character === '\r' || character === '\n') return end(() => resolve(typed.join('')));
        if (character === CTRL_C) return end(interrupt);
        if (character === CTRL_D) return breakOff();
        if (BACKSPACES.has(character)) typed.pop();
        else typed.push(character);
      }
    };
    input.on('data', receive).once('end', breakOff).resume();
  });
}
