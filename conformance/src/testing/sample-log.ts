// Event logs made by hand, for tests of reports: every outcome, and texts that a hostile broker might send. Not in the package.
import { createHash } from 'node:crypto';
import type { Outcome } from '../outcome.ts';
import type { LogFinish, LoggedResult, LogHeader, RunLog } from '../report/event-log.ts';
import { countOutcomes, verdictOf } from '../verdict.ts';

/** Contains everything that could break a report: markup, control and direction characters, CI commands, mentions, fences. */
export const hostileText =
  ']]> </script><img src=x onerror=alert(1)> \u001b[2J\u0000\u202e\ud800\uffff & " \' ```` | # @all \n::error::x';

export function sampleHeader(more: Partial<LogHeader> = {}): LogHeader {
  const plan = more.plan ?? ['CONN-001a', 'CONN-002a'];
  return {
    type: 'run started',
    schema: 1,
    runner: { name: 'truemq-conformance', version: '0.1.0' },
    suite: { protocol: 1, checkCount: 2, digest: `sha256:${'0'.repeat(64)}` },
    platform: { node: 'v20.19.0', os: 'linux x64' },
    startedAt: '2026-01-02T03:04:05.000Z',
    target: { name: 'tiny', version: '1', lifecycle: 'attach', profiles: ['core'], capabilities: [] },
    seed: 7,
    options: {
      profiles: [],
      level: 'MAY',
      only: [],
      skip: [],
      repeat: 1,
      jobs: 4,
      timeoutScale: 1,
      wire: 'whole',
      failFast: false,
      strict: false,
    },
    partial: false,
    planDigest: `sha256:${createHash('sha256').update(plan.join('\n')).digest('hex')}`,
    ...more,
    plan,
  };
}

export function sampleResult(id: string, outcome: Outcome, more: Partial<LoggedResult> = {}): LoggedResult {
  const clause = id.slice(0, -1);
  return {
    id,
    title: `title of ${id}`,
    level: 'MUST',
    profile: 'core',
    clauses: [clause],
    outcome,
    evidence: { frames: 2, messages: 0, responses: 0, assertions: 1 },
    notes: [],
    warnings: [],
    durationMs: 12,
    reproduce: `truemq-conformance run --target t.yaml --only ${id} --seed 7`,
    repetition: 1,
    trace: [],
    brokerLog: [],
    rules: [{ id: clause, level: 'MUST', sentence: `The sentence of ${clause}.` }],
    accepts: [],
    ...more,
  };
}

/** A failure of a broker that answers with whatever could break a report. */
export function hostileResult(id: string, outcome: Outcome = 'fail'): LoggedResult {
  return sampleResult(id, outcome, {
    reason: `it said ${hostileText}`,
    expected: 'a song',
    actual: hostileText,
    accepts: ['a hum'],
    notes: [hostileText],
    warnings: [{ clause: id.slice(0, -1), text: hostileText, actual: hostileText }],
    trace: [
      { atMs: 1.5, connection: 'A', kind: 'sent', text: hostileText, hex: '0000000200ff', byteCount: 6 },
      { atMs: 2, connection: 'http', kind: 'http', text: '< 200', hex: '3c2f736372697074', byteCount: 8 },
    ],
    brokerLog: [hostileText, 'second line'],
  });
}

/** The log of a complete run with these results; its plan contains exactly them, unless `header` has another one. */
export function sampleLog(
  results: readonly LoggedResult[],
  more: { readonly header?: Partial<LogHeader>; readonly finish?: Partial<LogFinish> } = {},
): RunLog {
  const plan = [...new Set(results.map((result) => result.id))].sort();
  const header = sampleHeader({ plan, ...more.header });
  const { partial, options } = header;
  const finish: LogFinish = {
    type: 'run finished',
    finishedAt: '2026-01-02T03:05:05.500Z',
    target: { name: header.target.name, version: '1' },
    verdict: verdictOf({ results, partial, strict: options.strict, notReachedCount: 0 }),
    counts: countOutcomes(results),
    notReachedCount: 0,
    notes: [],
    ...more.finish,
  };
  return { header, results, finish };
}

/** One result of each outcome, the failure a hostile one. */
export function colourfulLog(): RunLog {
  return sampleLog([
    hostileResult('CONN-001a'),
    sampleResult('CONN-002a', 'pass'),
    sampleResult('CONN-003a', 'not applicable', { reason: 'the target does not declare nack' }),
    sampleResult('FRAME-001a', 'could not run', { reason: 'it needs a restart' }),
    sampleResult('FRAME-002a', 'error', { reason: 'the check threw Error: oh\n    at a line' }),
    sampleResult('FRAME-003a', 'warn', {
      level: 'SHOULD',
      warnings: [{ clause: 'FRAME-003', text: 'it hums', actual: 'a hum' }],
    }),
    sampleResult('FRAME-004a', 'not shown', { reason: 'no message waited' }),
  ]);
}

/** The log of a run that was killed. */
export function interruptedLog(): RunLog {
  const { header, results } = sampleLog([sampleResult('CONN-001a', 'pass')], {
    header: { plan: ['CONN-001a', 'CONN-002a'] },
  });
  return { header, results };
}
