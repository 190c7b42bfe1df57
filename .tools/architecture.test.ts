// The architecture page says what the code does: the files of "The path of a message" exist and are connected by imports, and the
// table "Who may import whom" is the one that is executed.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import * as posix from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'src');
const page = readFileSync(join(root, 'docs/internals/architecture.md'), 'utf8');

const steps = [...section('The path of a message').matchAll(/^\d+\. \[`([^`]+)`\]/gm)].map(
  ([, file]) => file ?? '',
);
const pairs = steps.slice(1).map((next, index) => [steps[index] ?? '', next] as const);

/** What each file of src/ imports, tests left out; paths from src/. */
const imports = new Map(
  readdirSync(source, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.ts') && !/[.](test|bench)[.]ts$|^testing\//.test(path))
    .map((path) => [path, importsOf(path)] as const),
);

function section(title: string): string {
  return page.split(/^## /m).find((text) => text.startsWith(title)) ?? '';
}

function importsOf(path: string): ReadonlySet<string> {
  const text = readFileSync(join(source, path), 'utf8');
  const targets = [...text.matchAll(/ from '([.][^']*)'/g)].map(([, target]) => target ?? '');
  return new Set(targets.map((target) => posix.join(posix.dirname(path), target)));
}

/** Whether one imports the other, directly or through one file, or one file imports both. */
function areConnected(one: string, other: string): boolean {
  const from = (start: string, end: string) =>
    [start, ...(imports.get(start) ?? [])].some((file) => imports.get(file)?.has(end));
  const both = [...imports.values()].some((targets) => targets.has(one) && targets.has(other));
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
  type ImportRule = { readonly name: string; readonly comment: string };
  const { forbidden }: { readonly forbidden: readonly ImportRule[] } = createRequire(import.meta.url)(
    '../.config/dependency-cruiser.cjs',
  );
  const listOf = (rule: string) =>
    forbidden.find(({ name }) => name === rule)?.comment.replace(/^.*?: |[.]$/g, '');

  it('is the table of the rules that are run', () => {
    const folders = forbidden.flatMap(({ name }) => /^(\w+)-imports-ours$/.exec(name)?.[1] ?? []);
    const rows = folders.map((folder) => {
      const node = listOf(`${folder}-is-pure`) === undefined ? 'yes' : 'no';
      return `| \`${folder}/\` | ${listOf(`${folder}-imports-ours`)} | ${listOf(`${folder}-imports-packages`)} | ${node} |`;
    });
    const written = section('Who may import whom')
      .split('\n')
      .filter((line) => line.startsWith('| `'));
    expect(rows.length).toBeGreaterThan(8);
    expect(written).toEqual(rows);
  });

  it('names the floors of the core that the rules name, from the top', () => {
    const floors = forbidden.flatMap(({ name }) => /^broker-floor-(\w+)$/.exec(name)?.[1] ?? []);
    const picture = section('The core').split('```')[1] ?? '';
    const drawn = [...picture.matchAll(/\b(\w+)\//g)].map(([, floor]) => floor);
    expect(drawn).toEqual(floors.filter((floor) => floor !== 'interface'));
    expect(listOf('broker-floor-queue')).toBe('collections, interface');
    expect(listOf('broker-floor-collections')).toBe('nothing');
  });
});
