// The report as TAP, version 14: one test point for each check, and one for the run as a whole. A check that could not run is `not ok`,
// because TAP counts SKIP as passed. A check that does not apply is SKIP; a failure that the baseline expects is `todo`.
import { failureLines } from './console.ts';
import type { LoggedResult, RunLog } from './event-log.ts';
import { targetLabel, verdictOfLog } from './event-log.ts';
import { caseName, gateStatusOf, headline, wholeRunFault } from './gate-status.ts';
import { visibleLine, visibleText } from './visible-text.ts';

export function tapText(log: RunLog): string {
  const points = log.results.map((result) => checkPoint(result, log.header.options.strict));
  const all = [...points, runPoint(log)];
  const { name, version } = log.header.runner;
  const head = [
    'TAP version 14',
    `# ${visibleLine(targetLabel(log))}, seed ${log.header.seed}, ${name} ${version}`,
  ];
  const lines = all.flatMap((point, index) => pointLines(point, index + 1));
  return `${[...head, `1..${all.length}`, ...lines].join('\n')}\n`;
}

type Point = {
  readonly ok: boolean;
  readonly name: string;
  readonly directive?: string;
  readonly detail?: Readonly<Record<string, string>>;
};

function checkPoint(result: LoggedResult, strict: boolean): Point {
  const name = caseName(result);
  switch (gateStatusOf(result, strict)) {
    case 'passed':
      return {
        ok: true,
        name,
        ...(result.outcome === 'warn' ? { detail: { warning: headline(result) } } : {}),
      };
    case 'skipped':
      return { ok: true, name, directive: `SKIP ${headline(result)}` };
    case 'expected':
      return {
        ok: false,
        name,
        directive: `todo ${result.baseline?.reason ?? ''}`,
        detail: detailOf(result),
      };
    case 'failed':
    case 'broken':
      return { ok: false, name, detail: detailOf(result) };
  }
}

function detailOf(result: LoggedResult): Readonly<Record<string, string>> {
  const { outcome, reproduce, expected, actual } = result;
  return {
    message: headline(result),
    severity: outcome,
    rule: result.clause ?? result.clauses[0] ?? '',
    ...(expected === undefined ? {} : { wanted: expected }),
    ...(actual === undefined ? {} : { found: actual }),
    reproduce,
    explanation: failureLines(result, { trace: 'fail', color: false }).join('\n'),
  };
}

function runPoint(log: RunLog): Point {
  const fault = wholeRunFault(log);
  const name = 'the run as a whole';
  if (fault === undefined) return { ok: true, name };
  return { ok: false, name, detail: { message: fault, severity: `exit code ${verdictOfLog(log).exitCode}` } };
}

function pointLines({ ok, name, directive, detail }: Point, number: number): readonly string[] {
  const told = directive === undefined ? '' : ` # ${visibleLine(directive)}`;
  const head = `${ok ? 'ok' : 'not ok'} ${number} - ${escaped(name)}${told}`;
  return detail === undefined ? [head] : [head, ...yamlLines(detail)];
}

/** Escapes the hash, which starts a directive. */
function escaped(name: string): string {
  return visibleLine(name).replaceAll('\\', '\\\\').replaceAll('#', '\\#');
}

/** JSON strings are YAML. */
function yamlLines(detail: Readonly<Record<string, string>>): readonly string[] {
  const entries = Object.entries(detail).map(
    ([key, value]) => `  ${key}: ${JSON.stringify(visibleText(value))}`,
  );
  return ['  ---', ...entries, '  ...'];
}
