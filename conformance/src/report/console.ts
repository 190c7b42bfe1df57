// The console report, written during the run: one line for each check, the explanation of a failure below it, and at the end two lines:
// the verdict and the gate. Pure: events in, lines out.
import { countText } from '../count-text.ts';
import type { Outcome, Warning } from '../outcome.ts';
import type { TraceEvent } from '../trace.ts';
import type { Counts, Verdict } from '../verdict.ts';
import { countOutcomes } from '../verdict.ts';
import type {
  LogEvent,
  LogFinish,
  LoggedCause,
  LoggedResult,
  LoggedRule,
  LogHeader,
  RunLog,
} from './event-log.ts';
import { targetOfLog, verdictOfLog } from './event-log.ts';
import type { TraceRow } from './folded-trace.ts';
import { foldedTrace, pollsText, shownRows, shownText } from './folded-trace.ts';
import { gateStatusOf, unshownStepText } from './gate-status.ts';
import { flipLines, notRightLines, shortList } from './outcome-summary.ts';
import { visibleLine, visibleText } from './visible-text.ts';

export type TraceChoice = 'off' | 'fail' | 'all';

export type ConsoleSetting = {
  readonly trace: TraceChoice;
  readonly color: boolean;
  /** Prints only the checks that keep the gate closed, and the end. */
  readonly quiet?: boolean;
};

const shownEventCount = 24;
const shownHexLength = 160;
const shownLogLineCount = 15;
/** The maximum number of check ids in one line. */
const shownCheckCount = 12;

const marks: Readonly<Record<Outcome, readonly [mark: string, color: number]>> = {
  pass: ['pass', 32],
  fail: ['FAIL', 31],
  blocked: ['blkd', 35],
  warn: ['warn', 33],
  'not applicable': ['n/a ', 90],
  'not shown': ['????', 35],
  'could not run': ['----', 35],
  error: ['ERR ', 31],
};

/** Prints one run, event by event. It remembers the explained causes, so that each cause is explained once. */
export class ConsolePrinter {
  readonly #setting: ConsoleSetting;
  readonly #results: LoggedResult[] = [];
  /** The explained causes of failures, each with the result that has the explanation. */
  readonly #explained = new Map<string, string>();
  #isStrict = false;

  constructor(setting: ConsoleSetting) {
    this.#setting = setting;
  }

