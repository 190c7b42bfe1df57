// What the tools read in Markdown: links, anchors, blocks of code, and the parts of a section. Parsed by marked, anchors as GitHub
// makes them. Pure: text in, data out. Must not write Markdown.
import GithubSlugger from 'github-slugger';
import { marked, Parser, type Token, type Tokens } from 'marked';

/** Targets of links, images and definitions, as they are written. */
export function linksOf(markdown: string): readonly string[] {
  return tokensIn(marked.lexer(markdown)).flatMap((token) =>
    token.type === 'link' || token.type === 'image' || token.type === 'def' ? [String(token['href'])] : [],
  );
}

/** What a link to the document may name behind `#`. */
export function anchorsOf(markdown: string): readonly string[] {
  const slugger = new GithubSlugger();
  const headings = tokensIn(marked.lexer(markdown)).filter((token) => token.type === 'heading');
  return [...headings.map((heading) => slugger.slug(plainText(heading))), ...namedAnchorsOf(markdown)];
}

/** Anchors that are written as HTML: `<a id="..">`. */
export function namedAnchorsOf(markdown: string): readonly string[] {
  const html = tokensIn(marked.lexer(markdown)).filter((token) => token.type === 'html');
  return html.flatMap(({ raw }) =>
    [...raw.matchAll(/ (?:id|name)="([^"]+)"/g)].map((match) => match[1] ?? ''),
  );
}

/** The texts of the blocks of code in one language; `''`: of those that name none. */
export function codeBlocksOf(markdown: string, language: string): readonly string[] {
  return tokensIn(marked.lexer(markdown)).flatMap((token) =>
    token.type === 'code' && (token['lang'] ?? '') === language ? [String(token['text'])] : [],
  );
}

/** The cells of the tables, row by row, as they are written. Header rows are left out. */
export function tableRowsOf(markdown: string): readonly (readonly string[])[] {
  return marked
    .lexer(markdown)
    .flatMap((token) =>
      token.type === 'table' ? (token as Tokens.Table).rows.map((row) => row.map(({ text }) => text)) : [],
    );
}

/** The items of the lists, as they are written. */
export function listItemsOf(markdown: string): readonly string[] {
  return marked
    .lexer(markdown)
    .flatMap((token) => (token.type === 'list' ? (token as Tokens.List).items.map(({ text }) => text) : []));
}

/** What stands between the heading with this title and the next one that is as high. Throws when there is none with this title. */
export function sectionOf(markdown: string, title: string): string {
  const tokens = marked.lexer(markdown);
  const start = tokens.findIndex((token) => token.type === 'heading' && plainText(token) === title);
  if (start < 0) throw new Error(`There is no section "${title}".`);
  const { depth } = tokens[start] as Tokens.Heading;
  const rest = tokens.slice(start + 1);
  const end = rest.findIndex((token) => token.type === 'heading' && (token as Tokens.Heading).depth <= depth);
  return (end < 0 ? rest : rest.slice(0, end)).map(({ raw }) => raw).join('');
}

function tokensIn(tokens: Token[]): readonly Token[] {
  const all: Token[] = [];
  void marked.walkTokens(tokens, (token) => void all.push(token));
  return all;
}

function plainText(token: Token): string {
  const parser = new Parser();
  return parser.parseInline((token as Tokens.Heading).tokens, parser.textRenderer);
}
