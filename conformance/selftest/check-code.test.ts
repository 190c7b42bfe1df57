// Which changes of a module of checks change the code of a check.
import { expect, it } from 'vitest';
import { codeOfChecks } from './check-code.ts';

const module = `// Checks.
const wait = { id: 'no check', ms: 5 };
export const checks = [
  // The rule.
  { id: 'A-001a', run: () => wait.ms },
  { id: 'A-001b', run: () => ({ id: 'A-001c' }) },
];
`;
const before = codeOfChecks(module);

function changedBy(from: string, to: string): readonly string[] {
  const after = codeOfChecks(module.replace(from, to));
  return [...before.keys()].filter((id) => before.get(id) !== after.get(id));
}

it('is known for each check of the module', () => {
  expect([...before.keys()]).toEqual(['A-001a', 'A-001b']);
});

it.each([
  ['its own declaration, for it alone', '() => wait.ms', '() => 1', ['A-001a']],
  ['a value within its declaration', "'A-001c'", "'A-001d'", ['A-001b']],
  ['what the checks share, for all', 'ms: 5', 'ms: 6', ['A-001a', 'A-001b']],
  ['a comment, for none', 'The rule.', 'A rule.', []],
])('changes with %s', (_, from, to, ids) => {
  expect(changedBy(from, to)).toEqual(ids);
});

it('does not change when a check is added', () => {
  expect(changedBy('\n];', "\n  { id: 'A-002a', run: () => 3 },\n];")).toEqual([]);
});
