// Tidy rules about what is installed and what stands at the top: exact versions, a lock file that any machine can use,
// and a top level that does not grow.
import { type File, isCode, isTest, type Rule } from './file.ts';

const topLevel = [
  ...['spec', 'features', 'src', 'conformance', 'fixtures', 'docs'],
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'biome.json'],
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'LICENSE'],
];

export const topLevelNames: Rule = {
  name: 'the top level holds only what was agreed',
  check: (files) => {
    const names = new Set(files.map((file) => file.path.split('/')[0] ?? ''));
    return [...names]
      .filter((name) => !name.startsWith('.') && !topLevel.includes(name))
      .map((name) => `${name} does not belong to the top level`);
  },
};

type Versions = Readonly<Record<string, string>>;

type Manifest = {
  readonly dependencies?: Versions;
  readonly devDependencies?: Versions;
  readonly optionalDependencies?: Versions;
};

export const exactVersions: Rule = {
  name: 'every dependency is pinned to one version',
  check: (files) =>
    files
      .filter((file) => /(^|\/)package\.json$/.test(file.path))
      .flatMap((file) => {
        const manifest = JSON.parse(file.text) as Manifest;
        const all = {
          ...manifest.dependencies,
          ...manifest.devDependencies,
          ...manifest.optionalDependencies,
        };
        return Object.entries(all)
          .filter(([, version]) => !/^(npm:[\w@/.-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
          .map(([name, version]) => `${file.path}: ${name} ${version} is not one version`);
      }),
};

// A package that nothing imports is trusted for nothing. The runner's packages are looked for in its own folder.
export const usedDependencies: Rule = {
  name: 'every dependency at run time is imported',
  check: (files) =>
    files
      .filter((file) => /^(conformance\/)?package\.json$/.test(file.path))
      .flatMap((file) => {
        const folder = file.path === 'package.json' ? 'src/' : 'conformance/src/';
        const { dependencies, optionalDependencies } = JSON.parse(file.text) as Manifest;
        return Object.keys({ ...dependencies, ...optionalDependencies })
          .filter((name) => !files.some((code) => code.path.startsWith(folder) && imports(code, name)))
          .map((name) => `${file.path}: nothing in ${folder} imports ${name}`);
      }),
};

function imports(file: File, name: string): boolean {
  if (!isCode(file.path) || isTest(file.path)) return false;
  return ["from '", "import('", "import '"].some((before) => file.text.includes(`${before}${name}'`));
}

type LockPackage = { readonly resolved?: string; readonly optionalDependencies?: Versions };
type Lock = { readonly packages: Readonly<Record<string, LockPackage>> };

function checkLock(files: readonly File[], check: (lock: Lock) => readonly string[]): readonly string[] {
  const file = files.find((candidate) => candidate.path === 'package-lock.json');
  if (file === undefined) return ['package-lock.json is missing'];
  return check(JSON.parse(file.text) as Lock).map((complaint) => `package-lock.json: ${complaint}`);
}

// Addresses in the lock file would send everybody to the registry of the machine that wrote it.
export const lockWithoutAddresses: Rule = {
  name: 'the lock file holds no addresses',
  check: (files) =>
    checkLock(files, ({ packages }) =>
      Object.entries(packages)
        .filter(([, entry]) => entry.resolved !== undefined && /^[a-z+]+:/.test(entry.resolved))
        .map(([path]) => `${path} has an address`),
    ),
};

// npm refuses a lock file elsewhere when the package for that platform is not in it.
export const lockForEveryPlatform: Rule = {
  name: 'the lock file holds the packages of every platform',
  check: (files) =>
    checkLock(files, ({ packages }) =>
      Object.entries(packages).flatMap(([path, entry]) =>
        Object.keys(entry.optionalDependencies ?? {})
          .filter((name) => !isInLock(packages, path, name))
          .map((name) => `${path || 'the root'} needs ${name}, which is not in it`),
      ),
    ),
};

// Node looks for a package in the node_modules folders of all parents.
function isInLock(packages: Lock['packages'], from: string, name: string): boolean {
  const candidate = from === '' ? `node_modules/${name}` : `${from}/node_modules/${name}`;
  if (candidate in packages) return true;
  return from !== '' && isInLock(packages, from.replace(/(^|\/)[^/]*$/, ''), name);
}
