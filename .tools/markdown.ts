// What the tools read in Markdown: links, anchors, blocks of code, and the parts of a section. Parsed by marked, anchors as GitHub
// makes them. Pure: text in, data out. Must not write Markdown.
import GithubSlugger from 'github-slugger';
import { marked, Parser, type Token, type Tokens } from 'marked';

/** Targets of links, images and definitions, as they are written. */
export function linksOf(markdown: string): readonly string[] {
  return tokensOf(markdown, 'link', 'image', 'def').map(({ href }) => href);
}

/** What a link to the document may name behind `#`. */
export function anchorsOf(markdown: string): readonly string[] {
  const slugger = new GithubSlugger();
  const headings = tokensOf(markdown, 'heading').map((heading) => slugger.slug(plainText(heading)));
  return [...headings, ...namedAnchorsOf(markdown)];
}

/** Anchors that are written as HTML: `<a id="..">`. */
export function namedAnchorsOf(markdown: string): readonly string[] {
  const named = tokensOf(markdown, 'html').flatMap(({ raw }) => [...raw.matchAll(/ (?:id|name)="([^"]+)"/g)]);
  return named.map((match) => match[1] ?? '');
}

/** The texts of the blocks of code in one language; `''`: of those that name none. */
export function codeBlocksOf(markdown: string, language: string): readonly string[] {
  const blocks = tokensOf(markdown, 'code').filter(({ lang }) => (lang ?? '') === language);
  return blocks.map(({ text }) => text);
}

/** The cells of the tables, row by row, as they are written. Header rows are left out. */
export function tableRowsOf(markdown: string): readonly (readonly string[])[] {
  const rows = tokensOf(markdown, 'table').flatMap((table) => (table as Tokens.Table).rows);
  return rows.map((row) => row.map(({ text }) => text));
}

/** The items of the lists, as they are written. */
export function listItemsOf(markdown: string): readonly string[] {
  return tokensOf(markdown, 'list_item').map(({ text }) => text);
}

/** What stands between the heading with this title and the next one that is as high. Throws when there is none with this title. */
export function sectionOf(markdown: string, title: string): string {
  const tokens: readonly Tokens.Generic[] = marked.lexer(markdown);
  const start = tokens.findIndex((token) => token.type === 'heading' && plainText(token) === title);
  if (start < 0) throw new Error(`There is no section "${title}".`);
  const rest = tokens.slice(start + 1);
  const end = rest.findIndex(({ type, depth }) => type === 'heading' && depth <= tokens[start]?.['depth']);
  return (end < 0 ? rest : rest.slice(0, end)).map(({ raw }) => raw).join('');
}

/** Every token of these types, nested ones too, in the order of the text. */
function tokensOf(markdown: string, ...types: readonly string[]): readonly Tokens.Generic[] {
  const found: Tokens.Generic[] = [];
  const keep = (token: Token): void => {
    if (types.includes(token.type)) found.push(token);
  };
  void marked.walkTokens(marked.lexer(markdown), keep);
  return found;
}

function plainText({ tokens = [] }: Tokens.Generic): string {
  const parser = new Parser();
  return parser.parseInline(tokens, parser.textRenderer);
}
