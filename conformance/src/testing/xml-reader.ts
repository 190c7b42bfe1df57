// A minimal XML reader for tests of reports, which refuses a document that is not well-formed. Strict: every element is closed, every
// attribute is quoted and unique, every character is allowed, every reference is one of the five or a number. Not in the package.

export type Element = {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Element[];
  /** The text directly inside the element, with references resolved. */
  readonly text: string;
};

/** Throws when the document is not well-formed. */
export function readXml(document: string): Element {
  const illegal = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.exec(document);
  if (illegal !== null) throw new Error(`a character that XML cannot hold at ${illegal.index}`);
  const reader = { text: document.replace(/^<\?xml [^?]*\?>\s*/, ''), at: 0 };
  const root = readElement(reader);
  if (reader.text.slice(reader.at).trim() !== '') throw new Error('text after the root element');
  return root;
}

type Reader = { readonly text: string; at: number };

function readElement(reader: Reader): Element {
  const open = match(reader, /<([A-Za-z][\w.-]*)((?:\s+[A-Za-z][\w.-]*="[^"<]*")*)\s*(\/?)>/y);
  const [, name = '', attributes = '', empty = ''] = open;
  const element = { name, attributes: attributesOf(attributes), children: [] as Element[], text: '' };
  if (empty === '/') return element;
  for (;;) {
    element.text += referencesResolved(match(reader, /[^<]*/y)[0]);
    if (reader.text.startsWith('</', reader.at)) break;
    element.children.push(readElement(reader));
  }
  const [, closed] = match(reader, /<\/([A-Za-z][\w.-]*)>/y);
  if (closed !== name) throw new Error(`<${name}> is closed by </${closed}>`);
  return element;
}

function match(reader: Reader, expression: RegExp): RegExpExecArray {
  expression.lastIndex = reader.at;
  const found = expression.exec(reader.text);
  if (found === null) throw new Error(`not well-formed: ${reader.text.slice(reader.at, reader.at + 80)}`);
  reader.at = expression.lastIndex;
  return found;
}

function attributesOf(text: string): Readonly<Record<string, string>> {
  const pairs = [...text.matchAll(/([\w.-]+)="([^"]*)"/g)];
  const names = pairs.map(([, name]) => name);
  if (new Set(names).size < names.length) throw new Error(`an attribute twice: ${text}`);
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, referencesResolved(value)]));
}

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function referencesResolved(text: string): string {
  if (text.includes(']]>')) throw new Error('the end of a CDATA section in a text');
  return text.replace(/&(#?\w*;?)/g, (whole, reference: string) => {
    const numbered = /^#(\d+);$/.exec(reference)?.[1];
    if (numbered !== undefined) return String.fromCodePoint(Number(numbered));
    const known = reference.endsWith(';') ? named[reference.slice(0, -1)] : undefined;
    if (known === undefined) throw new Error(`no reference: ${whole}`);
    return known;
  });
}
