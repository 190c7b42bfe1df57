// The findings and totals as text for people. Must not decide anything: what counts as a failure is join.ts's business.
import { renderTable } from '../table.ts';
import type { Area, Requirement } from './catalogue.ts';
import type { Finding } from './join.ts';

const header = ['area', 'requirements', 'judged', 'tested', 'planned', 'of these MUST'] as const;

/** One line per area and a last one for all: how many requirements the runner judges, tests cover, ..; then what is wrong, one line each; then `N passed, N failed`. */
export function renderReport(areas: readonly Area[], findings: readonly Finding[]): string {
  const failed = new Set(findings.map((finding) => finding.id));
  const living = areas.flatMap((area) => area.requirements).filter(isLiving);
  const passedCount = living.filter((requirement) => !failed.has(requirement.id)).length;
  return [
    areaTable(areas),
    ...findings.map((finding) => `${finding.id} ${finding.text}`),
    `${passedCount} passed, ${failed.size} failed`,
    '',
  ].join('\n');
}

/** For a run that could not be judged: what is missing, and a count that nobody can take for a pass. */
export function renderProblems(problems: readonly string[]): string {
  return [...problems, `0 passed, ${problems.length} failed`, ''].join('\n');
}

function areaTable(areas: readonly Area[]): string {
  const total = { area: 'all', requirements: areas.flatMap((area) => area.requirements) };
  return renderTable([header, ...[...areas, total].map(tableRow)]);
}

function tableRow({ area, requirements }: Pick<Area, 'area' | 'requirements'>): readonly string[] {
  const living = requirements.filter(isLiving);
  const planned = living.filter((requirement) => requirement.planned !== undefined);
  const must = planned.filter((requirement) => requirement.level === 'MUST');
  const judged = living.filter(({ coveredBy }) => coveredBy?.checks !== undefined);
  const tested = living.filter(
    ({ coveredBy }) => coveredBy?.features !== undefined || coveredBy?.tests !== undefined,
  );
  const counts = [living.length, judged.length, tested.length, planned.length, must.length];
  return [area, ...counts.map(String)];
}

function isLiving(requirement: Requirement): boolean {
  return requirement.withdrawn === undefined;
}
