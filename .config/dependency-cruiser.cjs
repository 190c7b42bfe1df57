// Which module may import what: the table of docs/internals/architecture.md as rules for dependency-cruiser, run by
// .tools/architecture.test.ts with every `npm run check`. Must stay a table; that each rule can fail is shown in
// .tools/import-rules.test.ts.

// `ours`: modules of src/, `name (types)` for `import type` only, or a single file. `npm`: packages. `node`: false forbids
// every module of Node.
const modules = {
  model: { ours: [], npm: [], node: false },
  protocol: { ours: ['model'], npm: [], node: false },
  session: { ours: ['protocol', 'model'], npm: [], node: false },
  broker: { ours: ['model'], npm: [], node: false },
  storage: {
    ours: ['broker/interface (types)', 'auth/user-store.ts', 'model'],
    npm: ['better-sqlite3'],
    node: true,
  },
  backend: {
    ours: ['broker', 'model', 'config (types)', 'storage/storage-provider.ts'],
    npm: [],
    node: true,
  },
  gateway: {
    ours: [
      'backend/backend.ts',
      'broker/interface',
      'protocol',
      'session',
      'model',
      'config (types)',
      'auth (types)',
    ],
    npm: [],
    node: true,
  },
  auth: { ours: ['model'], npm: ['@node-rs/bcrypt', 'bcryptjs'], node: true },
  net: { ours: ['gateway (types)'], npm: [], node: true },
  http: {
    ours: ['gateway (types)', 'auth (types)', 'protocol/time-span.ts', 'model'],
    npm: ['h3', 'listhen', 'prom-client', 'yaml'],
    node: true,
  },
  'http/dashboard/ui': {
    ours: ['http/dashboard/live/live-events.ts (types)', 'model/default-address.ts'],
    npm: ['preact', 'uplot'],
    node: false,
  },
  compression: { ours: ['protocol', 'model'], npm: [], node: true },
  client: { ours: ['protocol', 'session', 'compression', 'model'], npm: [], node: true },
  config: { ours: ['model'], npm: ['yaml'], node: true },
  server: {
    ours: ['auth', 'backend', 'compression', 'config', 'gateway', 'http', 'model', 'net', 'storage'],
    npm: [],
    node: true,
  },
};

// The floors of src/broker/ below the core, which is the files directly in it: what each may import of the core's folders, types
// included. All but the lowest may import interface/, and src/model/ by the table above.
const floors = {
  publish: ['queue', 'collections', 'interface'],
  delivery: ['queue', 'collections', 'interface'],
  queue: ['collections', 'interface'],
  access: [],
  collections: [],
  interface: [],
};

// What only these files may import, wherever the table above would allow it.
const exclusive = [
  {
    name: 'zlib',
    target: '^(node:)?zlib$',
    files: ['^src/compression/zlib-compressor[.]ts$', '^src/testing/(fuzz|hostile)/'],
  },
  {
    name: 'sockets',
    target: '^(node:)?(net|tls)$',
    files: ['^src/(net|client)/', '^src/testing/(hostile|client-bench)/'],
  },
  { name: 'listhen', target: 'node_modules/listhen/', files: ['^src/http/listen[.]ts$'] },
  { name: 'better-sqlite3', target: 'node_modules/better-sqlite3/', files: ['^src/storage/sqlite/'] },
];

const tests = '[.](test|bench)[.]ts$';
const entries = [
  '^src/cli/main[.]ts$',
  '^src/client/index[.]ts$',
  '^src/server/index[.]ts$',
  '^src/storage/index[.]ts$',
  '^src/http/dashboard/ui/main[.]tsx$',
];
// The page runs in a browser: its rules are its own, and not those of the folder that it is in.
const page = '^src/http/dashboard/ui/';
const planter = '^[.]tools/faults/';
const typesSuffix = / \(types\)$/;

const pathOf = (name) => (name.endsWith('.ts') ? `^src/${name.replace('.', '[.]')}$` : `^src/${name}/`);
const packagePaths = (names) => names.map((name) => `node_modules/${name}/`);

function moduleRules([name, { ours, npm, node }]) {
  const from = { path: `^src/${name}/`, pathNot: name.startsWith('http/') ? tests : [tests, page] };
  const allowed = ours.map((entry) => pathOf(entry.replace(typesSuffix, '')));
  const typesOnly = ours
    .filter((entry) => typesSuffix.test(entry))
    .map((entry) => pathOf(entry.replace(typesSuffix, '')));
  return [
    {
      name: `${name}-imports-ours`,
      comment: `${name} may import of ours: ${ours.join(', ') || 'nothing'}.`,
      from,
      to: { path: '^src/', pathNot: [`^src/${name}/`, ...allowed] },
    },
    ...(typesOnly.length === 0
      ? []
      : [
          {
            name: `${name}-imports-types`,
            comment: `${name} may import types only from: ${typesOnly.join(', ')}.`,
            from,
            to: { path: typesOnly, dependencyTypesNot: ['type-only'] },
          },
        ]),
    {
      name: `${name}-imports-packages`,
      comment: `${name} may import these packages: ${npm.join(', ') || 'none'}.`,
      from,
      to: { path: 'node_modules/', pathNot: packagePaths(npm) },
    },
    ...(node
      ? []
      : [
          {
            name: `${name}-is-pure`,
            comment: `${name} is a function of its inputs: no module of Node but buffer, whose class is a global too.`,
            from,
            to: { dependencyTypes: ['core'], pathNot: '^buffer$' },
          },
        ]),
  ];
}

