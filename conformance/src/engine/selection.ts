// Selects the checks of a run by profile, level and pattern. Pure. A pattern without a match and an empty selection are usage errors,
// because a run without checks must never look like a success.
import type { Catalogue } from '../catalogue.ts';
import type { Level, Profile, ProfileName } from '../catalogue-words.ts';
import { isAtLeast } from '../catalogue-words.ts';
import type { Check } from '../check.ts';
import { countText } from '../count-text.ts';
import { didYouMean, UsageError } from '../usage-error.ts';
import type { Scope } from './scope.ts';
import { expandProfiles, scopeOf, unbuiltOf } from './scope.ts';

export type SelectionRequest = {
  /** Empty: the profiles that the target claims. */
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
  /** The checks of claimed profiles that the selection leaves out; checks of the other shards are not among them. */
  readonly leftOutCount: number;
  /** What the verdict covers, and what it does not cover. */
  readonly scope: Scope;
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
  const names = request.profiles.length === 0 ? (claims ?? ['core']) : request.profiles;
  const wanted = expandProfiles(names);
  refuseOutside(request, wanted, catalogue);
  const isSelected = selecting(request, wanted);
  const checks = catalogue.checks.filter((check) => isSelected(check, catalogue.levelOf(check)));
  if (checks.length === 0) throw new UsageError(emptyText(request, wanted, catalogue.checks));
  const leftOut = catalogue.checks.filter((check) => claimed.has(check.profile) && !checks.includes(check));
  const scope = scopeOf(catalogue, names);
  return { checks, claimed, leftOutCount: leftOut.length, scope };
}

export type Shard = {
  /** From 1. */
  readonly index: number;
  readonly count: number;
};

/**
 * One shard of a selection. It depends on the ids alone, so that all runs agree. Checks that take long (those that wait for timers and
 * those with their own broker) are distributed evenly. Throws a UsageError if the shard is empty.
 */
export function shardOf(selection: Selection, shard: Shard | undefined): Selection {
  if (shard === undefined || shard.count === 1) return selection;
  const dealt = [...selection.checks].sort((a, b) => (dealKey(a) < dealKey(b) ? -1 : 1));
  const mine = new Set(dealt.filter((_, index) => index % shard.count === shard.index - 1));
  if (mine.size === 0) {
    const text = `shard ${shard.index} of ${shard.count} is empty: the selection has only ${countText(selection.checks.length, 'check')}`;
    throw new UsageError(text);
  }
  return {
    ...selection,
    checks: selection.checks.filter((check) => mine.has(check)),
    plan: selection.checks,
  };
}

function dealKey({ id, waits, isolation = 'shared' }: Check): string {
  return `${waits === true ? 'waits' : 'brief'} ${isolation} ${id}`;
}

function selecting(
  request: SelectionRequest,
  wanted: ReadonlySet<Profile>,
): (check: Check, level: Level) => boolean {
  const [only, skip] = [request.only.map(fitting), request.skip.map(fitting)];
  return (check, level) => {
    if (skip.some((fits) => fits(check))) return false;
    if (!isAtLeast(level, request.level)) return false;
    if (only.length > 0 && !only.some((fits) => fits(check))) return false;
    return wanted.has(check.profile);
  };
}

/** An area (`FRAME`), a requirement (`FRAME-004`), a check (`FRAME-004a`), or any of these with `*`. */
export function patternFits(pattern: string, check: Check): boolean {
  return fitting(pattern)(check);
}

function fitting(pattern: string): (check: Check) => boolean {
  const expression = new RegExp(`^${pattern.split('*').map(escaped).join('.*')}$`, 'i');
  return ({ id, clauses }) => {
    const names = [id, id.slice(0, -1), id.slice(0, id.indexOf('-')), ...clauses];
    return names.some((name) => expression.test(name));
  };
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

function refuseUnmatched(flag: string, patterns: readonly string[], checks: readonly Check[]): void {
  for (const pattern of patterns) {
    if (checks.some(fitting(pattern))) continue;
    const known = checks.map((check) => check.id);
    throw new UsageError(didYouMean(`${flag} ${pattern} matches no check`, pattern, known));
  }
}

/** Refuses a pattern of --only that selects nothing, because its checks have other profiles or a lower level; names the flag for them. */
function refuseOutside(request: SelectionRequest, wanted: ReadonlySet<Profile>, catalogue: Catalogue): void {
  for (const pattern of request.only) {
    const matching = catalogue.checks.filter(fitting(pattern));
    const within = matching.filter(({ profile }) => wanted.has(profile));
    if (within.length === 0) throw new UsageError(otherProfilesText(pattern, matching, request));
    if (within.some((check) => isAtLeast(catalogue.levelOf(check), request.level))) continue;
    const text = `--only ${pattern} matches only checks below level ${request.level}; to run them, use --level MAY`;
    throw new UsageError(text);
  }
}

function otherProfilesText(
  pattern: string,
  matching: readonly Check[],
  { profiles: asked }: SelectionRequest,
): string {
  const others = [...new Set(matching.map(({ profile }) => profile))];
  const which = `${others.length === 1 ? 'profile' : 'profiles'} ${others.join(', ')}`;
  const why = asked.length === 0 ? 'the target does not claim' : `--profile ${asked.join(',')} leaves out`;
  return `--only ${pattern} matches only checks of ${which}, which ${why}; to run them, use --profile ${others.join(',')}`;
}

function emptyText(request: SelectionRequest, wanted: ReadonlySet<Profile>, all: readonly Check[]): string {
  const unbuilt = unbuiltOf(wanted, all);
  if (unbuilt.length === wanted.size) {
    const subject =
      unbuilt.length === 1 ? `profile ${unbuilt[0]} has` : `profiles ${unbuilt.join(', ')} have`;
    return `the selection is empty: ${subject} no checks in this version of the suite`;
  }
  const names = [...wanted].join(', ');
  return `the selection is empty: no check of profile ${names} at level ${request.level} or above is left`;
}
