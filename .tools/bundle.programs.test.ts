// What the bundle of the command line is made of: which packages are part of it, under which licenses, and which it loads.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'bundle-'));

beforeAll(() => {
  const { status, stderr } = spawnSync(process.execPath, ['.tools/bundle.mjs', '--out', folder], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(status, stderr).toBe(0);
});

afterAll(() => rmSync(folder, { recursive: true }));

function contents(ending: string): readonly string[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(ending));
  return names.map((name) => readFileSync(join(folder, name), 'utf8'));
}

/** Of the source maps: the packages whose code is part of a file. */
function bundledPackages(): readonly string[] {
  const sources = contents('.js.map').flatMap((text) => (JSON.parse(text) as { sources: string[] }).sources);
  const packages = sources.flatMap((source) => /\/node_modules\/([^/]+)/.exec(source)?.[1] ?? []);
  return [...new Set(packages)].sort();
}

/** The packages that the files import, at once or on demand. */
function loadedPackages(): readonly string[] {
  const imported = contents('.js').flatMap((text) => [
    ...text.matchAll(/^(?:import|export|\} from)\b[^;'"]*["']([^."'][^"']*)["'];?$/gm),
    ...text.matchAll(/\b(?:import|require)\(["']([^."'][^"']*)["']\)/g),
  ]);
  const names = imported.map(([, specifier = '']) => specifier.replace(/^node:/, ''));
  return [...new Set(names)].filter((name) => !builtinModules.includes(name)).sort();
}

function licenseOf(name: string): string {
  const place = join(root, 'node_modules', name);
  const [file = 'no license'] = readdirSync(place).filter((entry) => /^licen[cs]e/i.test(entry));
  return readFileSync(join(place, file), 'utf8').trim();
}

describe('the bundle of the command line', () => {
  it('holds listhen and what it imports, and the license of each', () => {
    const packages = bundledPackages();
    expect(packages).toContain('listhen');
    expect(packages).not.toContain('h3');
    const [licenses = ''] = contents('licenses.txt');
    for (const name of packages) expect(licenses).toContain(`${name}\n\n${licenseOf(name)}`);
  });

  it('loads no package but those that this one depends on', () => {
    const { dependencies, optionalDependencies } = JSON.parse(
      readFileSync(join(root, 'package.json'), 'utf8'),
    );
    const own = Object.keys({ ...dependencies, ...optionalDependencies });
    const loaded = loadedPackages();
    expect(loaded).toContain('h3');
    expect(loaded.filter((name) => !own.includes(name))).toEqual([]);
  });
});
