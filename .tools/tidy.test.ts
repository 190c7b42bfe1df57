// The tidy rules, kept by every file of the repository; and each rule shown to complain about a file that breaks it,
// and to leave alone one that does not.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import * as code from './tidy/code-rules.ts';
import { type File, type Rule, readFiles } from './tidy/file.ts';
import * as packages from './tidy/package-rules.ts';
import * as text from './tidy/text-rules.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const files = readFiles(root);

const lines = (count: number): string => '// x\n'.repeat(count);
const lock = (entries: Record<string, unknown>): string => JSON.stringify({ packages: entries });

type Example = { readonly rule: Rule; readonly good: readonly File[]; readonly bad: readonly File[] };

const one = (rule: Rule, path: string, good: string, bad: string): Example => ({
  rule,
  good: [{ path, text: good }],
  bad: [{ path, text: bad }],
});

const named = (rule: Rule, good: string, bad: string): Example => ({
  rule,
  good: [{ path: good, text: '' }],
  bad: [{ path: bad, text: '' }],
});

// The forbidden words are put together here, since these rules look at this file too.
const word = (...parts: readonly string[]): string => parts.join('');

const examples: readonly Example[] = [
  one(code.fileLength, 'src/a.ts', lines(500), lines(501)),
  one(code.header, 'src/a.ts', '#!/usr/bin/env node\n// What for.\nexport {};', 'export {};\n// Too late.'),
  one(code.fileLength, 'src/a.tsx', lines(500), lines(501)),
  one(code.header, 'src/a.ts', '/* What\n for. */\nexport {};', lines(21)),
  named(code.kebabCaseNames, 'src/frame-splitter.test.ts', 'src/frameSplitter.ts'),
  named(code.kebabCaseNames, 'docs/README.md', 'src/Protocol/frame.ts'),
  named(code.noVagueNames, 'src/protocol/byte-order.ts', 'src/protocol/utils.ts'),
  one(code.noMutableState, 'src/a.ts', 'const a = 1;\n  let b = 2;', 'const a = 1;\nlet b = 2;'),
  one(code.everyTestRuns, 'src/a.test.ts', "it('skips a frame', f);", word('it.sk', "ip('a frame', f);")),
  one(code.everyTestRuns, 'src/a.test.ts', 'it.each([1])', word('describe.on', "ly('a', f)")),
  one(code.everyTestRuns, 'features/a.feature', '@FRAME-004\nScenario: a', word('@sk', 'ip\nScenario: a')),
  one(code.noSleeping, 'src/a.test.ts', 'clock.advance(100);', word('await sl', 'eep(100);')),
  one(
    code.noSleeping,
    'src/a.test.ts',
    'until(deadlineMs);',
    word('new Promise((resolve) => setTime', 'out(resolve, 5))'),
  ),
  one(
    code.reasonedTodo,
    'src/a.ts',
    word('// TO', 'DO: measure it on slow machines'),
    word('// TO', 'DO: later'),
  ),
  one(text.noMachinePaths, 'docs/a.md', 'GET /homes/ and /api/work/', word('see /ho', 'me/me/a')),
  one(text.noMachinePaths, 'docs/a.md', 'the folder ../spec', word('see ../sha', 'red/a.md')),
  one(text.noMachinePaths, 'src/a.ts', "join(tmpdir(), 'a')", word("open('/t", "mp/a')")),
  one(text.noRegistryHosts, 'a.md', 'the npm registry', word('https://registry.', 'example.org/a')),
  one(text.linksResolve, 'docs/a.md', '# One Two\n[x](#one-two) [y](a.md) `[z](no.md)`', '[x](b.md)'),
  one(text.linksResolve, 'docs/a.md', '<a id="FRAME-1"></a>[x](a.md#FRAME-1)', '[x](#not-there)'),
  {
    rule: text.documentsLinked,
    good: [
      { path: 'README.md', text: '[a](docs/a.md)' },
      { path: 'docs/a.md', text: '' },
    ],
    bad: [
      { path: 'README.md', text: '' },
      { path: 'docs/a.md', text: '[myself](a.md)' },
    ],
  },
  named(packages.topLevelNames, 'src/a.ts', 'notes.txt'),
  one(
    packages.exactVersions,
    'conformance/package.json',
    '{"dependencies":{"a":"1.2.3"},"devDependencies":{"b":"npm:@c/d@7.0.2"}}',
    '{"devDependencies":{"a":"^1.2.3"}}',
  ),
  one(
    packages.exactVersions,
    'package.json',
    '{"dependencies":{"a":"1.2.3"}}',
    '{"devDependencies":{"b":"npm:c@^7.0.2"}}',
  ),
  {
    rule: packages.usedDependencies,
    good: [
      { path: 'package.json', text: '{"dependencies":{"a":"1.0.0"},"devDependencies":{"b":"1.0.0"}}' },
      { path: 'src/a.ts', text: "const a = await import('a');" },
    ],
    bad: [
      { path: 'package.json', text: '{"dependencies":{"a":"1.0.0"}}' },
      { path: 'src/a.test.ts', text: "import { a } from 'a';" },
    ],
  },
  one(
    packages.lockWithoutAddresses,
    'package-lock.json',
    lock({ 'node_modules/a': {}, 'node_modules/b': { resolved: 'conformance', link: true } }),
    lock({ 'node_modules/a': { resolved: 'https://example.org/a.tgz' } }),
  ),
  one(
    packages.lockForEveryPlatform,
    'package-lock.json',
    lock({ 'node_modules/a': { optionalDependencies: { 'a-linux': '1.0.0' } }, 'node_modules/a-linux': {} }),
    lock({ 'node_modules/a': { optionalDependencies: { 'a-linux': '1.0.0' } } }),
  ),
];

