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

/** The texts of the blocks of code in one language. */
export function codeBlocksOf(markdown: string, language: string): readonly string[] {
  return tokensIn(marked.lexer(markdown)).flatMap((token) =>
    token.type === 'code' && token['lang'] === language ? [String(token['text'])] : [],
  );
}

/** The cells of the tables of a section, row by row, as they are written. Header rows are left out. */
export function tableRowsOf(markdown: string, title: string): readonly (readonly string[])[] {
  return sectionOf(markdown, title).flatMap((token) =>
    token.type === 'table' ? (token as Tokens.Table).rows.map((row) => row.map(({ text }) => text)) : [],
  );
}

/** The texts of the items of the lists of a section, as they are written. */
export function listItemsOf(markdown: string, title: string): readonly string[] {
  return sectionOf(markdown, title).flatMap((token) =>
    token.type === 'list' ? (token as Tokens.List).items.map(({ text }) => text) : [],
  );
}

/** From behind the heading with this title to the next heading that is as high. */
function sectionOf(markdown: string, title: string): readonly Token[] {
  const tokens = marked.lexer(markdown);
  const start = tokens.findIndex((token) => token.type === 'heading' && plainText(token) === title);
  if (start < 0) throw new Error(`There is no section "${title}".`);
  const depth = (tokens[start] as Tokens.Heading).depth;
  const rest = tokens.slice(start + 1);
  const end = rest.findIndex((token) => token.type === 'heading' && (token as Tokens.Heading).depth <= depth);
  return end < 0 ? rest : rest.slice(0, end);
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
