// Escapes texts from a broker, so that a report shows them without effect. Control characters would move the cursor of a terminal,
// direction characters would reverse a line, and some characters are not allowed in XML. Pure.

// Control characters except tab and line feed, and characters that XML 1.0 does not allow: C0 and C1 controls, direction marks, line
// separators, byte order marks, non-characters, lone surrogates.
const steering =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]|\p{Surrogate}/gu;

/** CI systems look for these marks anywhere in a line, and carry out what follows. */
const ciCommand = /#(?=#(?:\[|vso\[|teamcity\[))/gi;

/** The text with every control character and CI mark escaped as `\u001b`; tabs and line feeds stay. */
export function visibleText(text: string): string {
  return text.replace(ciCommand, '\\u0023').replace(steering, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** The same on one line: line feeds and tabs are escaped too. */
export function visibleLine(text: string): string {
  return visibleText(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

/** For HTML and XML, in elements and in quoted attributes. Control characters are escaped first. */
export function markupText(text: string): string {
  return visibleText(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** At most `maxLength` characters; a cut text ends with its full length. */
export function shortened(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}.. (${text.length} characters)`;
}