const floorRules = Object.entries(floors).map(([floor, below]) => ({
  name: `broker-floor-${floor}`,
  comment: `broker/${floor} may import of the core: ${below.join(', ') || 'nothing'}.`,
  from: { path: `^src/broker/${floor}/`, pathNot: tests },
  to: {
    path: floor === 'collections' ? '^src/' : '^src/broker/',
    pathNot: [floor, ...below].map((name) => `^src/broker/${name}/`),
  },
}));

const exclusiveRules = exclusive.map(({ name, target, files }) => ({
  name: `only-there-${name}`,
  comment: `Only ${files.join(', ')} may import it.`,
  from: { path: '^src/', pathNot: [...files, tests] },
  to: { path: target },
}));

const houseRules = [
  {
    name: 'conformance-stands-alone',
    comment:
      'The runner judges the broker from outside: it imports nothing of it, and reads spec/ and fixtures/ as data.',
    from: { path: '^conformance/' },
    to: { path: '^(src|features|docs|[.]tools|dist)/', pathNot: planter },
  },
  {
    name: 'planter-for-selftest',
    comment: 'Of the runner only its self-test plants faults: the package has no planter.',
    from: { path: '^conformance/', pathNot: '^conformance/selftest/' },
    to: { path: planter },
  },
  {
    name: 'planter-is-neutral',
    comment:
      'Both sides plant faults with it, so it imports neither: it reads fixtures/faults/ and src/ as data.',
    from: { path: planter },
    to: { path: '^(src|features|conformance|docs|[.]tools|dist)/', pathNot: planter },
  },
  {
    name: 'runner-packages',
    comment: 'The runner is a package of its own with one dependency; its tests and its build may use more.',
    from: { path: '^conformance/(src|bin)/', pathNot: [tests, '^conformance/src/testing/'] },
    to: { path: 'node_modules/', pathNot: packagePaths(['yaml']) },
  },
  {
    name: 'runner-testing-for-tests',
    comment: 'What helps to test the runner is not shipped with it.',
    from: { path: '^conformance/(src|bin)/', pathNot: [tests, '^conformance/src/testing/'] },
    to: { path: '^conformance/src/testing/' },
  },
  {
    name: 'broker-without-runner',
    comment: 'The broker knows nothing of the suite that judges it.',
    from: { path: '^(src|features)/' },
    to: { path: '^conformance/' },
  },
  {
    name: 'nobody-imports-cli',
    comment: 'The composition root is the top.',
    from: { pathNot: '^src/cli/' },
    to: { path: '^src/cli/' },
  },
  {
    name: 'nobody-imports-page',
    comment: 'The page runs in a browser; the broker only sends it. Its tests have helpers.',
    from: { pathNot: [page, '^src/testing/'] },
    to: { path: page },
  },
  {
    name: 'testing-for-tests',
    comment: 'Test helpers are not in the package: only tests, benches, features and tools import them.',
    from: { path: '^src/', pathNot: ['^src/testing/', tests] },
    to: { path: '^src/testing/' },
  },
  {
    name: 'cli-imports-packages',
    comment: 'The composition root wires our modules; packages stay behind them.',
    from: { path: '^src/cli/', pathNot: tests },
    to: { path: 'node_modules/' },
  },
  {
    name: 'no-cycles',
    comment: 'A cycle is one module in several files. Outside the core, types may know each other.',
    from: {},
    to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
  },
  {
    name: 'no-cycles-in-broker',
    comment: 'In the core no file knows, not even by type, a file that knows it.',
    from: { path: '^src/broker/', pathNot: tests },
    to: { circular: true },
  },
  {
    name: 'no-orphans',
    comment:
      'A file that imports nothing and that nothing imports is forgotten, or an entry to be listed here.',
    from: {
      orphan: true,
      path: '^(src|conformance/src|features|[.]tools)/',
      pathNot: [tests, ...entries, '[.]d[.]m?ts$'],
    },
    to: {},
  },
  {
    name: 'no-dead-files',
    comment: 'What is shipped is reachable from the command or from what the package exports.',
    from: { path: entries },
    to: { path: '^src/', pathNot: [tests, ...entries, '^src/testing/', '[.]d[.]m?ts$'], reachable: false },
  },
  {
    name: 'resolvable',
    comment: 'Every import names something that exists.',
    from: {},
    to: { couldNotResolve: true },
  },
];

const forbidden = [
  ...Object.entries(modules).flatMap(moduleRules),
  ...floorRules,
  ...exclusiveRules,
  ...houseRules,
];

module.exports = {
  forbidden: forbidden.map((rule) => ({ severity: 'error', ...rule })),
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|out)/' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
    },
  },
};
