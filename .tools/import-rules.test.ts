// Shows that each import rule can fail, on a small tree with exactly one forbidden import per rule, and that what the
// table of modules allows passes.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cruise, cruiseTree, importRules } from './cruise.ts';

type Files = Readonly<Record<string, string>>;

const packages = ['h3', 'listhen', 'yaml', 'bcryptjs', 'better-sqlite3', 'vitest', 'preact', 'uplot'];
const folders = ['src', 'conformance', 'features', '.tools'];

// What stands on the shelf for the files below to import.
const shelf: Files = {
  'src/protocol/frame.ts': "import 'node:buffer'; export type Frame = 1; export const frame = 1;",
  'src/session/session.ts': "import { frame } from '../protocol/frame.ts'; export const session = frame;",
  'src/broker/interface/input.ts': 'export type Input = 1; export const input = 1;',
  'src/broker/broker.ts':
    "import { input } from './interface/input.ts'; import './publish/publish.ts'; import './delivery/delivery.ts'; export type Step = 1; export const step = input;",
  'src/broker/publish/publish.ts':
    "import '../queue/queue.ts'; import type { Input } from '../interface/input.ts'; export type Publish = Input;",
  'src/broker/delivery/delivery.ts':
    "import '../queue/queue.ts'; export type Delivery = 1; export const delivery = 1;",
  'src/broker/queue/queue.ts':
    "import { heap } from '../collections/heap.ts'; import '../../model/mode.ts'; export type Queue = 1; export const queue = heap;",
  'src/broker/collections/heap.ts': 'export type Heap = 1; export const heap = 1;',
  'src/storage/storage-provider.ts':
    "import type { Input } from '../broker/interface/input.ts'; export type Store = Input;",
  'src/storage/memory/store.ts':
    "import type { Store } from '../storage-provider.ts'; export const store: Store = 1;",
  'src/model/mode.ts': 'export const mode = 1;',
  'src/backend/backend.ts':
    "import { step } from '../broker/broker.ts'; import type { Store } from '../storage/storage-provider.ts'; import type { Config } from '../config/config.ts'; export const backend: [Store, Config] = [step, 1];",
  'src/backend/local/local.ts': "import '../backend.ts'; export const local = 1;",
  'src/gateway/gateway.ts':
    "import type { backend } from '../backend/backend.ts'; import '../model/mode.ts'; export const gateway: typeof backend = [1, 1];",
  'src/config/config.ts': "import 'yaml'; export type Config = 1; export const config = 1;",
  'src/client/index.ts':
    "import { session } from '../session/session.ts'; import '../compression/zlib-compressor.ts'; import 'node:net'; export const client = session;",
  'src/http/listen.ts': "import 'listhen'; import 'node:http'; export const listen = 1;",
  'src/http/dashboard/live/live-events.ts': 'export type Point = 1; export const point = 1;',
  'src/http/dashboard/dashboard-app.ts':
    "import type { Point } from './live/live-events.ts'; export const app: Point = 1;",
  'src/http/dashboard/ui/main.tsx':
    "import 'preact'; import 'uplot'; import './state.ts'; import { app } from './app.tsx'; app;",
  'src/http/dashboard/ui/state.ts':
    "import type { Point } from '../live/live-events.ts'; export const state: Point = 1;",
  'src/http/dashboard/ui/app.tsx': "import { state } from './state.ts'; export const app = <p>{state}</p>;",
  'src/net/listener.ts':
    "import 'node:tls'; import type { gateway } from '../gateway/gateway.ts'; export type Listener = typeof gateway;",
  'src/compression/zlib-compressor.ts':
    "import 'node:zlib'; import '../protocol/frame.ts'; export const compressor = 1;",
  'src/testing/clock.ts': "import { step } from '../broker/broker.ts'; export const clock = step;",
  'src/broker/broker.test.ts':
    "import 'vitest'; import 'node:fs'; import { clock } from '../testing/clock.ts'; clock;",
  'src/cli/main.ts':
    "import '../backend/local/local.ts'; import '../backend/backend.ts'; import '../gateway/gateway.ts'; import '../compression/zlib-compressor.ts'; import '../net/listener.ts'; import '../http/listen.ts'; import '../http/dashboard/dashboard-app.ts'; import '../storage/memory/store.ts'; import '../config/config.ts'; import('./serve.ts');",
  'src/cli/serve.ts': "import 'node:process'; export const serve = 1;",
  'conformance/src/check.ts': "import 'yaml'; import 'node:net'; export const check = 1;",
  'conformance/src/check.test.ts':
    "import 'vitest'; import { check } from './check.ts'; import { tiny } from './testing/tiny.ts'; check(tiny);",
  'conformance/src/testing/tiny.ts': "import 'vitest'; export const tiny = 1;",
  '.tools/faults/planter.ts': "import 'yaml'; export const planter = 1;",
  'conformance/selftest/run.ts': "import '../../.tools/faults/planter.ts';",
  'features/support/world.ts': "import { clock } from '../../src/testing/clock.ts'; clock;",
};

