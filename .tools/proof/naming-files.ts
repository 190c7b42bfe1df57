// The test files and feature files that name a requirement: in the brackets at the end of a test's title, or as the tag of a scenario.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export type NamingFile = {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
  readonly kind: 'unit' | 'programs' | 'features';
  readonly requirements: ReadonlySet<string>;
};

/** All files with tests of the broker: those that name no requirement are left out. */
export function readNamingFiles(root: string): readonly NamingFile[] {
  return ['src', 'features']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
        (name) => `${folder}/${name}`,
      ),
    )
    .flatMap((path) => {
      const kind = kindOf(path);
      if (kind === undefined) return [];
      const text = readFileSync(join(root, path), 'utf8');
      const requirements = requirementsNamedIn(text, kind);
      return requirements.size === 0 ? [] : [{ path, text, kind, requirements }];
    })
    .sort((a, b) => a.path.localeCompare(b.path));
}

function kindOf(path: string): NamingFile['kind'] | undefined {
  if (path.endsWith('.feature')) return 'features';
  if (path.endsWith('.programs.test.ts')) return 'programs';
  return path.endsWith('.test.ts') ? 'unit' : undefined;
}

export function requirementsNamedIn(text: string, kind: NamingFile['kind']): ReadonlySet<string> {
  const id = /[A-Z]{3,10}-\d{3}/g;
  const places = kind === 'features' ? /^\s*@.*$/gm : /\[[A-Z]{3,10}-\d{3}(?:, ?[A-Z]{3,10}-\d{3})*\]/g;
  return new Set((text.match(places) ?? []).flatMap((place) => place.match(id) ?? []));
}
