// The report for people, written while the run goes on: one line for each check, everything that explains a failure below it, and
// at the end two lines: what the broker is, and what the gate says. Pure: events in, lines out.
import type { Catalogue } from '../catalogue.ts';
import type { RunReport, SuiteEvent } from '../engine/suite.ts';
import type { Outcome, Warning } from '../outcome.ts';
import type { CheckResult } from '../result.ts';
import type { TraceEvent } from '../trace.ts';
import type { Verdict } from '../verdict.ts';
import { countOutcomes } from '../verdict.ts';

export type TraceChoice = 'off' | 'fail' | 'all';

export type ConsoleSetting = {
  readonly catalogue: Catalogue;
  readonly trace: TraceChoice;
  readonly color: boolean;
};

const shownEventCount = 24;
const shownHexLength = 160;
const shownLogLineCount = 15;

const marks: Readonly<Record<Outcome, readonly [mark: string, color: number]>> = {
  pass: ['pass', 32],
  fail: ['FAIL', 31],
  warn: ['warn', 33],
  'not applicable': ['n/a ', 90],
  'could not run': ['----', 35],
  error: ['ERR ', 31],
};

/** The lines for one event. */
export function consoleLines(event: SuiteEvent, setting: ConsoleSetting): readonly string[] {
  switch (event.type) {
    case 'run started':
      return startLines(event);
    case 'check finished':
      return resultLines(event.result, setting);
    case 'run finished':
      return endLines(event.report);
  }
}

function startLines({ selection, options }: Extract<SuiteEvent, { type: 'run started' }>): readonly string[] {
  const repeated = options.repeat === 1 ? '' : `, ${options.repeat} times`;
  return [
    `${options.target.name}: ${selection.checks.length} checks${repeated}, seed ${options.seed}, wire ${options.wireMode}`,
    '',
  ];
}

function resultLines(result: CheckResult, setting: ConsoleSetting): readonly string[] {
  const [mark, color] = marks[result.outcome];
  const repetition = result.repetition === 1 ? '' : ` (repetition ${result.repetition})`;
  const head = `${paint(mark, color, setting.color)} ${result.id} ${result.title}${repetition} ${duration(result.durationMs)}`;
  const warnings = result.warnings.flatMap((warning) => indented(warningLines(warning, setting.catalogue)));
  const notes = indented(result.notes.map((note) => `note: ${note}`));
  const traced = setting.trace === 'all' ? indented(traceLines(result.trace, result.trace.length)) : [];
  return [head, ...explanation(result, setting), ...warnings, ...notes, ...traced];
}

function explanation(result: CheckResult, setting: ConsoleSetting): readonly string[] {
  switch (result.outcome) {
    case 'pass':
    case 'not applicable':
      return [];
    case 'could not run':
      return indented([`because ${result.reason ?? 'of an unknown reason'}`]);
    case 'warn':
      return result.reason === undefined ? [] : indented(failureLines(result, setting));
    case 'fail':
    case 'error':
      return indented(failureLines(result, setting));
  }
}

function failureLines(result: CheckResult, { catalogue, trace }: ConsoleSetting): readonly string[] {
  const lines = [
    `${result.reason ?? ''}`,
    ...clauseLines(result.clause ?? result.clauses[0] ?? '', catalogue),
  ];
  const accepts = catalogue.check(result.id)?.accepts ?? [];
  if (result.expected !== undefined) lines.push(`expected: ${result.expected}`);
  if (accepts.length > 0) lines.push(...accepts.map((accepted) => `accepted: ${accepted}`));
  if (result.actual !== undefined) lines.push(`came:     ${result.actual}`);
  if (trace === 'fail') lines.push(...traceLines(result.trace, shownEventCount));
  if (result.brokerLog.length > 0) {
    lines.push('broker log:', ...indented(result.brokerLog.slice(-shownLogLineCount)));
  }
  return [...lines, `again:    ${result.reproduce}`, ''];
}

function warningLines(warning: Warning, catalogue: Catalogue): readonly string[] {
  const came = warning.actual === undefined ? '' : `; came: ${warning.actual}`;
  return [`warning: ${warning.text}${came}`, ...clauseLines(warning.clause, catalogue)];
}

/** `FRAME-004 (MUST): A frame with ..` */
function clauseLines(clause: string, catalogue: Catalogue): readonly string[] {
  const requirement = catalogue.requirement(clause);
  if (requirement === undefined) return [`${clause}`];
  const alternatives = (requirement.alternatives ?? []).map((text) => `  also right: ${text}`);
  return [`${clause} (${requirement.level}): ${requirement.sentence}`, ...alternatives];
}

export function traceLines(events: readonly TraceEvent[], count: number): readonly string[] {
  if (events.length === 0) return [];
  const head =
    events.length > count ? `last ${count} of ${events.length} events:` : 'what went over the wire:';
  return [head, ...events.slice(-count).flatMap((event) => indented(eventLines(event)))];
}

const arrows: Readonly<Record<TraceEvent['kind'], string>> = {
  opened: '--',
  sent: '->',
  received: '<-',
  closed: '--',
  undecodable: '<?',
  http: 'ht',
};

function eventLines(event: TraceEvent): readonly string[] {
  const head = `${event.atMs.toFixed(1).padStart(9)} ms ${event.connection} ${arrows[event.kind]} ${event.text}`;
  if (event.byteCount === 0 || event.kind === 'http') return [head];
  const more = event.hex.length > shownHexLength || event.byteCount * 2 > event.hex.length;
  const hex = `${event.hex.slice(0, shownHexLength)}${more ? `.. (${event.byteCount} bytes)` : ''}`;
  return [head, `${' '.repeat(16)}${hex}`];
}

function endLines(report: RunReport): readonly string[] {
  const counts = Object.entries(countOutcomes(report.results)).filter(([, count]) => count > 0);
  const summary = counts.map(([outcome, count]) => `${count} ${outcome}`).join(', ');
  return ['', summary === '' ? 'no check ran' : summary, ...verdictLines(report.target.name, report.verdict)];
}

/** Always two lines: what the broker is, what the gate says. */
export function verdictLines(name: string, verdict: Verdict): readonly [string, string] {
  const scope = verdict.partial ? ' in the part that was run' : '';
  const statuses = {
    conformant: `${name} is CONFORMANT${scope}.`,
    'not conformant': `${name} is NOT CONFORMANT.`,
    undetermined: `${name} is NOT SHOWN to be conformant: the run is not complete.`,
  } as const;
  return [
    statuses[verdict.status],
    `The gate is ${verdict.gate} (exit code ${verdict.exitCode}): ${verdict.reason}.`,
  ];
}

function paint(text: string, color: number, on: boolean): string {
  return on ? `\u001b[${color}m${text}\u001b[0m` : text;
}

function duration(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function indented(lines: readonly string[]): readonly string[] {
  return lines.map((line) => (line === '' ? '' : `     ${line}`));
}
