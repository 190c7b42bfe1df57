// The code of one check: its own declaration, and what its module has outside the declarations of checks. A change of one check so leaves the
// others of its module alone.
import ts from 'typescript';
import { codeOf } from '../../.tools/faults/product-source.ts';

/** Stands in the code of a module in place of each check: how many checks there are is no part of it. */
const placeholder = 'oneCheck';
const checkId = /^[A-Z]+-\d{3}[a-z]$/;

/** By the id of the check; comments and formatting are left out. */
export function codeOfChecks(module: string): ReadonlyMap<string, string> {
  const tree = ts.createSourceFile('checks.ts', module, ts.ScriptTarget.Latest, true);
  const found = [...declarationsIn(tree)];
  const around = [{ end: 0 }, ...found].map(({ end }, index) =>
    module.slice(end, found[index]?.start ?? module.length),
  );
  const shared = codeOf(around.join(placeholder)).replaceAll(new RegExp(`${placeholder} (, )?`, 'g'), '');
  return new Map(
    found.map(({ id, start, end }) => [id, `${shared}\n${codeOf(`(${module.slice(start, end)})`)}`]),
  );
}

type Declaration = { readonly id: string; readonly start: number; readonly end: number };

/** In the order of the text. */
function* declarationsIn(node: ts.Node): Iterable<Declaration> {
  const id = ts.isObjectLiteralExpression(node) ? idOf(node) : undefined;
  if (id !== undefined) yield { id, start: node.getStart(), end: node.end };
  else for (const child of node.getChildren()) yield* declarationsIn(child);
}

function idOf(object: ts.ObjectLiteralExpression): string | undefined {
  const [id] = object.properties.flatMap((property) =>
    ts.isPropertyAssignment(property) &&
    property.name.getText() === 'id' &&
    ts.isStringLiteral(property.initializer)
      ? [property.initializer.text]
      : [],
  );
  return id !== undefined && checkId.test(id) ? id : undefined;
}
