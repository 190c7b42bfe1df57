// Parses what a terminal in raw mode sends into keys. Unknown escape sequences are ignored as a whole, so that their letters are no commands.

const ESCAPE = '\u001b';

/** A named key (`up`, `ctrl-c`, `escape`), or the one character that was typed. */
export type Key = string;

const SEQUENCES: ReadonlyMap<string, Key> = new Map([
  [`${ESCAPE}[A`, 'up'],
  [`${ESCAPE}OA`, 'up'],
  [`${ESCAPE}[B`, 'down'],
  [`${ESCAPE}OB`, 'down'],
  [`${ESCAPE}[5~`, 'page-up'],
  [`${ESCAPE}[6~`, 'page-down'],
  [`${ESCAPE}[H`, 'home'],
  [`${ESCAPE}OH`, 'home'],
  [`${ESCAPE}[1~`, 'home'],
  [`${ESCAPE}[F`, 'end'],
  [`${ESCAPE}OF`, 'end'],
  [`${ESCAPE}[4~`, 'end'],
  [ESCAPE, 'escape'],
  ['\u0003', 'ctrl-c'],
  ['\r', 'enter'],
  ['\n', 'enter'],
  ['\u007f', 'backspace'],
  ['\b', 'backspace'],
]);

/** A control sequence, one of an application keypad, Alt with a character, or a character. */
const ONE_KEY = new RegExp(`${ESCAPE}\\[[0-?]*[ -/]*[@-~]|${ESCAPE}O.|${ESCAPE}[^${ESCAPE}]|.`, 'gsu');

/** The keys of one chunk of input. A terminal sends the sequence of a key in one piece. */
export function keysOf(chunk: string): readonly Key[] {
  return [...chunk.matchAll(ONE_KEY)].flatMap(([text]) => {
    const key = SEQUENCES.get(text);
    if (key !== undefined) return [key];
    return /^\P{Cc}$/u.test(text) ? [text] : [];
  });
}
