// Asks for a secret on the terminal without showing what is typed.

import type { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { UsageError } from './arguments.ts';

/** A terminal as input. */
export type SecretInput = Readable & { setRawMode(isRaw: boolean): unknown };

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
/** Takes back the whole line, as it does where the terminal itself reads lines. */
const CTRL_U = '\u0015';
const BACKSPACES: ReadonlySet<string> = new Set(['\b', '\u007f']);
const ENTER = /\r\n?|\n/;

/**
 * Resolves with what was typed before Enter; what came behind it is left for the next question. Calls `interrupt` at Ctrl-C, which sends no signal
 * while nothing is shown, and never resolves then.
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
    const decoder = new StringDecoder('utf8');
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
      const text = typeof chunk === 'string' ? chunk : decoder.write(chunk);
      const enter = ENTER.exec(text);
      for (const character of text.slice(0, enter?.index)) {
        if (character === CTRL_C) return end(interrupt);
        if (character === CTRL_D) return breakOff();
        if (character === CTRL_U) typed.length = 0;
        else if (BACKSPACES.has(character)) typed.pop();
        else typed.push(character);
      }
      if (enter === null) return;
      end(() => resolve(typed.join('')));
      // A paste has both answers in one piece. It arrived while the terminal left its line ends as they were typed.
      const rest = text.slice(enter.index + enter[0].length).replaceAll(/\r\n?/g, '\n');
      if (rest !== '') input.unshift(rest);
    };
    input.on('data', receive).once('end', breakOff).resume();
  });
}
