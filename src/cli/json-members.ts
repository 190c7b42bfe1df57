// The members of a JSON object, and the elements of an array, as the texts that stand there: a payload must come out of a text byte for byte, and a
// value would lose the spelling of its numbers. Pure.

/**
 * The text of each member by its name; of a repeated name the last. Undefined when the text is not one JSON object.
 */
export function jsonMembers(text: string): ReadonlyMap<string, string> | undefined {
  if (!isOne(isObject, text)) return undefined;
  const members = new Map<string, string>();
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (text[at] !== '}') {
    const nameEnd = stringEnd(text, at);
    const name: string = JSON.parse(text.slice(at, nameEnd));
    const begin = skipSpace(text, skipSpace(text, nameEnd) + 1);
    const end = valueEnd(text, begin);
    members.set(name, text.slice(begin, end));
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return members;
}

/** The text of each element. Undefined when the text is not one JSON array. */
export function jsonElements(text: string): readonly string[] | undefined {
  if (!isOne(Array.isArray, text)) return undefined;
  const elements: string[] = [];
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (text[at] !== ']') {
    const end = valueEnd(text, at);
    elements.push(text.slice(at, end));
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return elements;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isOne(isKind: (value: unknown) => boolean, text: string): boolean {
  try {
    return isKind(JSON.parse(text));
  } catch {
    return false;
  }
}

// The functions below get a valid text, so they look only for ends.

function skipSpace(text: string, at: number): number {
  let next = at;
  while (' \t\n\r'.includes(text[next] ?? 'x')) next += 1;
  return next;
}

function stringEnd(text: string, begin: number): number {
  let at = begin + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function valueEnd(text: string, begin: number): number {
  const first = text[begin] ?? '';
  if (first === '"') return stringEnd(text, begin);
  if (!'[{'.includes(first)) return scalarEnd(text, begin);
  let depth = 0;
  let at = begin;
  do {
    const unit = text[at] ?? '';
    if ('[{'.includes(unit)) depth += 1;
    else if (']}'.includes(unit)) depth -= 1;
    at = unit === '"' ? stringEnd(text, at) : at + 1;
  } while (depth > 0);
  return at;
}

/** Of a number, or of true, false and null. */
function scalarEnd(text: string, begin: number): number {
  let at = begin;
  while (!',}] \t\n\r'.includes(text[at] ?? '}')) at += 1;
  return at;
}
