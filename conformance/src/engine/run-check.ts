// Runs one check once against one broker and returns its result, whatever the check does: also if it throws, does not end, or has no
// evidence. Always closes the connections of the check, or keeps clean ones for other checks.
import type { Level } from '../catalogue-words.ts';
import type { Check } from '../check.ts';
import { missingEvidence } from '../evidence.ts';
import { ExpectationFailure } from '../expectation.ts';
import type { Judgement, RunEnd, Warning } from '../outcome.ts';
import { judge } from '../outcome.ts';
import type { CheckResult } from '../result.ts';
import { TargetFault } from '../target/target-fault.ts';
import { allConnections } from '../trace.ts';
import type { WatchSetting } from '../watch/check-watch.ts';
import type { WatchedBreach } from '../watch/watched-breach.ts';
import type { ContextSetting } from './check-context.ts';
import { ContextRecord, checkContext } from './check-context.ts';
import { starvation, watchLoop } from './loop-watch.ts';
import type { SpareConnections } from './spare-connections.ts';

export type RunCheckSetting = ContextSetting & {
  readonly level: Level;
  /** True if the check requires capabilities and the target declares all of them. */
  readonly declared: boolean;
  /** Whether a requirement is a MUST. */
  readonly isRequired: (clause: string) => boolean;
  /** Whether a requirement is a MUST of a profile that the target claims. */
  readonly isWatched: (clause: string) => boolean;
  readonly repetition: number;
  readonly reproduce: string;
  /** No other check runs, so a slow answer is the broker's fault. */
  readonly isAlone: boolean;
  /** Keeps clean connections of the check for other checks, on a broker that counts connections. */
  readonly spares?: SpareConnections | undefined;
  /** Interrupts the check. */
  readonly signal?: AbortSignal | undefined;
};

/** A check that ran once. */
export type PlayedCheck = {
  readonly result: CheckResult;
  /** How the check fails by what its frames broke, which is certain: also where the result is discarded. Absent if they broke nothing. */
  readonly broken?: CheckResult | undefined;
};

/** What a check broke for certain, if the runner was too slow to believe its own result, or that result is no failure. */
export function certain(result: CheckResult, broken: CheckResult | undefined): CheckResult {
  return broken !== undefined && (result.starved === true || mayBeWatched(result)) ? broken : result;
}

export async function runCheck(setting: RunCheckSetting): Promise<PlayedCheck> {
  const { check, broker, now } = setting;
  const record = new ContextRecord(now, check.clauses, watchSetting(setting));
  const logPosition = broker.log.addedCount;
  const startedAt = now();
  const watch = watchLoop();
  const thrown = await runWithDeadline(setting, record);
  const hints = record.traffic.hints();
  const worstDelayMs = watch.stop();
  record.trace.add({
    atMs: now(),
    connection: allConnections,
    kind: 'closed',
    text: 'the check ended',
    byRunner: 'end',
  });
  const trace = [...record.trace.events];
  const mayReuse = thrown === undefined || setting.connections.isShort;
  record.closeConnections(mayReuse ? setting.spares : undefined);
  // It says nothing about the broker, and no check can use it any more.
  if (thrown instanceof TargetFault && thrown.kind === 'hook failed') throw thrown;
  const { minWaitMs } = record.evidence;
  const starved =
    starvation(worstDelayMs, minWaitMs) ?? (setting.isAlone ? undefined : lateness(setting, record));
  const end: RunEnd = {
    thrown,
    level: setting.level,
    isRequired: setting.isRequired,
    clauses: check.clauses,
    declared: setting.declared,
    warningCount: record.warnings.length,
    hints,
    missingEvidence: missingEvidence(check, record.evidence),
    starved,
  };
  const own = judge(end);
  const breach = await record.watch.breach(worstDelayMs);
  const resultOf = (judgement: Judgement, warnings: readonly Warning[] = []): CheckResult => ({
    ...resultHead(setting),
    ...judgement,
    evidence: record.evidence.counts,
    notes: notesOf(record, judgement),
    warnings: [...record.warnings, ...warnings],
    durationMs: Math.round(now() - startedAt),
    trace,
    brokerLog: broker.log.since(logPosition),
  });
  if (breach === undefined) return { result: resultOf(own) };
  const broken = resultOf(watchedJudgement(breach, end), ownWarnings(check, own));
  return { result: mayBeWatched(own) ? broken : resultOf(own), broken };
}

function watchSetting({ facts, isWatched }: RunCheckSetting): WatchSetting {
  const { ackTimeoutMs, configuration, queueDefaults } = facts;
  const isDefault = queueDefaults === undefined && configuration.queueDefaults === undefined;
  return { isWatched, ackTimeoutMs, defaultMode: isDefault ? 'RoundRobin' : undefined };
}

/** A check that does not fail by itself fails by what its frames broke. One that is not believed may show more when it runs again. */
function mayBeWatched({ outcome, starved }: Pick<Judgement, 'outcome' | 'starved'>): boolean {
  return starved !== true && ['pass', 'warn', 'not applicable', 'not shown'].includes(outcome);
}

/**
 * It is certain, so nothing else explains it; a check of the broken requirement shows it better. Of the check's own assertions a starved runner
 * says nothing.
 */
