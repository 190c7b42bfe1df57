// The data that the suite judges by: the requirement catalogue, the tables of the specification, the recorded golden frames,
// and which planted faults its checks are known to see. Run from the repository they are read from spec/ and fixtures/; the build puts them into the package and
// replaces this file's reader (see build.mjs). Nothing else of the repository is ever read.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import type { Level, Profile } from './catalogue-words.ts';

export type Requirement = {
  readonly id: string;
  readonly level: Level;
  readonly sentence: string;
  /** Absent: only tests of an implementation can cover it. */
  readonly profile?: Profile;
  readonly source?: string;
  readonly alternatives?: readonly string[];
  readonly why?: string;
};

export type GoldenFrame = {
  readonly seq: number;
  readonly from: 'client' | 'broker';
  readonly hex: string;
  readonly compression: 'none' | 'gzip' | 'brotli';
  readonly version: number;
  readonly command: string;
  readonly id: string;
  readonly queue: string;
  readonly payload: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly trailingBytes: number;
  readonly errorCode?: string;
  readonly errorMessage?: string;
};

export type GoldenFile = {
  readonly title: string;
  readonly connections: readonly (readonly GoldenFrame[])[];
};

/** A fault that was planted into the reference broker, and the checks that must see it. */
export type PlantedFault = {
  readonly id: string;
  readonly title: string;
  readonly mustFail: readonly string[];
};

export type SuiteData = {
  readonly requirements: readonly Requirement[];
  /** spec/tables/commands.yaml as it stands. */
  readonly commands: unknown;
  readonly golden: readonly GoldenFile[];
  readonly faults: readonly PlantedFault[];
};

/** Reads everything anew. Throws when the repository is not complete: the suite cannot judge without its data. */
export function loadSuiteData(): SuiteData {
  return {
    requirements: filesIn('spec/requirements', '.yaml').flatMap(({ text }) => requirementsOf(text)),
    commands: parse(readFileSync(repositoryPath('spec/tables/commands.yaml'), 'utf8')),
    golden: filesIn('fixtures/wire', '.json').flatMap(({ text }) => goldenOf(text)),
    faults: filesIn('fixtures/faults', '.yaml').flatMap(({ text }) => faultsOf(text)),
  };
}

type RequirementFile = {
  /** Of every requirement that names none. */
  readonly profile: Profile | 'none';
  readonly requirements?: readonly (Omit<Requirement, 'profile'> & {
    readonly profile?: Profile | 'none';
    readonly withdrawn?: string;
  })[];
};

function requirementsOf(text: string): readonly Requirement[] {
  const file = parse(text) as RequirementFile;
  const valid = (file.requirements ?? []).filter(({ withdrawn }) => withdrawn === undefined);
  return valid.map(({ id, level, sentence, profile = file.profile, source, alternatives, why }) => ({
    id,
    level,
    sentence,
    ...(profile === 'none' ? {} : { profile }),
    ...(source === undefined ? {} : { source }),
    ...(alternatives === undefined ? {} : { alternatives }),
    ...(why === undefined ? {} : { why }),
  }));
}

type GoldenRecording = {
  readonly title?: string;
  readonly connections?: readonly (readonly (GoldenFrame | { readonly end: true })[])[];
};

/** Recordings of HTTP have no connections of frames and are left out, as are the ends of connections. */
function goldenOf(text: string): readonly GoldenFile[] {
  const { title, connections } = JSON.parse(text) as GoldenRecording;
  if (connections === undefined || title === undefined) return [];
  const frames = connections.map((entries) => entries.filter((entry) => 'hex' in entry));
  return [{ title, connections: frames }];
}

type FaultEntry = {
  readonly id: string;
  readonly title: string;
  readonly runner?: { readonly mustFail: readonly string[] };
};

/** Those that a check sees; how they are planted is no affair of the suite. */
function faultsOf(text: string): readonly PlantedFault[] {
  const entries = parse(text) as readonly FaultEntry[];
  return entries.flatMap(({ id, title, runner }) =>
    runner === undefined ? [] : [{ id, title, mustFail: runner.mustFail }],
  );
}

function filesIn(folder: string, ending: string): readonly { readonly text: string }[] {
  const path = repositoryPath(folder);
  if (!existsSync(path)) return [];
  const names = readdirSync(path).filter((name) => name.endsWith(ending));
  return names.sort().map((name) => ({ text: readFileSync(`${path}/${name}`, 'utf8') }));
}

function repositoryPath(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}