// rule, importing file, what it imports
const forbiddenImports: readonly (readonly [string, string, string])[] = [
  ['model-imports-ours', 'src/model/bad-a.ts', "import '../protocol/frame.ts';"],
  ['model-imports-packages', 'src/model/bad-b.ts', "import 'yaml';"],
  ['model-is-pure', 'src/model/bad-c.ts', "import 'node:os';"],
  ['protocol-imports-ours', 'src/protocol/bad-a.ts', "import '../broker/broker.ts';"],
  ['protocol-imports-packages', 'src/protocol/bad-b.ts', "import 'yaml';"],
  ['protocol-is-pure', 'src/protocol/bad-c.ts', "import 'node:zlib';"],
  ['session-imports-ours', 'src/session/bad-a.ts', "import '../gateway/gateway.ts';"],
  ['session-imports-packages', 'src/session/bad-b.ts', "import 'yaml';"],
  ['session-is-pure', 'src/session/bad-c.ts', "import 'node:crypto';"],
  ['broker-imports-ours', 'src/broker/bad-a.ts', "import type { Frame } from '../protocol/frame.ts';"],
  ['broker-imports-packages', 'src/broker/bad-b.ts', "import 'yaml';"],
  ['broker-is-pure', 'src/broker/bad-c.ts', "import { performance } from 'perf_hooks';"],
  ['broker-floor-publish', 'src/broker/publish/bad-a.ts', "import '../delivery/delivery.ts';"],
  ['broker-floor-delivery', 'src/broker/delivery/bad-a.ts', "import '../publish/publish.ts';"],
  [
    'broker-floor-queue',
    'src/broker/queue/bad-a.ts',
    "import type { Delivery } from '../delivery/delivery.ts';",
  ],
  ['broker-floor-queue', 'src/broker/queue/bad-b.ts', "import '../broker.ts';"],
  ['broker-floor-access', 'src/broker/access/bad-a.ts', "import type { Queue } from '../queue/queue.ts';"],
  [
    'broker-floor-collections',
    'src/broker/collections/bad-a.ts',
    "import type { Queue } from '../queue/queue.ts';",
  ],
  ['broker-floor-collections', 'src/broker/collections/bad-b.ts', "import '../../model/mode.ts';"],
  [
    'broker-floor-interface',
    'src/broker/interface/bad-a.ts',
    "import type { Heap } from '../collections/heap.ts';",
  ],
  ['storage-imports-ours', 'src/storage/bad-a.ts', "import '../gateway/gateway.ts';"],
  ['storage-imports-types', 'src/storage/bad-b.ts', "import { input } from '../broker/interface/input.ts';"],
  ['storage-imports-packages', 'src/storage/bad-c.ts', "import 'yaml';"],
  ['backend-imports-ours', 'src/backend/bad-a.ts', "import type { gateway } from '../gateway/gateway.ts';"],
  ['backend-imports-types', 'src/backend/bad-b.ts', "import { config } from '../config/config.ts';"],
  ['backend-imports-packages', 'src/backend/bad-c.ts', "import 'h3';"],
  ['gateway-imports-ours', 'src/gateway/bad-a.ts', "import '../backend/local/local.ts';"],
  ['gateway-imports-types', 'src/gateway/bad-b.ts', "import { config } from '../config/config.ts';"],
  ['gateway-imports-packages', 'src/gateway/bad-c.ts', "import 'h3';"],
  ['auth-imports-ours', 'src/auth/bad-a.ts', "import '../broker/broker.ts';"],
  ['auth-imports-packages', 'src/auth/bad-b.ts', "import 'yaml';"],
  ['net-imports-ours', 'src/net/bad-a.ts', "import '../broker/broker.ts';"],
  ['net-imports-types', 'src/net/bad-e.ts', "import { gateway } from '../gateway/gateway.ts';"],
  ['net-imports-packages', 'src/net/bad-b.ts', "import 'h3';"],
  ['http-imports-ours', 'src/http/bad-a.ts', "import '../broker/broker.ts';"],
  ['http-imports-types', 'src/http/bad-b.ts', "import { gateway } from '../gateway/gateway.ts';"],
  ['http-imports-packages', 'src/http/bad-c.ts', "import 'better-sqlite3';"],
  ['http/dashboard/ui-imports-ours', 'src/http/dashboard/ui/bad-a.tsx', "import '../dashboard-app.ts';"],
  [
    'http/dashboard/ui-imports-types',
    'src/http/dashboard/ui/bad-b.ts',
    "import { point } from '../live/live-events.ts';",
  ],
  ['http/dashboard/ui-imports-packages', 'src/http/dashboard/ui/bad-c.ts', "import 'h3';"],
  ['http/dashboard/ui-is-pure', 'src/http/dashboard/ui/bad-d.ts', "import 'node:fs';"],
  ['nobody-imports-page', 'src/http/bad-f.ts', "import './dashboard/ui/state.ts';"],
  ['compression-imports-ours', 'src/compression/bad-a.ts', "import '../gateway/gateway.ts';"],
  ['compression-imports-packages', 'src/compression/bad-b.ts', "import 'yaml';"],
  ['client-imports-ours', 'src/client/bad-a.ts', "import '../gateway/gateway.ts';"],
  ['client-imports-packages', 'src/client/bad-b.ts', "import 'yaml';"],
  ['config-imports-ours', 'src/config/bad-a.ts', "import '../broker/broker.ts';"],
  ['config-imports-packages', 'src/config/bad-b.ts', "import 'h3';"],
  ['server-imports-ours', 'src/server/bad-a.ts', "import '../protocol/frame.ts';"],
  ['server-imports-packages', 'src/server/bad-b.ts', "import 'h3';"],
  ['only-there-zlib', 'src/net/bad-c.ts', "import 'node:zlib';"],
  ['only-there-sockets', 'src/http/bad-d.ts', "import 'node:net';"],
  ['only-there-listhen', 'src/http/bad-e.ts', "import 'listhen';"],
  ['only-there-better-sqlite3', 'src/storage/memory/bad-a.ts', "import 'better-sqlite3';"],
  [
    'conformance-stands-alone',
    'conformance/src/bad-a.ts',
    "import type { Frame } from '../../src/protocol/frame.ts';",
  ],
  ['planter-for-selftest', 'conformance/src/bad-c.ts', "import '../../.tools/faults/planter.ts';"],
  ['planter-is-neutral', '.tools/faults/bad-a.ts', "import '../../src/protocol/frame.ts';"],
  ['runner-packages', 'conformance/src/bad-b.ts', "import 'h3';"],
  ['runner-testing-for-tests', 'conformance/src/bad-d.ts', "import './testing/tiny.ts';"],
  ['broker-without-runner', 'src/backend/bad-d.ts', "import '../../conformance/src/check.ts';"],
  ['nobody-imports-cli', 'src/testing/bad-a.ts', "import '../cli/serve.ts';"],
  ['testing-for-tests', 'src/net/bad-d.ts', "import '../testing/clock.ts';"],
  ['cli-imports-packages', 'src/cli/bad-a.ts', "import 'yaml';"],
  ['no-cycles', 'src/session/bad-d.ts', "import './bad-e.ts';"],
  [
    'no-cycles-in-broker',
    'src/broker/queue/bad-c.ts',
    "import type { Bad } from './bad-d.ts'; export type Worse = Bad;",
  ],
  ['no-orphans', 'src/broker/bad-d.ts', 'export const forgotten = 1;'],
  ['resolvable', 'src/backend/bad-e.ts', "import './not-there.ts';"],
];