const rules = [code, text, packages].flatMap((module) => Object.values(module)).filter(isRule);

function isRule(value: unknown): value is Rule {
  return typeof value === 'object' && value !== null && 'check' in value;
}

describe('every file', () => {
  it.each(rules.map((rule) => [rule.name, rule] as const))('%s', (_, rule) => {
    expect(files.length).toBeGreaterThan(50);
    expect(rule.check(files)).toEqual([]);
  });
});

describe('each tidy rule', () => {
  it.each(examples.map((example) => [example.rule.name, example] as const))(
    'can fail: %s',
    (_, { rule, good, bad }) => {
      expect(rule.check(good)).toEqual([]);
      expect(rule.check(bad)).toHaveLength(1);
    },
  );

  it('complains about an exemption that is no longer needed', () => {
    const short = [{ path: 'src/a.ts', text: lines(3) }];
    expect(code.staleExemptions(['src/a.ts', 'src/gone.ts'], short)).toHaveLength(2);
  });

  it('has an example', () => {
    const shown = new Set([...examples.map((example) => example.rule), code.longFilesExist]);
    expect(rules.filter((rule) => !shown.has(rule)).map((rule) => rule.name)).toEqual([]);
  });
});

/** The files that the compiler checks when it is given these settings. */
function checkedBy(path: string): readonly string[] {
  const { config } = ts.readConfigFile(join(root, path), ts.sys.readFile);
  return ts.parseJsonConfigFileContent(config, ts.sys, dirname(join(root, path))).fileNames;
}

describe('the compiler', () => {
  it('is told to check every TypeScript file', () => {
    const checked = new Set(['tsconfig.json', '.config/tsconfig.ui.json'].flatMap(checkedBy));
    const typed = files.map((file) => join(root, file.path)).filter((path) => /[.]tsx?$/.test(path));
    expect(typed.some((path) => path.endsWith('.tsx'))).toBe(true);
    expect(typed.filter((path) => !checked.has(path))).toEqual([]);
  });
});
