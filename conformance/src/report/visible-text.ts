// Makes texts that came from a broker harmless: whatever bytes it sent, a report shows them and obeys none of them. Control characters
// would move a terminal's cursor, directional ones turn a line round, and some may not stand in XML at all. Pure.

// Everything but tab and line feed that steers instead of being read, and what XML 1.0 cannot hold: C0 and C1 controls, marks of
// direction, line separators, byte order marks, non-characters, halves of surrogate pairs.
const steering =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]|\p{Surrogate}/gu;

/** The text with every steering character written out, `\u001b`; tabs and line feeds stay. */
export function visibleText(text: string): string {
  return text.replace(steering, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** The same on one line: line feeds and tabs are written out too. */
export function visibleLine(text: string): string {
  return visibleText(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

/** For HTML and XML, in elements and in quoted attributes. Steering characters are written out first. */
export function markupText(text: string): string {
  return visibleText(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** At most so many characters, with a note of what is missing. */
export function shortened(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}.. (${text.length} characters)`;
}
