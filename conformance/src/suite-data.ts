// Loads the data of the suite: requirements, tables of the specification, golden frames (recorded traffic), test certificates, and the
// planted faults that its checks must find. In the repository it reads spec/ and fixtures/, and nothing else; the build includes the data in the package and replaces
// the reader of this file (see build.mjs).
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import type { Level, Profile } from './catalogue-words.ts';
import { once } from './once.ts';

export type Requirement = {
  readonly id: string;
  readonly level: Level;
  readonly sentence: string;
  /** Absent if no check can cover the requirement, only tests of an implementation. */
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

/** A fault planted in the reference broker, and the checks that must fail because of it. */
export type PlantedFault = {
  readonly id: string;
  readonly title: string;
  readonly mustFail: readonly string[];
};

/** A file of fixtures/tls: a certificate or key for a broker under test. */
export type TestCertificate = { readonly name: string; readonly base64: string };

export type SuiteData = {
  readonly requirements: readonly Requirement[];
  /** The content of spec/tables/commands.yaml. */
  readonly commands: unknown;
  readonly golden: readonly GoldenFile[];
  readonly faults: readonly PlantedFault[];
  readonly certificates: readonly TestCertificate[];
};

/**
 * All data. Each part is read when it is asked for, once in a process: the files do not change meanwhile, and reading them takes most of a second.
 * Throws if the repository is incomplete, because the suite needs its data.
 */
export function loadSuiteData(): SuiteData {
  return suiteData;
}

const readRequirements = once(() => filesIn('spec/requirements', '.yaml').flatMap(requirementsOf));
const readCommands = once((): unknown =>
  parse(readFileSync(repositoryPath('spec/tables/commands.yaml'), 'utf8')),
);
const readGolden = once(() => filesIn('fixtures/wire', '.json').flatMap(goldenOf));
const readFaults = once(() => filesIn('fixtures/faults', '.yaml').flatMap(faultsOf));

const suiteData: SuiteData = {
  get requirements() {
    return readRequirements();
  },
  get commands() {
    return readCommands();
  },
  get golden() {
    return readGolden();
  },
  get faults() {
    return readFaults();
  },
  get certificates() {
    return loadCertificates();
  },
};

/** An authority, three certificates that it has signed with their keys, and a PKCS#12 file with a password. */
const certificateNames = [
  'ca.crt',
  'server.crt',
  'server.key',
  'renewed.crt',
  'renewed.key',
  'wrong-host.crt',
  'wrong-host.key',
  'server.pfx',
] as const;

/** The certificates alone, because they are needed while checks run. */
export function loadCertificates(): readonly TestCertificate[] {
  const path = (name: string): string => repositoryPath(`fixtures/tls/${name}`);
  return certificateNames.map((name) => ({ name, base64: readFileSync(path(name)).toString('base64') }));
}

type RequirementFile = {
  /** The profile of all requirements in the file that name none. */
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

/** Omits HTTP recordings, which contain no frames, and the ends of connections. */
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

/** The faults that checks must find. The suite does not need to know how they are planted. */
function faultsOf(text: string): readonly PlantedFault[] {
  const entries = parse(text) as readonly FaultEntry[];
  return entries.flatMap(({ id, title, runner }) =>
    runner === undefined ? [] : [{ id, title, mustFail: runner.mustFail }],
  );
}

function filesIn(folder: string, ending: string): readonly string[] {
  const path = repositoryPath(folder);
  if (!existsSync(path)) return [];
  const names = readdirSync(path).filter((name) => name.endsWith(ending));
  return names.sort().map((name) => readFileSync(`${path}/${name}`, 'utf8'));
}

function repositoryPath(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}
