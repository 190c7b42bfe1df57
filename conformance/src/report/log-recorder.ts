// Turns the events of a run into the lines of its event log. Pure; the time is injected. It adds everything that a report needs later (the
// texts of the rules, the accepted outcomes, the plan), and removes secrets.
import { createHash } from 'node:crypto';
import { arch, platform } from 'node:os';
import type { Catalogue } from '../catalogue.ts';
import type { Check } from '../check.ts';
import { causesOf } from '../engine/causes.ts';
import type { RunOptions, RunReport, SuiteEvent } from '../engine/suite.ts';
import type { CheckResult } from '../result.ts';
import type { TraceEvent } from '../trace.ts';
import { countOutcomes } from '../verdict.ts';
import { runnerIdentity } from '../version.ts';
import type { LogEvent, LogFinish, LoggedResult, LoggedRule, LogHeader, RunLog } from './event-log.ts';
import { byRepetitionAndId, logSchemaVersion } from './event-log.ts';

export type RecorderSetting = {
  readonly catalogue: Catalogue;
  /** Removes secrets. */
  readonly redact: <T>(value: T) => T;
  /** Keeps the whole trace of passed checks too. */
  readonly wholeTraces: boolean;
  readonly wallNow: () => Date;
};

/** Makes the log of one run during the run. */
export class LogRecorder {
  readonly #setting: RecorderSetting;
  readonly #results: LoggedResult[] = [];
  #header: LogHeader | undefined;
  #finish: LogFinish | undefined;

  constructor(setting: RecorderSetting) {
    this.#setting = setting;
  }

