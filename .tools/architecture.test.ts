// The whole tree keeps the import rules, and the architecture page says what the code does: the files of "The path of a message" exist
// and are connected by imports, and the table "Who may import whom" is the one that is executed.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as posix from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Cruise, cruiseTree, importRules } from './cruise.ts';
import { codeBlocksOf, listItemsOf, sectionOf, tableRowsOf } from './markdown.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'src');
const page = readFileSync(join(root, 'docs/internals/architecture.md'), 'utf8');

const steps = listItemsOf(sectionOf(page, 'The path of a message')).map(
  (item) => /^\[`([^`]+)`\]/.exec(item)?.[1] ?? '',
);
const pairs = steps.slice(1).map((next, index) => [steps[index] ?? '', next] as const);

const fewestModules = 500;
const folders = ['src', 'features', 'conformance', '.tools'];

let tree: Cruise = { violations: [], moduleCount: 0, modules: [] };
/** What each file of src/ imports, tests left out; paths from src/. */
let imports: ReadonlyMap<string, readonly string[]> = new Map();
beforeAll(async () => {
  tree = await cruiseTree(root, folders);
  imports = importsIn(tree);
}, 60_000);

function importsIn({ modules }: Cruise): typeof imports {
  const shipped = modules.filter(({ path }) => /^src\/(?!testing\/)(?!.*[.](test|bench)[.]ts$)/.test(path));
  return new Map(shipped.map(({ path, imports: targets }) => [fromSource(path), targets.map(fromSource)]));
}

function fromSource(path: string): string {
  return posix.relative('src', path);
}

/** Whether one imports the other, directly or through one file, or one file imports both. */
function areConnected(one: string, other: string): boolean {
  const from = (start: string, end: string) =>
    [start, ...(imports.get(start) ?? [])].some((file) => imports.get(file)?.includes(end));
  const both = [...imports.values()].some((targets) => targets.includes(one) && targets.includes(other));
  return both || from(one, other) || from(other, one);
}

describe('the path of a message', () => {
  it('leads from the listener to the frames that are sent', () => {
    expect(steps[0]).toBe('net/tcp-listener.ts');
    expect(steps.at(-1)).toBe('gateway/outbound.ts');
    expect(steps.length).toBeGreaterThan(8);
  });

  it.each(steps)('names %s, which exists', (file) => {
    expect(existsSync(join(source, file))).toBe(true);
  });

  it.each(pairs)('leads from %s to %s, which are connected', (one, other) => {
    expect(areConnected(one, other)).toBe(true);
  });

  it('would not lead from the listener to the core', () => {
    expect(areConnected('net/tcp-listener.ts', 'broker/broker.ts')).toBe(false);
  });
});

describe('who may import whom', () => {
  const listOf = (rule: string) =>
    importRules.find(({ name }) => name === rule)?.comment.replace(/^.*?: |[.]$/g, '');

  it.each(importRules.map(({ name, comment }) => [name, comment]))('%s is kept', (name, comment) => {
    // A cruise that saw nothing would pass every rule.
    expect(tree.moduleCount).toBeGreaterThan(fewestModules);
    const broken = tree.violations.filter(({ rule }) => rule === name);
    expect(
      broken.map(({ from, to }) => `${from} -> ${to}`),
      comment,
    ).toEqual([]);
  });

  it('is the table of the rules that are run', () => {
    const folders = importRules.flatMap(({ name }) => /^([\w/]+)-imports-ours$/.exec(name)?.[1] ?? []);
    const rows = folders.map((folder) => {
      const node = listOf(`${folder}-is-pure`) === undefined ? 'yes' : 'no';
      return [`\`${folder}/\``, listOf(`${folder}-imports-ours`), listOf(`${folder}-imports-packages`), node];
    });
    expect(rows.length).toBeGreaterThan(8);
    expect(tableRowsOf(sectionOf(page, 'Who may import whom'))).toEqual(rows);
  });

  it('names the floors of the core that the rules name, from the top', () => {
    const floors = importRules.flatMap(({ name }) => /^broker-floor-(\w+)$/.exec(name)?.[1] ?? []);
    const picture = codeBlocksOf(sectionOf(page, 'The core'), '')[0] ?? '';
    const drawn = [...picture.matchAll(/\b(\w+)\//g)].map(([, floor]) => floor);
    expect(drawn).toEqual(floors.filter((floor) => floor !== 'interface'));
    expect(listOf('broker-floor-queue')).toBe('collections, interface');
    expect(listOf('broker-floor-collections')).toBe('nothing');
  });
});
