// One file of the broker as faults are planted into it: its tokens without comments, and where each declaration stands. Reads no
// file but those below src/ that are shipped: tests, benches and test helpers are no place for a fault.
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import ts from 'typescript';
import { type Range, TokenText, type WantedTokens } from './token-text.ts';
import { type Token, tokensOf, withoutTrailingCommas } from './tokens.ts';

export class ProductSource {
  /** From the root of the repository, with slashes. */
  readonly path: string;
  readonly text: string;
  #parsed: ts.SourceFile | undefined;
  #tokens: TokenText | undefined;
  #declarations: ReadonlyMap<string, readonly Range[]> | undefined;

  constructor(path: string, text: string) {
    this.path = path;
    this.text = text;
  }

  get #tree(): ts.SourceFile {
    this.#parsed ??= ts.createSourceFile(this.path, this.text, ts.ScriptTarget.Latest, true);
    return this.#parsed;
  }

  /** Every place at which the tokens stand, those within a comment apart. */
  find(wanted: WantedTokens): readonly Range[] {
    this.#tokens ??= new TokenText(withoutTrailingCommas(codeTokens(this.#tree, this.#tree)));
    return this.#tokens.find(wanted);
  }

  /** Where the declarations of this name stand: `Queue.isFull`, `Broker.#publish`, `Queue.constructor`, `decodeBody`. */
  declarations(name: string): readonly Range[] {
    this.#declarations ??= rangesByName(this.#tree);
    return this.#declarations.get(name) ?? [];
  }

  /** The code of the member of a class, or else the statement of the file, that contains the range; of the whole file if none does. */
  codeAround({ start, end }: Range): string {
    let around: ts.Node = this.#tree;
    while (ts.isSourceFile(around) || ts.isClassLike(around)) {
      const inner = childrenOf(around).find(
        (child) => child.getStart(this.#tree) <= start && end <= child.end,
      );
      if (inner === undefined) break;
      around = inner;
    }
    return codeIn(around, this.#tree);
  }

  /** Counted from 1. */
  lineAt(offset: number): number {
    return this.#tree.getLineAndCharacterOfPosition(offset).line + 1;
  }
}

/** The code of a text in TypeScript without comments and formatting: two texts with the same code do the same. */
export function codeOf(text: string): string {
  const tree = ts.createSourceFile('any.ts', text, ts.ScriptTarget.Latest, true);
  return codeIn(tree, tree);
}

function codeIn(node: ts.Node, tree: ts.SourceFile): string {
  return withoutTrailingCommas(codeTokens(node, tree))
    .map((token) => token.text)
    .join(' ');
}

function childrenOf(node: ts.SourceFile | ts.ClassLikeDeclaration): readonly ts.Node[] {
  return ts.isSourceFile(node) ? node.statements : node.members;
}

/** In these a sign of a comment is none. */
const isTextual = (node: ts.Node): boolean =>
  ts.isStringLiteral(node) ||
  ts.isRegularExpressionLiteral(node) ||
  ts.isNoSubstitutionTemplateLiteral(node) ||
  ts.isTemplateHead(node) ||
  ts.isTemplateMiddleOrTemplateTail(node);

const comment = /\/\*.*?\*\/|\/\/[^\n]*/gs;

/** The tree says where texts stand; between them comments are what they look like. Going down to each token takes nearly twice as long. */
function codeTokens(node: ts.Node, tree: ts.SourceFile): readonly Token[] {
  const found: Token[] = [];
  let at = node.getStart(tree);
  const addBetween = (end: number): void => {
    const blank = tree.text.slice(at, end).replace(comment, (text) => ' '.repeat(text.length));
    found.push(...tokensOf(blank, at));
  };
  for (const { start, end } of textsIn(node, tree)) {
    addBetween(start);
    found.push(...tokensOf(tree.text.slice(start, end), start));
    at = end;
  }
  addBetween(node.end);
  return found;
}

/** In the order of the text. */
function textsIn(node: ts.Node, tree: ts.SourceFile, found: Range[] = []): readonly Range[] {
  if (isTextual(node)) found.push({ start: node.getStart(tree), end: node.end });
  ts.forEachChild(node, (child) => void textsIn(child, tree, found));
  return found;
}

function rangesByName(tree: ts.SourceFile): ReadonlyMap<string, readonly Range[]> {
  const ranges = new Map<string, Range[]>();
  for (const { name, node } of declared(tree, '')) {
    ranges.set(name, [...(ranges.get(name) ?? []), { start: node.getStart(tree), end: node.end }]);
  }
  return ranges;
}

type Declared = { readonly name: string; readonly node: ts.Node };

function declared(node: ts.Node, prefix: string, found: Declared[] = []): readonly Declared[] {
  const own = nameOf(node);
  const name = own === undefined || prefix === '' ? (own ?? prefix) : `${prefix}.${own}`;
  if (own !== undefined) found.push({ name, node });
  ts.forEachChild(node, (child) => void declared(child, name, found));
  return found;
}

function nameOf(node: ts.Node): string | undefined {
  if (ts.isConstructorDeclaration(node)) return 'constructor';
  const isNamed =
    ts.isClassLike(node) ||
    ts.isFunctionLike(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isPropertyAssignment(node) ||
    ts.isVariableDeclaration(node);
  return isNamed ? node.name?.getText() : undefined;
}

const isShipped = (path: string): boolean =>
  path.endsWith('.ts') && !/[.](test|bench)[.]ts$|[.]d[.]ts$/.test(path) && !path.startsWith('src/testing/');

/** Every shipped file below src/. Each is parsed when something is looked for in it. */
export function readProductSources(root: string): readonly ProductSource[] {
  const names = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  return names
    .map((name) => `src/${name.split(sep).join('/')}`)
    .filter(isShipped)
    .sort()
    .map((path) => new ProductSource(path, readFileSync(join(root, path), 'utf8')));
}
