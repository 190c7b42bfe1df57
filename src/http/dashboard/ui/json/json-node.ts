// JSON text as a tree whose numbers and strings keep the text that was sent: JSON.parse would change 9007199254740993 to another number. It finds no
// faults: the broker sends JSON, and what is none ends up as a text node.

export type JsonNode = {
  readonly kind: 'object' | 'array' | 'string' | 'number' | 'literal' | 'text';
  /** The JSON text of the value, as it was sent. */
  readonly text: string;
};

export type JsonMember = {
  /** As it is spelled, without quotes and with escapes resolved. */
  readonly key: string;
  readonly value: JsonNode;
};

/** The value at the beginning of the text, after white space. Its members are read on demand, so a large text costs nothing yet. */
export function jsonNode(text: string): JsonNode {
  const start = skipSpace(text, 0);
  return nodeAt(text, start, endOfValue(text, start));
}

/** The members of an object, in the order of the text. Empty for other values. */
export function objectMembers(node: JsonNode): readonly JsonMember[] {
  if (node.kind !== 'object') return [];
  const members: JsonMember[] = [];
  for (let at = skipSpace(node.text, 1); node.text[at] === '"'; ) {
    const keyEnd = endOfValue(node.text, at);
    const start = skipSpace(node.text, skipSpace(node.text, keyEnd) + 1);
    const end = endOfValue(node.text, start);
    members.push({ key: stringValue(node.text.slice(at, keyEnd)), value: nodeAt(node.text, start, end) });
    at = nextItem(node.text, end);
  }
  return members;
}

/** The elements of an array. Empty for other values. */
export function arrayElements(node: JsonNode): readonly JsonNode[] {
  if (node.kind !== 'array') return [];
  const elements: JsonNode[] = [];
  let at = skipSpace(node.text, 1);
  while (at < node.text.length - 1) {
    const end = endOfValue(node.text, at);
    if (end === at) break;
    elements.push(nodeAt(node.text, at, end));
    at = nextItem(node.text, end);
  }
  return elements;
}

/** What a string node says; for other nodes their text. */
export function textOf(node: JsonNode): string {
  return node.kind === 'string' ? stringValue(node.text) : node.text;
}

function stringValue(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted;
  }
}

function nodeAt(text: string, start: number, end: number): JsonNode {
  return { kind: kindOf(text[start] ?? ''), text: text.slice(start, end) };
}

function kindOf(first: string): JsonNode['kind'] {
  if (first === '{') return 'object';
  if (first === '[') return 'array';
  if (first === '"') return 'string';
  if (first === '-' || (first >= '0' && first <= '9')) return 'number';
  return first === 't' || first === 'f' || first === 'n' ? 'literal' : 'text';
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= 0x20) at += 1;
  return at;
}

/** The next element or key behind a value that ends at `end`; the closing bracket when there is none. */
function nextItem(text: string, end: number): number {
  const at = skipSpace(text, end);
  return text[at] === ',' ? skipSpace(text, at + 1) : at;
}

/** Where the value that begins at `start` ends. Counts brackets and so needs no stack, however deep the value is. */
export function endOfValue(text: string, start: number): number {
  const first = text[start];
  if (first === '"') return endOfString(text, start);
  return first === '{' || first === '[' ? endOfBrackets(text, start) : endOfWord(text, start);
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') return at + 1;
    if (character === '\\') at += 1;
  }
  return text.length;
}

function endOfBrackets(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at) - 1;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return text.length;
}

function endOfWord(text: string, start: number): number {
  let at = start;
  while (at < text.length && !/[\s,\]}]/.test(text[at] ?? '')) at += 1;
  return at;
}
