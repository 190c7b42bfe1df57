// Reads the event log of a run, or its report JSON, which has no traces. A damaged, edited or newer file is refused, so that only data that
// a run wrote is compared or shown.
import schema from '../../schemas/report.schema.json' with { type: 'json' };
import type { CheckResult } from '../result.ts';
import type { Schema } from '../target/schema-check.ts';
import { schemaFaults } from '../target/schema-check.ts';
import { UsageError } from '../usage-error.ts';
import type { Counts, Verdict } from '../verdict.ts';
import type { LogFinish, LogHeader, RunLog } from './event-log.ts';
import { reportDigest } from './json.ts';
import { parseLog, readText, refuseNewer } from './log-reader.ts';

/** Reads an event log or a report JSON; throws a UsageError. */
export function readRun(path: string): RunLog {
  const text = readText(path);
  return text.startsWith('{\n') ? parseReport(text, path) : parseLog(text, path);
}

type ReportDocument = Pick<LogHeader, 'schema' | 'runner' | 'seed'> & {
  readonly target: LogFinish['target'];
  readonly verdict: Verdict;
  readonly counts: Counts;
  readonly run: Omit<LogHeader, 'type' | 'schema' | 'runner' | 'seed'>;
  readonly end?: Omit<LogFinish, 'type' | 'target' | 'verdict' | 'counts'>;
  readonly results: readonly Omit<CheckResult, 'trace' | 'brokerLog'>[];
};

/** `path` is only for messages. */
export function parseReport(text: string, path: string): RunLog {
  const value = parsed(text, path);
  refuseNewer(value, path);
  const faults = schemaFaults(schema as Schema, value);
  if (faults.length > 0) throw new UsageError(`${path} is not a report: ${faults.slice(0, 3).join('; ')}`);
  const { digest, ...document } = value as ReportDocument & { readonly digest: string };
  if (digest !== reportDigest(document)) {
    throw new UsageError(`${path}: the report was changed after it was written: its digest is wrong`);
  }
  return logOf(document);
}

function parsed(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${path} is damaged: ${(error as Error).message}`);
  }
}

function logOf({
  schema: version,
  runner,
  seed,
  target,
  verdict,
  counts,
  run,
  end,
  results,
}: ReportDocument): RunLog {
  const empty = { trace: [], brokerLog: [], rules: [], accepts: [] };
  return {
    header: { type: 'run started', schema: version, runner, seed, ...run },
    results: results.map((result) => ({ ...result, ...empty })),
    ...(end === undefined ? {} : { finish: { type: 'run finished', target, verdict, counts, ...end } }),
  };
}