const deadFile = 'src/backend/bad-a.ts';

function writeTree(files: Files): string {
  const root = mkdtempSync(join(tmpdir(), 'import-rules-'));
  for (const name of packages) {
    write(
      root,
      `node_modules/${name}/package.json`,
      JSON.stringify({ name, version: '1.0.0', main: 'index.js' }),
    );
    write(root, `node_modules/${name}/index.js`, 'module.exports = {};');
  }
  const names = Object.fromEntries(packages.map((name) => [name, '1.0.0']));
  write(root, 'package.json', JSON.stringify({ name: 'tree', dependencies: names }));
  for (const [path, text] of Object.entries(files)) write(root, path, text);
  return root;
}

function write(root: string, path: string, text: string): void {
  const target = join(root, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
}

const roots: string[] = [];

async function cruiseFiles(files: Files): Promise<Cruise> {
  const root = writeTree(files);
  roots.push(root);
  return cruiseTree(root, folders);
}

afterAll(() => {
  for (const root of roots) rmSync(root, { recursive: true, force: true });
});

describe('import rules', () => {
  let bad: Cruise;

  beforeAll(async () => {
    const files = Object.fromEntries(forbiddenImports.map(([, path, text]) => [path, text]));
    bad = await cruiseFiles({
      ...shelf,
      ...files,
      'src/session/bad-e.ts': "import './bad-d.ts';",
      'src/broker/queue/bad-d.ts': "import type { Worse } from './bad-c.ts'; export type Bad = Worse;",
    });
  });

  it('let pass what the table of modules allows', async () => {
    const { violations, moduleCount } = await cruiseFiles(shelf);
    expect(violations).toEqual([]);
    expect(moduleCount).toBeGreaterThan(Object.keys(shelf).length);
  });

  it.each(forbiddenImports)('%s refuses the import in %s', (rule, path) => {
    const broken = bad.violations
      .filter((violation) => violation.from === path)
      .map((violation) => violation.rule);
    expect(broken).toContain(rule);
  });

  it('no-dead-files names a file that neither command nor client library reaches', () => {
    const dead = bad.violations.filter((violation) => violation.rule === 'no-dead-files');
    expect(dead.map((violation) => violation.to)).toContain(deadFile);
  });

  it('are all proved to fail here', () => {
    const proved = [...forbiddenImports.map(([rule]) => rule), 'no-dead-files'];
    expect(importRules.map(({ name }) => name).sort()).toEqual([...new Set(proved)].sort());
  });
});
