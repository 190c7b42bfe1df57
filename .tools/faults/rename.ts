// Renames an identifier in the texts of planted faults, after it was renamed in the code. Changes the lines of `find`, `within` and
// `replace` and nothing else, so that comments and layout of the catalogue stay.

export type Renamed = { readonly text: string; readonly count: number };

/** A field of a fault, at the place where the catalogue's form has it. */
const field = /^(?:- | {2})(\w+):/;
const codeFields = ['find', 'within', 'replace'];

/** Whole words only: `ack` is not renamed within `acked`, and is within `#ack`. */
export function renameInFaults(text: string, from: string, to: string): Renamed {
  const word = new RegExp(`(?<![\\p{L}\\p{N}_$])${escaped(from)}(?![\\p{L}\\p{N}_$])`, 'gu');
  let current = '';
  let count = 0;
  const renamed = text.split('\n').map((line) => {
    const [key, name] = field.exec(line) ?? ['', undefined];
    current = name ?? current;
    if (!codeFields.includes(current)) return line;
    const code = line.slice(key.length).replace(word, () => {
      count += 1;
      return to;
    });
    return `${key}${code}`;
  });
  return { text: renamed.join('\n'), count };
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
