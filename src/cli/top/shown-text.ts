// Texts as a terminal shows them: characters that would move its cursor or change its state are escaped, and widths are in cells. The width is
// a rule of thumb for East Asian characters, emoji and combining marks, not the tables of Unicode.

/** Controls, formatting characters (bidirectional ones too), line and paragraph separators, and halves of surrogate pairs. */
const NOT_SHOWN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
const ASCII_ONLY = /^[\x20-\x7e]*$/;
const ZERO_WIDTH = /^\p{M}$/u;
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]$/u;

/** Says that a text was cut. */
const CUT = '~';

/** The text with everything that a terminal does not show as one character written as an escape: `\n`, `\x1b`, `\u202e`. */
export function escaped(text: string): string {
  return text.replace(NOT_SHOWN, (character) => {
    const short = JSON.stringify(character).slice(1, -1);
    if (/^\\.$/.test(short)) return short;
    const code = character.codePointAt(0) ?? 0;
    if (code > 0xffff) return `\\u{${code.toString(16)}}`;
    return code < 0x100
      ? `\\x${code.toString(16).padStart(2, '0')}`
      : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** Cells that an escaped text takes. */
export function widthOf(text: string): number {
  if (ASCII_ONLY.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += cellsOf(character);
  return width;
}

/** The text, in at most `width` cells; a text that is cut ends with `~`. */
export function cutTo(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  if (width <= 0) return '';
  let [cut, used] = ['', 0];
  for (const character of text) {
    used += cellsOf(character);
    if (used > width - 1) break;
    cut += character;
  }
  return `${cut}${CUT}`;
}

/** The text in exactly `width` cells. */
export function fitted(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const cut = cutTo(text, width);
  const space = ' '.repeat(Math.max(0, width - widthOf(cut)));
  return align === 'left' ? `${cut}${space}` : `${space}${cut}`;
}

function cellsOf(character: string): number {
  if (ZERO_WIDTH.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}