  /** The log so far. Throws before the run has started. */
  get log(): RunLog {
    if (this.#header === undefined) throw new Error('the run has not started');
    const results = [...this.#results].sort(byRepetitionAndId);
    return { header: this.#header, results, ...(this.#finish === undefined ? {} : { finish: this.#finish }) };
  }

  /** Records an event and returns it as a line of the log. */
  record(event: SuiteEvent): LogEvent {
    const logged = logEventOf(event, this.#setting);
    if (logged.type === 'run started') this.#header = logged;
    else if (logged.type === 'check finished') this.#results.push(logged.result);
    else this.#finish = logged;
    return logged;
  }
}

function logEventOf(event: SuiteEvent, setting: RecorderSetting): LogEvent {
  switch (event.type) {
    case 'run started':
      return setting.redact(headerOf(event, setting));
    case 'check finished':
      return { type: 'check finished', result: setting.redact(loggedResult(event.result, setting)) };
    case 'run finished':
      return setting.redact(finishOf(event.report, setting));
  }
}

type Started = Extract<SuiteEvent, { type: 'run started' }>;

function headerOf({ selection, options }: Started, { catalogue, wallNow }: RecorderSetting): LogHeader {
  const plan = idsOf(selection.plan ?? selection.checks);
  const { shard } = options;
  return {
    type: 'run started',
    schema: logSchemaVersion,
    runner: { ...runnerIdentity },
    suite: suiteOf(catalogue),
    platform: { node: process.version, os: `${platform()} ${arch()}` },
    startedAt: wallNow().toISOString(),
    target: targetFacts(options.target),
    seed: options.seed,
    options: loggedOptions(options),
    scope: scopeIn(selection, catalogue),
    partial: selection.leftOutCount > 0,
    ...(shard === undefined ? {} : { shard }),
    plan,
    planDigest: digestOf(plan.join('\n')),
    ...(selection.plan === undefined ? {} : { assigned: idsOf(selection.checks) }),
  };
}

function scopeIn({ scope }: Started['selection'], catalogue: Catalogue): NonNullable<LogHeader['scope']> {
  const { profiles, unbuilt, uncovered } = scope;
  return {
    profiles,
    unbuilt,
    uncovered: rulesOf(
      uncovered.map(({ id }) => id),
      catalogue,
    ),
  };
}

function idsOf(checks: readonly Check[]): readonly string[] {
  return checks.map((check) => check.id).sort();
}

function targetFacts(target: RunOptions['target']): LogHeader['target'] {
  const { name, version, url, lifecycle, profiles, capabilities } = target;
  return {
    name,
    ...(version === undefined ? {} : { version }),
    ...(url === undefined ? {} : { url }),
    lifecycle: lifecycle.kind,
    profiles: profiles ?? ['core'],
    capabilities: capabilities ?? [],
  };
}

function loggedOptions(options: RunOptions): LogHeader['options'] {
  const { profiles, level, only, skip, repeat, jobs, timeoutScale, wireMode, failFast, strict } = options;
  return { profiles, level, only, skip, repeat, jobs, timeoutScale, wire: wireMode, failFast, strict };
}

/** A digest of the checks and their rules: runs with different digests cannot be merged. */
function suiteOf(catalogue: Catalogue): LogHeader['suite'] {
  const words = catalogue.checks.map((check) => [
    check.id,
    check.title,
    catalogue.levelOf(check),
    check.profile,
    check.accepts ?? [],
    ...check.clauses.flatMap((clause) => rulesOf([clause], catalogue)),
  ]);
  const sorted = words.map((one) => JSON.stringify(one)).sort();
  return { protocol: 1, checkCount: words.length, digest: digestOf(sorted.join('\n')) };
}

export function digestOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

function loggedResult(result: CheckResult, { catalogue, wholeTraces }: RecorderSetting): LoggedResult {
  const named = [
    result.clause ?? [],
    result.reliesOn ?? [],
    result.blockedBy?.clause ?? [],
    result.clauses,
    result.warnings.map((warning) => warning.clause),
  ].flat();
  const trace = wholeTraces || !mayShortenTrace(result) ? result.trace : shortTrace(result.trace);
  const accepts = catalogue.check(result.id)?.accepts ?? [];
  return { ...result, rules: rulesOf([...new Set(named)], catalogue), accepts, trace };
}

function rulesOf(ids: readonly string[], catalogue: Catalogue): readonly LoggedRule[] {
  return ids.flatMap((id) => {
    const requirement = catalogue.requirement(id);
    if (requirement === undefined) return [];
    const { level, sentence, alternatives } = requirement;
    return [{ id, level, sentence, ...(alternatives === undefined ? {} : { alternatives }) }];
  });
}

function mayShortenTrace({ outcome }: CheckResult): boolean {
  return outcome === 'pass' || outcome === 'not applicable';
}

const shortEventCount = 60;
const shortHexLength = 128;

/** The last events of a passed check's trace. */
function shortTrace(trace: readonly TraceEvent[]): readonly TraceEvent[] {
  const kept = trace.slice(-shortEventCount);
  return kept.map((event, index) => {
    const hex = event.hex.slice(0, shortHexLength);
    const isCut = hex.length < event.hex.length || (index === 0 && kept.length < trace.length);
    return { ...event, hex, ...(isCut ? { cut: true } : {}) };
  });
}

/** The broken rules with their texts; an empty object if there are none. */
export function causesPart(results: readonly LoggedResult[]): Pick<LogFinish, 'causes'> {
  const rules = new Map(results.flatMap((result) => result.rules).map((rule) => [rule.id, rule]));
  const causes = causesOf(results).flatMap(({ clause, shownBy, blocked }) => {
    const rule = rules.get(clause);
    if (rule === undefined) return [];
    const { id, level, sentence } = rule;
    return [{ id, level, sentence, shownBy, blocked }];
  });
  return causes.length === 0 ? {} : { causes };
}

function finishOf(report: RunReport, setting: RecorderSetting): LogFinish {
  const { wallNow } = setting;
  const { target, verdict, results, notReachedCount, targetFault, runnerFault, notes } = report;
  return {
    type: 'run finished',
    finishedAt: wallNow().toISOString(),
    target,
    verdict,
    counts: countOutcomes(results),
    notReachedCount,
    ...(targetFault === undefined ? {} : { targetFault }),
    ...(runnerFault === undefined ? {} : { runnerFault }),
    ...(report.staleEntries === undefined ? {} : { staleEntries: report.staleEntries }),
    notes: notes ?? [],
    ...causesPart(results.map((result) => loggedResult(result, setting))),
  };
}
