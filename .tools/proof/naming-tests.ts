// What of a test file a proof rests on: the tests that name the requirements, and everything that is no test. So a new test, or a change of
// another one, makes no proof stale.
import ts from 'typescript';
import { codeOf } from '../faults/product-source.ts';

const testFunctions = ['it', 'test'];

/** A test file in parts: what is no test, and each test. */
export type TestParts = {
  readonly around: string;
  readonly tests: readonly { readonly text: string; readonly code: string }[];
};

/** The code of each part, without comments and formatting. */
export function partsOfTests(text: string): TestParts {
  const tree = ts.createSourceFile('a.test.ts', text, ts.ScriptTarget.Latest, true);
  const calls = [...testsIn(tree)];
  const rest = [{ end: 0 }, ...calls].map(({ end }, index) =>
    text.slice(end, calls[index]?.start ?? text.length),
  );
  const around = codeOf(rest.join(''))
    .replaceAll(/(?<=[;{}] )(?:; )+/g, '')
    .replace(/^(?:; )+/, '');
  return { around, tests: calls.map(({ text: test }) => ({ text: test, code: codeOf(test) })) };
}

/** Without the tests in which none of the requirements stands. */
export function codeNaming({ around, tests }: TestParts, requirements: readonly string[]): string {
  const naming = tests.filter(({ text }) => requirements.some((id) => text.includes(id)));
  return [around, ...naming.map(({ code }) => code)].join('\n');
}

type TestCall = { readonly start: number; readonly end: number; readonly text: string };

function* testsIn(node: ts.Node): Iterable<TestCall> {
  if (ts.isCallExpression(node) && testFunctions.includes(rootOf(node)))
    yield { start: node.getStart(), end: node.end, text: node.getText() };
  else for (const child of node.getChildren()) yield* testsIn(child);
}

/** `it` of `it('..', ..)`, `it.each(..)('..', ..)` and `it.each`..`('..', ..)`. */
function rootOf(node: ts.Expression): string {
  if (ts.isIdentifier(node)) return node.text;
  if (ts.isTaggedTemplateExpression(node)) return rootOf(node.tag);
  if (ts.isCallExpression(node) || ts.isPropertyAccessExpression(node)) return rootOf(node.expression);
  return '';
}
