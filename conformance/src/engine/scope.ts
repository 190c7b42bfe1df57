// The scope of a verdict: the requested profiles, and the requirements in them that no check of the suite covers. Pure. It does not know
// which checks were run.
import type { Catalogue } from '../catalogue.ts';
import type { Profile, ProfileName } from '../catalogue-words.ts';
import { profiles } from '../catalogue-words.ts';
import type { Check } from '../check.ts';
import type { Requirement } from '../suite-data.ts';
import type { VerdictScope } from '../verdict.ts';

export type Scope = VerdictScope & {
  /** The MUST requirements of these profiles that no check covers. */
  readonly uncovered: readonly Requirement[];
};

export function scopeOf(catalogue: Catalogue, names: readonly ProfileName[]): Scope {
  const wanted = expandProfiles(names);
  const covered = new Set(
    catalogue.checks.filter(({ profile }) => wanted.has(profile)).flatMap(({ clauses }) => clauses),
  );
  const uncovered = catalogue.requirements.filter(
    ({ id, level, profile }) =>
      level === 'MUST' && profile !== undefined && wanted.has(profile) && !covered.has(id),
  );
  return { profiles: names, unbuilt: unbuiltOf(wanted, catalogue.checks), uncovered };
}

/** One sentence for each kind of gap; empty if everything is covered. */
export function scopeNotes({ unbuilt, uncovered }: Scope): readonly string[] {
  const ids = uncovered
    .filter(({ profile }) => unbuilt.every((name) => name !== profile))
    .map(({ id }) => id);
  const notes: string[] = [];
  if (unbuilt.length > 0) {
    notes.push(`no checks in this version of the suite, so nothing is said about: ${unbuilt.join(', ')}`);
  }
  if (ids.length > 0) {
    const count = ids.length === 1 ? '1 MUST' : `${ids.length} MUSTs`;
    notes.push(`no check of these profiles covers ${count}: ${ids.join(', ')}`);
  }
  return notes;
}

export function expandProfiles(names: readonly ProfileName[]): ReadonlySet<Profile> {
  const full = profiles.filter((name) => name !== 'model');
  return new Set(names.flatMap((name) => (name === 'full' ? full : [name])));
}

/** The profiles that have no checks. */
export function unbuiltOf(wanted: ReadonlySet<Profile>, all: readonly Check[]): readonly Profile[] {
  return [...wanted].filter((profile) => all.every((check) => check.profile !== profile));
}
