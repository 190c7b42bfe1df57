// The test files and feature files that name a requirement: a test file in its own text or in that of a file that it imports, since cases may be
// shared and titles put together; a feature file as the tag of a scenario. What they name beyond the titles does no harm: which tests run and
// fail is read from the titles.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { OVER_TCP_TAG } from '../features/cucumber.ts';

export type NamingFile = {
  /** From the root of the repository. */
  readonly path: string;
  /** Its text and that of the files with shared cases that it imports. */
  readonly text: string;
  readonly kind: 'unit' | 'programs' | 'features' | 'features-over-tcp';
  readonly requirements: ReadonlySet<string>;
};

/** All files with tests of the broker: those that name no requirement are left out. */
export function readNamingFiles(root: string): readonly NamingFile[] {
  const texts = new TextsOfTests(root);
  return ['src', 'features']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
        (name) => `${folder}/${name}`,
      ),
    )
    .flatMap((path) => {
      if (path.endsWith('.feature')) return featureOf(path, readFileSync(join(root, path), 'utf8'));
      const kind = kindOf(path);
      if (kind === undefined) return [];
      const text = texts.of(path);
      const requirements = requirementsNamedIn(text, kind);
      return requirements.size === 0 ? [] : [{ path, text, kind, requirements }];
    })
    .sort((a, b) => a.path.localeCompare(b.path));
}

function featureOf(path: string, text: string): readonly NamingFile[] {
  const kind = text.startsWith(OVER_TCP_TAG) ? 'features-over-tcp' : 'features';
  const requirements = requirementsNamedIn(text, kind);
  return requirements.size === 0 ? [] : [{ path, text, kind, requirements }];
}

function kindOf(path: string): 'unit' | 'programs' | undefined {
  if (path.endsWith('.programs.test.ts')) return 'programs';
  return path.endsWith('.test.ts') ? 'unit' : undefined;
}

export function isFeatures(kind: NamingFile['kind']): boolean {
  return kind === 'features' || kind === 'features-over-tcp';
}

const requirementId = /\b[A-Z]{3,10}-\d{3}\b/g;

export function requirementsNamedIn(text: string, kind: NamingFile['kind']): ReadonlySet<string> {
  const places = isFeatures(kind) ? (text.match(/^\s*@.*$/gm) ?? []) : [text];
  return new Set(places.flatMap((place) => place.match(requirementId) ?? []));
}

const importedPath = /\bfrom '(\.[^']+\.ts)'/g;

/** The texts of test files, each with those of the imported files that name requirements in titles. */
class TextsOfTests {
  readonly #root: string;
  readonly #texts = new Map<string, string>();

  constructor(root: string) {
    this.#root = root;
  }

  of(path: string): string {
    const cases = [...this.#reached(path, new Set())].filter((one) => one !== path && this.#hasTitles(one));
    return [path, ...cases.sort()].map((one) => this.#read(one)).join('\n');
  }

  #hasTitles(path: string): boolean {
    return /\[[A-Z]{3,10}-\d{3}(?:, ?[A-Z]{3,10}-\d{3})*\]'/.test(this.#read(path));
  }

  #reached(path: string, seen: Set<string>): ReadonlySet<string> {
    if (seen.has(path)) return seen;
    seen.add(path);
    for (const [, target = ''] of this.#read(path).matchAll(importedPath))
      this.#reached(posix.join(dirname(path), target), seen);
    return seen;
  }

  #read(path: string): string {
    const file = join(this.#root, path);
    const text = this.#texts.get(path) ?? (existsSync(file) ? readFileSync(file, 'utf8') : '');
    this.#texts.set(path, text);
    return text;
  }
}
