// The join of what is required with what ran and what of that is proved. Pure: data in, findings out. Each finding says what is wrong, where,
// and what to do about it.
import { type Coverage, type CoverageKind, coverageKinds, type Requirement } from './catalogue.ts';
import type { Evidence } from './evidence.ts';

export type Finding = {
  /** The id concerned, whether or not it is a requirement. */
  readonly id: string;
  readonly text: string;
};

/** What ran for one requirement: per kind, each file or check and whether all of its occurrences passed. */
export type Shown = { readonly [Kind in CoverageKind]: ReadonlyMap<string, boolean> };

export const nothingShown: Shown = { features: new Map(), tests: new Map(), checks: new Map() };
const rewriteHint = 'run the tests, then .tools/traceability.ts --write';

/** What ran, and what of it a planted fault proves: the rest are claims. */
export type Run = { readonly evidence: readonly Evidence[]; readonly proved: readonly Evidence[] };

/** Everything that does not fit together, requirements in catalogue order, unknown ids last. */
export function findFaults(requirements: readonly Requirement[], run: Run): readonly Finding[] {
  const claimed = groupByRequirement(run.evidence);
  const proved = groupByRequirement(run.proved);
  const known = new Set(requirements.map((requirement) => requirement.id));
  return [
    ...requirements.flatMap((requirement) => {
      const { id, withdrawn } = requirement;
      const claims = claimed.get(id) ?? nothingShown;
      if (withdrawn !== undefined) return judgeWithdrawn(requirement, claims);
      const proof = proved.get(id) ?? nothingShown;
      const bare = bareClaims(proof, claims);
      return bare.length > 0 ? [claimFinding(requirement, bare)] : judge(requirement, shownOf(proof, claims));
    }),
    ...run.evidence.filter((item) => !known.has(item.id)).map(unknownId),
  ].filter(firstOfItsKind());
}

/** What is proved; without any proof, what ran and failed. */
function shownOf(proof: Shown, claims: Shown): Shown {
  return coverageOf(proof) === undefined ? claims : proof;
}

/** What passed and names a requirement that nothing proves. */
function bareClaims(proof: Shown, claims: Shown): readonly string[] {
  return coverageOf(proof) === undefined ? Object.values(coverageOf(claims) ?? {}).flat() : [];
}

/** What passed for a requirement, as it belongs into the catalogue; undefined when nothing did. Sorted, so that diffs are small. */
export function coverageOf(shown: Shown): Coverage | undefined {
  const lists = coverageKinds.map((kind) => [kind, passedIn(shown, kind)] as const);
  const filled = lists.filter(([, list]) => list.length > 0);
  return filled.length === 0 ? undefined : Object.fromEntries(filled);
}

/** One failed occurrence spoils the file or check for that requirement. */
export function groupByRequirement(evidence: readonly Evidence[]): ReadonlyMap<string, Shown> {
  const groups = new Map<string, { [Kind in CoverageKind]: Map<string, boolean> }>();
  for (const { kind, id, by, passed } of evidence) {
    const group = groups.get(id) ?? { features: new Map(), tests: new Map(), checks: new Map() };
    group[kind].set(by, passed && group[kind].get(by) !== false);
    groups.set(id, group);
  }
  return groups;
}

function judge(requirement: Requirement, shown: Shown): readonly Finding[] {
  if (requirement.coveredBy === undefined) return judgeUncovered(requirement, shown);
  return [...judgePlanBesideCoverage(requirement), ...judgeLists(requirement, requirement.coveredBy, shown)];
}

function claimFinding({ id }: Requirement, names: readonly string[]): Finding {
  return {
    id,
    text: `is named by ${names.join(', ')}, and none of them is proved to fail when it is broken: plant a fault that breaks it in fixtures/faults and run npm run proof.`,
  };
}

function judgeWithdrawn(requirement: Requirement, shown: Shown): readonly Finding[] {
  const { id, planned, coveredBy } = requirement;
  const listed =
    planned === undefined && coveredBy === undefined ? [] : ['remove planned and coveredBy from it'];
  const cited = coverageKinds.flatMap((kind) =>
    [...shown[kind].keys()].map((by) => `${by} still names it; name another requirement there`),
  );
  return [...listed, ...cited].map((what) => ({ id, text: `is withdrawn: ${what}.` }));
}

function judgeUncovered({ id, planned }: Requirement, shown: Shown): readonly Finding[] {
  const coverage = coverageOf(shown);
  if (planned === undefined) {
    return [
      { id, text: `is neither covered nor planned: write a test that names it, or plan it; ${rewriteHint}.` },
    ];
  }
  if (coverage === undefined) return [];
  const by = Object.values(coverage).flat().join(', ');
  return [{ id, text: `is planned for ${planned}, but ${by} covers it already: ${rewriteHint}.` }];
}

function judgePlanBesideCoverage({ id, planned }: Requirement): readonly Finding[] {
  if (planned === undefined) return [];
  return [{ id, text: `is both covered and planned for ${planned}: remove the plan.` }];
}

function judgeLists({ id }: Requirement, coveredBy: Coverage, shown: Shown): readonly Finding[] {
  return coverageKinds.flatMap((kind) => {
    const listed = coveredBy[kind] ?? [];
    const missing = listed.filter((by) => shown[kind].get(by) !== true);
    const unlisted = passedIn(shown, kind).filter((by) => !listed.includes(by));
    return [
      ...missing.map((by) => ({
        id,
        text: `coveredBy.${kind} lists ${by}, which ${whyNot(shown, kind, by)}`,
      })),
      ...unlisted.map((by) => ({
        id,
        text: `coveredBy.${kind} lacks ${by}, which ran with its id: ${rewriteHint}.`,
      })),
    ];
  });
}

function whyNot(shown: Shown, kind: CoverageKind, by: string): string {
  return shown[kind].has(by)
    ? 'ran with its id and did not pass: repair it.'
    : `did not run with its id: bring it back, or ${rewriteHint}.`;
}

function passedIn(shown: Shown, kind: CoverageKind): readonly string[] {
  return [...shown[kind]].flatMap(([by, passed]) => (passed ? [by] : [])).sort();
}

function unknownId({ id, kind, by }: Evidence): Finding {
  return {
    id,
    text: `is named by ${by} (${kind}) and is no requirement: correct it there, or add it to spec/requirements/.`,
  };
}

/** The same finding about a file is one finding, however many of its tests cause it. */
function firstOfItsKind(): (finding: Finding) => boolean {
  const seen = new Set<string>();
  return ({ id, text }) => {
    const key = `${id} ${text}`;
    return !seen.has(key) && seen.add(key).has(key);
  };
}
