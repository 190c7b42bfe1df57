// What is kept of a mutation run: for each source file its hash, how many mutants were killed, and those that were not; and what that says
// today: the score, and whether it is of the present sources. Pure; runs nothing and reads nothing.

/** The least share of mutants that tests must kill, in percent. */
export const LEAST_PERCENT = 85;

/** The largest share of the code that may have changed since the run, in percent. */
const MAX_STALE_PERCENT = 10;

export type FileResult = {
  /** Of the code that was mutated, without comments, SHA-256 in hex. */
  readonly sha256: string;
  readonly killed: number;
  readonly survived: number;
  /** Met by no test: counted as survived in the score. */
  readonly uncovered: number;
  /** The mutants that no test killed: where each stands, and what it does. Absent when there are none. */
  readonly survivors?: readonly string[];
};

export type Summary = { readonly date: string; readonly files: Readonly<Record<string, FileResult>> };

export type Source = {
  /** As {@link FileResult.sha256}. */
  readonly sha256: string;
  /** Of the code without comments, in characters. */
  readonly length: number;
};

/** By path. */
export type Sources = ReadonlyMap<string, Source>;

/** The part of the mutation testing report schema that is read. */
export type MutationReport = {
  readonly files: Readonly<
    Record<string, { readonly source: string; readonly mutants: readonly ReportedMutant[] }>
  >;
};

export type ReportedMutant = {
  readonly status: string;
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly location: { readonly start: { readonly line: number; readonly column: number } };
};

const killedBy = ['Killed', 'Timeout'];
const survivedAs = ['Survived', 'NoCoverage'];

/** `sources`: every file that was looked at; one without mutants (types, say) is in no report. */
export function summaryOf(
  report: MutationReport,
  {
    date,
    sources,
    hash,
  }: { readonly date: string; readonly sources: Sources; readonly hash: (text: string) => string },
): Summary {
  const empty = { killed: 0, survived: 0, uncovered: 0 };
  const without = [...sources].filter(([path]) => !Object.hasOwn(report.files, path));
  const files = Object.entries(report.files).map(([path, { source, mutants }]) => {
    const count = (...statuses: readonly string[]): number =>
      mutants.filter(({ status }) => statuses.includes(status)).length;
    const survivors = mutants.filter(({ status }) => survivedAs.includes(status)).map(survivorText);
    const result = {
      sha256: hash(source),
      killed: count(...killedBy),
      survived: count('Survived'),
      uncovered: count('NoCoverage'),
      ...(survivors.length === 0 ? {} : { survivors }),
    };
    return [path, result] as const;
  });
  const all = [...files, ...without.map(([path, { sha256 }]) => [path, { sha256, ...empty }] as const)];
  return { date, files: Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1))) };
}

/** The kept summary with the results of these files from another one, which may also have results of files that were not mutated anew. */
export function withFiles(kept: Summary, renewed: Summary, paths: readonly string[]): Summary {
  const own = Object.entries(renewed.files).filter(([path]) => paths.includes(path));
  const files = { ...kept.files, ...Object.fromEntries(own) };
  const sorted = Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1));
  return { date: renewed.date, files: Object.fromEntries(sorted) };
}

const shownLength = 80;

/** `14:7 EqualityOperator: a >= b` */
function survivorText({ status, mutatorName, replacement = '', location }: ReportedMutant): string {
  const { line, column } = location.start;
  const change = replacement.replaceAll(/\s+/g, ' ').slice(0, shownLength);
  const unmet = status === 'NoCoverage' ? ' (met by no test)' : '';
  return `${line}:${column} ${mutatorName}: ${change === '' ? 'removed' : change}${unmet}`;
}

/** Killed mutants in percent of all; 0 where there are none. */
export function percentOf(files: readonly Omit<FileResult, 'sha256'>[]): number {
  const sum = (pick: (file: Omit<FileResult, 'sha256'>) => number): number =>
    files.reduce((total, file) => total + pick(file), 0);
  const all = sum(({ killed, survived, uncovered }) => killed + survived + uncovered);
  return all === 0 ? 0 : (100 * sum(({ killed }) => killed)) / all;
}

export type Finding = { readonly title: string; readonly fault?: string };

/** One finding per folder of sources: does the kept score reach the least one? */
export function judge(summary: Summary, folders: readonly string[]): readonly Finding[] {
  return folders.map((folder) => {
    const files = Object.entries(summary.files).filter(([path]) => path.startsWith(`${folder}/`));
    const percent = percentOf(files.map(([, file]) => file));
    const title = `${folder}: ${percent.toFixed(1)} percent of the mutants killed`;
    const isEnough = percent >= LEAST_PERCENT;
    return isEnough ? { title } : { title, fault: `at least ${LEAST_PERCENT} are asked for` };
  });
}

/** Is the kept score still about the present code? `sources`: of the present. */
export function ageOf(summary: Summary, sources: Sources): Finding {
  const lengthOf = (files: readonly Source[]): number =>
    files.reduce((total, { length }) => total + length, 0);
  const stale = [...sources].filter(([path, source]) => !isOf(summary, path, source));
  const percent = (100 * lengthOf(stale.map(([, source]) => source))) / lengthOf([...sources.values()]);
  const title = `${percent.toFixed(1)} percent of the code has changed since ${summary.date}`;
  if (percent <= MAX_STALE_PERCENT) return { title };
  return { title, fault: `at most ${MAX_STALE_PERCENT} may have; npm run mutation renews the score` };
}

/** Files whose result is not about their present text, or that have none, or are gone. `sources`: of the present. */
export function staleFiles(summary: Summary, sources: Sources): readonly string[] {
  const changed = [...sources].filter(([path, source]) => !isOf(summary, path, source));
  const gone = Object.keys(summary.files).filter((path) => !sources.has(path));
  return [...changed.map(([path]) => path), ...gone].sort();
}

function isOf(summary: Summary, path: string, { sha256 }: Source): boolean {
  return summary.files[path]?.sha256 === sha256;
}
