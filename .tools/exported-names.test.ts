// Each exported name of the conformance runner belongs to one file, so that a name found by search has one meaning.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { type File, readFiles } from './tidy/file.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = 'conformance/src/';

/** `Name: one.ts, other.ts` for each name that more than one file exports. */
function duplicatesIn(files: readonly File[]): readonly string[] {
  const filesByName = new Map<string, string[]>();
  for (const { path, text } of files) {
    for (const name of exportedNames(path, text)) {
      filesByName.set(name, [...(filesByName.get(name) ?? []), path]);
    }
  }
  return [...filesByName]
    .filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => `${name}: ${paths.sort().join(', ')}`)
    .sort();
}

/** The names that a file declares and exports; re-exports from other files are not among them. */
function exportedNames(path: string, text: string): ReadonlySet<string> {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  return new Set(source.statements.flatMap(namesOf));
}

function namesOf(statement: ts.Statement): readonly string[] {
  if (ts.isExportDeclaration(statement)) return localExports(statement);
  const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : undefined;
  if (!modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap(({ name }) =>
      ts.isIdentifier(name) ? [name.text] : [],
    );
  }
  const isNamed =
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement);
  return isNamed && statement.name !== undefined ? [statement.name.text] : [];
}

function localExports({ moduleSpecifier, exportClause }: ts.ExportDeclaration): readonly string[] {
  if (moduleSpecifier !== undefined || exportClause === undefined || !ts.isNamedExports(exportClause))
    return [];
  return exportClause.elements.map(({ name }) => name.text);
}

it('finds a name that two files export, and names both files', () => {
  const files = [
    { path: 'a.ts', text: 'export function open() {}\nexport type Frame = 1;' },
    { path: 'b.ts', text: 'const close = 1, open = 2;\nexport { close, open };' },
    { path: 'c.ts', text: "export { open } from './a.ts';\nfunction close() {}\nexport class Link {}" },
    { path: 'd.ts', text: 'export const Frame = 1, other = 2;\nexport interface Link {}' },
  ];
  expect(duplicatesIn(files)).toEqual(['Frame: a.ts, d.ts', 'Link: c.ts, d.ts', 'open: a.ts, b.ts']);
});

it('finds no name in two files of the runner', () => {
  const files = readFiles(root).filter(({ path }) => path.startsWith(folder) && path.endsWith('.ts'));
  expect(files.length, `files of ${join(root, folder)}`).toBeGreaterThan(100);
  expect(duplicatesIn(files)).toEqual([]);
});
