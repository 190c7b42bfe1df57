// Which changes make the proof of a fault stale; the source and the tests here are made up.
import { expect, it } from 'vitest';
import type { Fault } from '../faults/catalogue.ts';
import { Planter } from '../faults/planter.ts';
import { ProductSource } from '../faults/product-source.ts';
import { faultInputs } from './inputs.ts';
import type { NamingFile } from './naming-files.ts';

const source = `export function wait(): number {
  return 5;
}
export const other = 1;
`;
const fault = { id: 'f-one', find: 'return 5', replace: 'return 6', breaks: ['TTL-001', 'TTL-002'] };
const feature = `Feature: Waiting
  @TTL-001
  Scenario: It waits
    Given a queue

  @QUEUE-001
  Scenario: It does not
    Given no queue
`;

function file(path: string, text: string, ...requirements: readonly string[]): NamingFile {
  return {
    path,
    text,
    kind: path.endsWith('.ts') ? 'unit' : 'features',
    requirements: new Set(requirements),
  };
}

const tests = `const limit = 5;
it('waits [TTL-001]', () => expect(wait()).toBe(limit));
it.each([1, 2])('is queued [QUEUE-001]', () => expect(one).toBe(1));
`;
const seeing = file('a.test.ts', tests, 'TTL-001', 'QUEUE-001');
const scenarios = file('a.feature', feature, 'TTL-001', 'QUEUE-001');
const unseeing = file('b.test.ts', 'expect(1);', 'TTL-001');
const seenBy = { 'TTL-001': ['a.test.ts', 'a.feature'] };

function digest(files: readonly NamingFile[], text = source): string | undefined {
  const planter = new Planter(() => [new ProductSource('src/wait.ts', text)]);
  return faultInputs([fault as unknown as Fault], planter, files)
    .get('f-one')
    ?.digest(seenBy);
}

const before = digest([seeing, scenarios, unseeing]);

it.each([
  ['another declaration of its source', [seeing, scenarios], source.replace('other', 'more')],
  ['a comment', [{ ...seeing, text: `// Waits.\n${seeing.text}` }, scenarios], source],
  ['another test', [{ ...seeing, text: tests.replace('toBe(1)', 'toBe(2)') }, scenarios], source],
  [
    'a file with one more test',
    [{ ...seeing, text: `${tests}test('more', () => wait());` }, scenarios],
    source,
  ],
  ['a file that did not see it', [seeing, scenarios, { ...unseeing, text: 'expect(2);' }], source],
  [
    'a scenario of something else',
    [seeing, { ...scenarios, text: feature.replace('no queue', 'one') }],
    source,
  ],
])('is not stale after a change of %s', (_, files, text) => {
  expect(digest(files, text)).toBe(before);
});

it.each([
  ['the declaration in which it is planted', [seeing, scenarios], source.replace('wait()', 'rest()')],
  ['a test that saw it', [{ ...seeing, text: tests.replace('wait()', 'rest()') }, scenarios], source],
  ['what is no test', [{ ...seeing, text: tests.replace('= 5', '= 6') }, scenarios], source],
  ['a scenario that saw it', [seeing, { ...scenarios, text: feature.replace('a queue', 'one') }], source],
  [
    'a file that names what no file saw',
    [seeing, scenarios, file('c.test.ts', 'expect(3);', 'TTL-002')],
    source,
  ],
])('is stale after a change of %s', (_, files, text) => {
  expect(digest(files, text)).not.toBe(before);
});
