// The report as JSON, for programs: one document with a versioned schema (schemas/report.schema.json), without traces, broker logs and
// texts of rules. Each failure has the command that runs it again. The digest shows whether the report was edited.
import { countOutcomes } from '../verdict.ts';
import type { LoggedResult, LogHeader, RunLog } from './event-log.ts';
import { targetOfLog, verdictOfLog } from './event-log.ts';
import { digestOf } from './log-recorder.ts';

export function reportJson(log: RunLog): string {
  const { header, results, finish } = log;
  const document = {
    schema: header.schema,
    runner: header.runner,
    target: targetOfLog(log),
    seed: header.seed,
    verdict: verdictOfLog(log),
    counts: countOutcomes(results),
    finished: finish !== undefined,
    run: plannedOf(header),
    ...(finish === undefined ? {} : { end: endOf(finish) }),
    results: results.map(withoutDetail),
  };
  return `${JSON.stringify({ ...document, digest: reportDigest(document) }, null, 2)}\n`;
}

/** Over the document without its digest. */
export function reportDigest(document: object): string {
  return digestOf(JSON.stringify(document, null, 2));
}

function plannedOf({
  type: _type,
  schema: _schema,
  runner: _runner,
  seed: _seed,
  ...planned
}: LogHeader): Omit<LogHeader, 'type' | 'schema' | 'runner' | 'seed'> {
  return planned;
}

function endOf(finish: NonNullable<RunLog['finish']>): object {
  const { type: _type, target: _target, verdict: _verdict, counts: _counts, ...end } = finish;
  return end;
}

function withoutDetail(result: LoggedResult): object {
  const {
    trace: _trace,
    brokerLog: _log,
    names: _names,
    brokenAtMs: _brokenAtMs,
    rules: _rules,
    accepts: _accepts,
    ...shown
  } = result;
  return shown;
}