  /** The lines for one event. With `quiet`, no lines for the start and for checks that do not close the gate. */
  lines(event: LogEvent): readonly string[] {
    switch (event.type) {
      case 'run started':
        this.#isStrict = event.options.strict;
        return this.#setting.quiet === true ? [] : startLines(event);
      case 'check finished':
        return this.#resultLines(event.result);
      case 'run finished':
        return endLines(event, this.#summary());
    }
  }

  /** The end lines of a log without its last event. */
  unendedLines(log: RunLog): readonly string[] {
    return unendedLines(log, this.#summary());
  }

  #resultLines(result: LoggedResult): readonly string[] {
    this.#results.push(result);
    const standing = gateStatusOf(result, this.#isStrict);
    if (this.#setting.quiet === true && standing !== 'failed' && standing !== 'broken') return [];
    const cause = causeKey(result);
    const explainedAt = cause === undefined ? undefined : this.#explained.get(cause);
    if (cause !== undefined && explainedAt === undefined) this.#explained.set(cause, labelOf(result));
    return resultLines(result, this.#setting, explainedAt);
  }

  #summary(): readonly string[] {
    return [...flipLines(this.#results), ...notRightLines(this.#results, this.#isStrict)];
  }
}

/** Equal for failures with the same cause: the broken requirement and the reason. */
function causeKey({ id, outcome, reason, reliesOn, clause, clauses }: LoggedResult): string | undefined {
  const isExplained = outcome === 'fail' || outcome === 'warn' || outcome === 'error';
  if (!isExplained || reason === undefined) return undefined;
  // Names of queues and messages contain the id of their check.
  const ownNames = new RegExp(`\\S*${id.toLowerCase()}\\S*`, 'g');
  return `${reliesOn ?? clause ?? clauses[0] ?? ''} ${reason.replace(ownNames, 'NAME')}`;
}

/** `CONN-001a`, from the second repetition on with its number. */
function labelOf({ id, repetition }: LoggedResult): string {
  return repetition === 1 ? id : `${id} (repetition ${repetition})`;
}

/** The console report of a whole log. */
export function consoleReport(log: RunLog, setting: ConsoleSetting): readonly string[] {
  const printer = new ConsolePrinter(setting);
  const { header, results, finish } = log;
  const start = printer.lines(header);
  const checks = results.flatMap((result) => printer.lines({ type: 'check finished', result }));
  const end = finish === undefined ? printer.unendedLines(log) : printer.lines(finish);
  return [...start, ...checks, ...end];
}

function startLines({ target, seed, plan, assigned, options, shard }: LogHeader): readonly string[] {
  const repeated = options.repeat === 1 ? '' : `, ${options.repeat} times`;
  const part = shard === undefined ? '' : `, shard ${shard.index} of ${shard.count}`;
  const count = (assigned ?? plan).length;
  const name = visibleLine(target.name);
  return [`${name}: ${countText(count, 'check')}${repeated}${part}, seed ${seed}, wire ${options.wire}`, ''];
}

/** `explainedAt`: the result above that has the same cause. */
function resultLines(
  result: LoggedResult,
  setting: ConsoleSetting,
  explainedAt: string | undefined,
): readonly string[] {
  const [mark, color] = marks[result.outcome];
  const repetition = result.repetition === 1 ? '' : ` (repetition ${result.repetition})`;
  const head = `${paint(mark, color, setting.color)} ${result.id} ${visibleLine(result.title)}${repetition} ${duration(result.durationMs)}`;
  const expected =
    result.baseline === undefined ? [] : [`expected by the baseline: ${result.baseline.reason}`];
  const warnings = result.warnings.flatMap((warning) => warningLines(warning, result));
  const notes = result.notes.map((note) => `note: ${note}`);
  const traced = setting.trace === 'all' ? traceLines(result, result.trace.length) : [];
  const why = explainedAt === undefined ? explanation(result, setting) : [`as ${explainedAt} above`];
  return [head, ...indented([...expected, ...why, ...warnings, ...notes, ...traced])];
}

function explanation(result: LoggedResult, setting: ConsoleSetting): readonly string[] {
  switch (result.outcome) {
    case 'pass':
      return [];
    case 'blocked':
      return [blockedText(result)];
    case 'not applicable':
      // A check of an unused MAY has a note instead of a reason.
      return result.reason === undefined || result.notes.length > 0 ? [] : [`because ${result.reason}`];
    case 'not shown':
      if (result.requiredStep !== undefined)
        return [`because ${unshownStepText(result)}`, ...failureLines(result, setting)];
      return [`because ${result.reason ?? 'of an unknown reason'}`];
    case 'could not run':
      return [`because ${result.reason ?? 'of an unknown reason'}`];
    case 'warn':
      return result.reason === undefined ? [] : failureLines(result, setting);
    case 'fail':
    case 'error':
      return failureLines(result, setting);
  }
}

/** `could not be shown: it needs DELIVERY-010, which DELIVERY-010a shows broken` */
export function blockedText({ blockedBy }: LoggedResult): string {
  const { clause, shownBy } = blockedBy ?? { clause: 'another requirement', shownBy: [] };
  const [first = 'another check', ...others] = shownBy;
  const who = others.length === 0 ? `${first} shows` : `${shortList(shownBy, shownCheckCount)} show`;
  return `could not be shown: it needs ${clause}, which ${who} broken`;
}

/** Explains a failure: the reason, the rule, the expected and accepted outcomes, the actual one, the last frames, the command to repeat it. */
export function failureLines(result: LoggedResult, { trace }: ConsoleSetting): readonly string[] {
  const lines = [`${result.reason ?? ''}`, ...ruleLines(result.clause ?? result.clauses[0] ?? '', result)];
  if (result.expected !== undefined) lines.push(`expected: ${result.expected}`);
  lines.push(...result.accepts.map((accepted) => `accepted: ${accepted}`));
  if (result.actual !== undefined) lines.push(`came:     ${result.actual}`);
  if (trace === 'fail') lines.push(...traceLines(result, shownEventCount));
  if (result.brokerLog.length > 0) {
    const last = result.brokerLog.slice(-shownLogLineCount).map((line) => `| ${line}`);
    lines.push('broker log:', ...indented(last));
  }
  return [...lines, `again:    ${result.reproduce}`, ''];
}

function warningLines(warning: Warning, result: LoggedResult): readonly string[] {
  const came = warning.actual === undefined ? '' : `; came: ${warning.actual}`;
  return [`warning: ${warning.text}${came}`, ...ruleLines(warning.clause, result)];
}

/** `FRAME-004 (MUST): A frame with ..` */
function ruleLines(id: string, { rules }: { readonly rules: readonly LoggedRule[] }): readonly string[] {
  const rule = rules.find((candidate) => candidate.id === id);
  if (rule === undefined) return [id];
  const alternatives = (rule.alternatives ?? []).map((text) => `  also right: ${text}`);
  return [`${id} (${rule.level}): ${rule.sentence}`, ...alternatives];
}

/** The last `count` rows of the trace, or those around the frame that broke a requirement, with repeated polls folded. */
export function traceLines(
  { trace, brokenAtMs }: Pick<LoggedResult, 'trace' | 'brokenAtMs'>,
  count: number,
): readonly string[] {
  if (trace.length === 0) return [];
  const rows = foldedTrace(trace);
  const shown = shownRows(rows, count, brokenAtMs);
  const head = shownText(rows, shown, brokenAtMs) ?? 'what went over the wire';
  return [`${head}:`, ...shown.flatMap((row) => indented(rowLines(row)))];
}

function rowLines(row: TraceRow): readonly string[] {
  if (row.kind === 'event') return eventLines(row.event);
  return [`${atText(row.request)} ${row.request.connection} <> ${visibleLine(pollsText(row))}`];
}

/** `     12.3 ms` */
function atText({ atMs }: TraceEvent): string {
  return `${atMs.toFixed(1).padStart(9)} ms`;
}

const arrows: Readonly<Record<TraceEvent['kind'], string>> = {
  opened: '--',
  sent: '->',
  received: '<-',
  closed: '--',
  undecodable: '<?',
  http: 'ht',
};

/** `     12.3 ms A -> Ping id=c-1` */
export function eventLine(event: TraceEvent): string {
  return `${atText(event)} ${event.connection} ${arrows[event.kind]} ${visibleLine(event.text)}`;
}

function eventLines(event: TraceEvent): readonly string[] {
  const head = eventLine(event);
  if (event.byteCount === 0 || event.kind === 'http') return [head];
  const more = event.hex.length > shownHexLength || event.byteCount * 2 > event.hex.length;
  const hex = `${event.hex.slice(0, shownHexLength)}${more ? `.. (${event.byteCount} bytes)` : ''}`;
  return [head, `${' '.repeat(16)}${hex}`];
}

function endLines(
  { target, counts, verdict, notes, causes = [] }: LogFinish,
  summary: readonly string[],
): readonly string[] {
  const seen = notes.map((note) => `note: ${visibleLine(note)}`);
  return [
    '',
    ...causeLines(causes),
    ...summary,
    outcomeCountsText(counts),
    ...seen,
    ...reasonDetails(verdict),
    ...verdictLines(target.name, verdict),
  ];
}

/** The broken rules, the one that blocks most first. */
function causeLines(causes: readonly LoggedCause[]): readonly string[] {
  if (causes.length === 0) return [];
  const lines = causes.flatMap(({ id, level, sentence, shownBy, blocked }) => [
    `${id} (${level}): ${sentence}`,
    `     shown by ${shortList(shownBy, shownCheckCount)}${blockedList(blocked)}`,
  ]);
  return ['Not kept, what blocks most first:', ...lines, ''];
}

function blockedList(ids: readonly string[]): string {
  return ids.length === 0 ? '' : `; blocks ${ids.length}: ${shortList(ids, shownCheckCount)}`;
}

function unendedLines(log: RunLog, summary: readonly string[]): readonly string[] {
  const counts = outcomeCountsText(countOutcomes(log.results));
  const verdict = verdictOfLog(log);
  return ['', ...summary, counts, ...reasonDetails(verdict), ...verdictLines(targetOfLog(log).name, verdict)];
}

/** The lines of the reason after the first one, which the line of the gate shows: for example the last lines of a broker's log. */
function reasonDetails({ reason }: Verdict): readonly string[] {
  return indented(reason.split('\n').slice(1));
}

/** `311 pass, 2 warn` */
export function outcomeCountsText(counts: Counts): string {
  const some = Object.entries(counts).filter(([, count]) => count > 0);
  return some.length === 0
    ? 'no check ran'
    : some.map(([outcome, count]) => `${count} ${outcome}`).join(', ');
}

/** Always two lines: the verdict and the gate. */
export function verdictLines(targetName: string, verdict: Verdict): readonly [string, string] {
  const name = visibleLine(targetName);
  const scope = scopeText(verdict);
  const about = scope === '' ? '' : ` to ${scope}`;
  const part = ` in the part that was run${scope === '' ? '' : `: ${scope}`}`;
  const statuses = {
    conformant: `${name} is CONFORMANT${verdict.partial ? part : about}.`,
    'not conformant': `${name} is NOT CONFORMANT${about}.`,
    undetermined: `${name} is NOT SHOWN to be conformant${about}: the run is not complete.`,
  } as const;
  const [reason = ''] = verdict.reason.split('\n');
  return [
    statuses[verdict.status],
    `The gate is ${verdict.gate} (exit code ${verdict.exitCode}): ${visibleLine(reason)}.`,
  ];
}

/** `profile full (without auth and tls, which have no checks yet)` */
function scopeText({ scope }: Verdict): string {
  if (scope === undefined) return '';
  const { profiles, unbuilt } = scope;
  const names = `${profiles.length === 1 ? 'profile' : 'profiles'} ${listText(profiles)}`;
  const verb = unbuilt.length === 1 ? 'has' : 'have';
  return unbuilt.length === 0
    ? names
    : `${names} (without ${listText(unbuilt)}, which ${verb} no checks yet)`;
}

/** `a, b and c` */
function listText(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} and ${last}`;
}

function paint(text: string, color: number, on: boolean): string {
  return on ? `\u001b[${color}m${text}\u001b[0m` : text;
}

export function duration(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** Indents every line, because a CI system executes a line that starts with `::` as a command. */
function indented(lines: readonly string[]): readonly string[] {
  const single = lines.flatMap((line) => visibleText(line).replaceAll('\n', '\n| ').split('\n'));
  return single.map((line) => (line === '' ? '' : `     ${line}`));
}
