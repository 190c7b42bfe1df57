// Runs one check once against one broker and says what came of it. Whatever the check does, this returns a result: a check that
// throws, hangs or saw nothing becomes an error, and its connections are always closed.
import type { Level } from '../catalogue-words.ts';
import { missingEvidence } from '../evidence.ts';
import { ExpectationFailure } from '../expectation.ts';
import type { Judgement } from '../outcome.ts';
import { judge } from '../outcome.ts';
import type { CheckResult } from '../result.ts';
import { everyConnection } from '../trace.ts';
import type { ContextSetting } from './check-context.ts';
import { ContextRecord, checkContext } from './check-context.ts';
import { starvation, watchLoop } from './loop-watch.ts';
import type { SpareConnections } from './spare-connections.ts';

export type RunCheckSetting = ContextSetting & {
  readonly level: Level;
  /** The target declared every capability that the check requires, and it requires some. */
  readonly declared: boolean;
  readonly repetition: number;
  readonly reproduce: string;
  /** Nothing else runs: what does not come has no excuse. */
  readonly isAlone: boolean;
  /** Takes the connections that the check has left clean, on a broker that counts them. */
  readonly spares?: SpareConnections | undefined;
  /** Ends the check before its time. */
  readonly signal?: AbortSignal | undefined;
};

export async function runCheck(setting: RunCheckSetting): Promise<CheckResult> {
  const { check, broker, now } = setting;
  const record = new ContextRecord(now, check.clauses);
  const logMark = broker.log.addedCount;
  const startedAt = now();
  const watch = watchLoop();
  const thrown = await thrownBy(setting, record);
  const hints = record.reliance.hints();
  const worstDelayMs = watch.stop();
  record.trace.add({
    atMs: now(),
    connection: everyConnection,
    kind: 'closed',
    text: 'the check ended',
    byRunner: 'end',
  });
  const trace = [...record.trace.events];
  const isClean = thrown === undefined || setting.connections.isShort;
  record.closeConnections(isClean ? setting.spares : undefined);
  const { shortestWindowMs, lateness } = record.evidence;
  const starved = starvation(worstDelayMs, shortestWindowMs) ?? (setting.isAlone ? undefined : lateness);
  const judgement = judge({
    thrown,
    level: setting.level,
    clauses: check.clauses,
    declared: setting.declared,
    warningCount: record.warnings.length,
    hints,
    missingEvidence: missingEvidence(check, record.evidence),
    starved,
  });
  return {
    ...resultHead(setting),
    ...judgement,
    evidence: record.evidence.counts,
    notes: notesOf(record, judgement),
    warnings: record.warnings,
    durationMs: Math.round(now() - startedAt),
    trace,
    brokerLog: broker.log.since(logMark),
  };
}

const maxVolumeMs = 300_000;

/** A check that waits for ack timeouts may take as long as six of them. */
function longestMs({ check, timing, facts }: RunCheckSetting): number {
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

/** Between two looks at the deadline while it moves on: a check that waits for its turn to connect is not at work. */
const minLookMs = 50;

/** How long after its deadline a check is still asked whether it waits for the broker. */
const graceMs = 1_000;

function overdueText(checkMs: number): string {
  return `the check had not ended after ${checkMs} ms`;
}

/** The failure of a check that waits for the broker at its deadline; undefined when it waits for nothing. */
function slowBroker(
  { connections, evidence }: ContextRecord,
  checkMs: number,
): ExpectationFailure | undefined {
  const wait = connections.map(({ openWait }) => openWait).find((one) => one !== undefined);
  if (wait === undefined) return undefined;
  evidence.endedAtDeadline(checkMs);
  return new ExpectationFailure('the broker is fast enough for the check to end', {
    expected: `the end of the check within ${checkMs} ms`,
    actual: `it still waited for ${wait.what}`,
    reliesOn: wait.reliesOn?.(),
  });
}

/** What the check threw; undefined when it returned in time. */
async function thrownBy(setting: RunCheckSetting, record: ContextRecord): Promise<unknown> {
  const checkMs = longestMs(setting);
  const interruption = interruptionOf(setting.signal);
  const startedAt = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    const look = (): void => {
      const leftMs = startedAt + checkMs + setting.connections.waitedMs() - performance.now();
      const slow = leftMs <= 0 ? slowBroker(record, checkMs) : undefined;
      // Between two waits nobody knows who is slow: the next wait tells.
      if (slow !== undefined || leftMs <= -graceMs) reject(slow ?? new Error(overdueText(checkMs)));
      else timer = setTimeout(look, Math.max(leftMs, minLookMs));
    };
    look();
  });
  try {
    const context = checkContext(setting, record);
    await Promise.race([setting.check.run(context), deadline, interruption.promise]);
    return undefined;
  } catch (thrown) {
    return thrown ?? new Error('the check threw nothing');
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
  const optional = judgement.outcome === 'not applicable' && judgement.expected !== undefined;
  return optional ? [...record.notes, `optional, not seen: ${judgement.reason}`] : record.notes;
}
