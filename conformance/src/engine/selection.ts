// Which checks a run is about: by profile, level and pattern. Pure. A pattern that matches nothing and a selection that leaves nothing
// are usage errors, because a run of nothing must never look like a success.
import type { Catalogue } from '../catalogue.ts';
import type { Level, Profile, ProfileName } from '../catalogue-words.ts';
import { isAtLeast, profiles } from '../catalogue-words.ts';
import type { Check } from '../check.ts';
import { didYouMean, UsageError } from '../usage-error.ts';

export type SelectionRequest = {
  /** Empty: what the target claims. */
  readonly profiles: readonly ProfileName[];
  /** The lowest level that is run. */
  readonly level: Level;
  readonly only: readonly string[];
  readonly skip: readonly string[];
};

export type Selection = {
  readonly checks: readonly Check[];
  /** The checks of all runs together, where this one is a shard; reports of shards are merged by it. Absent: `checks`. */
  readonly plan?: readonly Check[];
  readonly claimed: ReadonlySet<Profile>;
  /** The checks of claimed profiles that the selection leaves out. */
  readonly leftOutCount: number;
};

/** `claims`: what the target file claims; core when it claims nothing. Throws a UsageError. */
export function selectChecks(
  catalogue: Catalogue,
  request: SelectionRequest,
  claims: readonly ProfileName[] | undefined,
): Selection {
  refuseUnmatched('--only', request.only, catalogue.checks);
  refuseUnmatched('--skip', request.skip, catalogue.checks);
  const claimed = expandProfiles(claims ?? ['core']);
  const wanted = request.profiles.length === 0 ? claimed : expandProfiles(request.profiles);
  const checks = catalogue.checks.filter((check) =>
    isSelected(check, catalogue.levelOf(check), request, wanted),
  );
  if (checks.length === 0) throw new UsageError(emptyText(request, wanted));
  const leftOut = catalogue.checks.filter((check) => claimed.has(check.profile) && !checks.includes(check));
  return { checks, claimed, leftOutCount: leftOut.length };
}

export function expandProfiles(names: readonly ProfileName[]): ReadonlySet<Profile> {
  return new Set(names.flatMap((name) => (name === 'full' ? profiles : [name])));
}

/** A check named by --only runs whatever its profile: who names it wants it. */
function isSelected(
  check: Check,
  level: Level,
  request: SelectionRequest,
  wanted: ReadonlySet<Profile>,
): boolean {
  if (request.skip.some((pattern) => patternFits(pattern, check))) return false;
  if (!isAtLeast(level, request.level)) return false;
  if (request.only.length > 0 && !request.only.some((pattern) => patternFits(pattern, check))) return false;
  const anyProfile = request.only.length > 0 && request.profiles.length === 0;
  return anyProfile || wanted.has(check.profile);
}

/** An area (`FRAME`), a requirement (`FRAME-004`), a check (`FRAME-004a`), or any of these with `*`. */
export function patternFits(pattern: string, check: Check): boolean {
  const area = check.id.slice(0, check.id.indexOf('-'));
  const names = [check.id, check.id.slice(0, -1), area, ...check.clauses];
  const expression = new RegExp(`^${pattern.split('*').map(escaped).join('.*')}$`, 'i');
  return names.some((name) => expression.test(name));
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

function refuseUnmatched(flag: string, patterns: readonly string[], checks: readonly Check[]): void {
  for (const pattern of patterns) {
    if (checks.some((check) => patternFits(pattern, check))) continue;
    const known = checks.map((check) => check.id);
    throw new UsageError(didYouMean(`${flag} ${pattern} matches no check`, pattern, known));
  }
}

function emptyText(request: SelectionRequest, wanted: ReadonlySet<Profile>): string {
  const names = [...wanted].join(', ');
  return `the selection is empty: no check of profile ${names} at level ${request.level} or above is left`;
}