function watchedJudgement({ clause, what, expected, actual, atMs }: WatchedBreach, end: RunEnd): Judgement {
  const thrown = new ExpectationFailure(`in every check, ${what}`, { expected, actual, broken: clause });
  const failure = judge({ ...end, thrown, hints: { seen: [], needed: [] }, starved: undefined });
  const unknown = end.starved === undefined ? {} : { starved: true as const };
  return { ...failure, reliesOn: clause, watched: true, brokenAtMs: atMs, ...unknown };
}

/** The recommendation or option that the broker did not follow either, according to the check itself. */
function ownWarnings({ clauses }: Check, own: Judgement): readonly Warning[] {
  const { reason = '', expected, actual = '', clause = clauses[0] } = own;
  return own.outcome === 'warn' && expected !== undefined ? [{ clause, text: reason, expected, actual }] : [];
}

/** Why what came late, or not at all, may be the machine's fault. */
function lateness({ check, timing }: RunCheckSetting, { evidence }: ContextRecord): string | undefined {
  return evidence.lateness ?? (check.waits === true ? evidence.overload(timing.lateMs) : undefined);
}

const maxVolumeMs = 300_000;

/** The maximum duration. A check that waits for timers of the broker gets six ack timeouts more. */
function maxDurationMs({ check, timing, facts }: RunCheckSetting): number {
  if (check.volume === true) return maxVolumeMs;
  return timing.checkMs + (check.waits === true ? 6 * facts.ackTimeoutMs : 0);
}

type ResultHead = Pick<
  CheckResult,
  'id' | 'title' | 'level' | 'profile' | 'clauses' | 'names' | 'reproduce' | 'repetition'
>;

export function resultHead(
  setting: Pick<RunCheckSetting, 'check' | 'level' | 'names' | 'reproduce' | 'repetition'>,
): ResultHead {
  const { id, title, profile, clauses } = setting.check;
  const { level, names, reproduce, repetition } = setting;
  return { id, title, level, profile, clauses, names, reproduce, repetition };
}

/** The minimum time between two tests of the deadline. */
const minDeadlineTestMs = 50;

/** After its deadline a check gets this time, in which the runner finds out whether it waits for the broker. */
const graceMs = 1_000;

function overdueText(checkMs: number): string {
  return `the check had not ended after ${checkMs} ms`;
}

/** The failure of a check that waits for the broker at its deadline; undefined if no wait is open. */
function openWaitFailure(
  { connections, evidence }: ContextRecord,
  checkMs: number,
): ExpectationFailure | undefined {
  const wait = connections.map(({ openWait }) => openWait).find((one) => one !== undefined);
  if (wait === undefined) return undefined;
  evidence.addWaitAtDeadline(checkMs);
  return new ExpectationFailure('the check ends before its deadline', {
    expected: `the end of the check within ${checkMs} ms`,
    actual: `it still waited for ${wait.what}`,
    reliesOn: wait.reliesOn?.(),
  });
}

/** The most that sending moves a deadline, so that a check that never stops sending ends too. */
const maxSendingMs = 300_000;

/** How long the runner kept the check: this moves its deadline. */
function ownMs({ connections }: RunCheckSetting, record: ContextRecord): number {
  const sendingMs = record.connections.reduce((sum, connection) => sum + connection.sendingMs, 0);
  return connections.waitedMs() + Math.min(sendingMs, maxSendingMs);
}

/** Runs the check. Returns what it threw; undefined if it returned before its deadline. */
async function runWithDeadline(setting: RunCheckSetting, record: ContextRecord): Promise<unknown> {
  const checkMs = maxDurationMs(setting);
  const interruption = interruptionOf(setting.signal);
  const startedAt = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    const testDeadline = (): void => {
      const leftMs = startedAt + checkMs + ownMs(setting, record) - performance.now();
      const failure = leftMs <= 0 ? openWaitFailure(record, checkMs) : undefined;
      // Between two waits it is unknown whether the broker or the check is slow: test again, during the next wait.
      if (failure !== undefined || leftMs <= -graceMs) reject(failure ?? new Error(overdueText(checkMs)));
      else timer = setTimeout(testDeadline, Math.max(leftMs, minDeadlineTestMs));
    };
    testDeadline();
  });
  try {
    const context = checkContext(setting, record);
    await Promise.race([setting.check.run(context), deadline, interruption.promise]);
    return undefined;
  } catch (thrown) {
    return thrown ?? new Error('the check threw undefined');
  } finally {
    clearTimeout(timer);
    interruption.end();
  }
}

/** Rejects when the run is interrupted. */
function interruptionOf(signal: AbortSignal | undefined): { promise: Promise<never>; end(): void } {
  let interrupt = (): void => {};
  const promise = new Promise<never>((_, reject) => {
    interrupt = () => reject(new Error('the run was interrupted'));
    signal?.addEventListener('abort', interrupt);
  });
  return { promise, end: () => signal?.removeEventListener('abort', interrupt) };
}

function notesOf(record: ContextRecord, judgement: Judgement): readonly string[] {
  const isUnusedOption = judgement.outcome === 'not applicable' && judgement.expected !== undefined;
  return isUnusedOption ? [...record.notes, `optional, not seen: ${judgement.reason}`] : record.notes;
}
