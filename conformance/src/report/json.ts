// The report as JSON, for programs: one document of a versioned form (schemas/report.schema.json). Traces, broker logs and the texts of
// the rules are left out; what failed says how to see it again. The digest tells an edited report from a written one.
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
    rules: _rules,
    accepts: _accepts,
    ...shown
  } = result;
  return shown;
}
