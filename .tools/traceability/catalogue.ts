// The catalogue of requirements as data: what spec/requirements/*.yaml hold, checked against their schema. Must not know what
// ran; join.ts compares. A catalogue that cannot be trusted yields problems in words and no areas of the files concerned.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Ajv, type ErrorObject } from 'ajv';
import { parseDocument } from 'yaml';

export const coverageKinds = ['features', 'tests', 'checks'] as const;
export type CoverageKind = (typeof coverageKinds)[number];

/** What covers a requirement: paths of feature files and test files, ids of checks. */
export type Coverage = { readonly [Kind in CoverageKind]?: readonly string[] };

export type Requirement = {
  readonly id: string;
  readonly level: 'MUST' | 'SHOULD' | 'MAY';
  readonly sentence: string;
  readonly source: string;
  readonly profile?: string;
  readonly alternatives?: readonly string[];
  readonly why?: string;
  /** The area in which it will be built; absent once something covers it. */
  readonly planned?: string;
  readonly coveredBy?: Coverage;
  /** Why the id is not used any more. */
  readonly withdrawn?: string;
};

export type Area = {
  readonly area: string;
  readonly title: string;
  readonly profile: string;
  readonly requirements: readonly Requirement[];
};

export type TextFile = { readonly path: string; readonly text: string };
export type Catalogue = { readonly areas: readonly Area[]; readonly problems: readonly string[] };

/** Reads the files of `directory` that end in .yaml, in the order of their names. */
export function readCatalogueFiles(directory: string): readonly TextFile[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .map((name) => ({ path: join(directory, name), text: readFileSync(join(directory, name), 'utf8') }));
}

/** Never throws for what a file holds: every fault becomes a problem that names the file. */
export function parseCatalogue(files: readonly TextFile[], schema: object): Catalogue {
  const validate = new Ajv({ allErrors: true }).compile<Area>(schema);
  const areas: Area[] = [];
  const problems: string[] = files.length === 0 ? ['There are no files of requirements.'] : [];
  for (const file of files) {
    const document = parseDocument(file.text);
    const content: unknown = document.errors.length === 0 ? document.toJS() : undefined;
    if (document.errors.length > 0) {
      problems.push(`${file.path}: is no YAML: ${document.errors[0]?.message ?? ''}`);
    } else if (validate(content)) {
      areas.push(content);
      problems.push(...nameProblems(file, content));
    } else {
      problems.push(...(validate.errors ?? []).map((error) => schemaProblem(file, content, error)));
    }
  }
  return { areas, problems: [...problems, ...crossProblems(areas)] };
}

export function requirementsOf(areas: readonly Area[]): readonly Requirement[] {
  return areas.flatMap((area) => area.requirements);
}

function nameProblems(file: TextFile, area: Area): readonly string[] {
  const expected = `${area.area.toLowerCase()}.yaml`;
  const wrongName =
    basename(file.path) === expected ? [] : [`${file.path}: holds ${area.area}; rename it to ${expected}.`];
  const strangers = area.requirements
    .filter((requirement) => !requirement.id.startsWith(`${area.area}-`))
    .map((requirement) => `${file.path}: ${requirement.id} is not of area ${area.area}; move it.`);
  return [...wrongName, ...strangers];
}

function schemaProblem(file: TextFile, content: unknown, error: ErrorObject): string {
  const index = /^\/requirements\/(\d+)/.exec(error.instancePath)?.[1];
  const requirements = (content as { requirements?: readonly { id?: string }[] } | null)?.requirements;
  const id = index === undefined ? undefined : requirements?.[Number(index)]?.id;
  const what = `${error.instancePath || '/'} ${error.message ?? 'is wrong'} ${JSON.stringify(error.params)}`;
  return `${file.path}: ${id === undefined ? '' : `${id}: `}${what}. See spec/requirements.schema.json.`;
}

function crossProblems(areas: readonly Area[]): readonly string[] {
  const names = new Set(areas.map((area) => area.area));
  const seen = new Set<string>();
  const problems: string[] = [];
  for (const { id, planned } of requirementsOf(areas)) {
    if (seen.has(id)) problems.push(`${id} stands twice; an id is given once and for all.`);
    seen.add(id);
    if (planned !== undefined && !names.has(planned))
      problems.push(`${id}: planned for ${planned}, which is no area.`);
  }
  return problems;
}
