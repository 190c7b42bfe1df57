// Merges the logs of shards into one run. The verdict needs the complete plan. Shards of different runs (another target, seed, suite, plan
// or option) and shards that contradict each other are refused. Pure.
import { withCauses } from '../engine/causes.ts';
import { UsageError } from '../usage-error.ts';
import { countOutcomes, verdictOf } from '../verdict.ts';
import type { LogFinish, LoggedResult, LogHeader, RunLog } from './event-log.ts';
import { byRepetitionAndId, targetOfLog } from './event-log.ts';
import { causesPart } from './log-recorder.ts';

export type NamedLog = { readonly path: string; readonly log: RunLog };

/** Throws a UsageError when the logs are not parts of one run. */
export function mergedLog(logs: readonly NamedLog[]): RunLog {
  const [first] = logs;
  if (first === undefined) throw new UsageError('report merge needs the logs of the shards');
  for (const other of logs.slice(1)) refuseForeign(first, other);
  // A rule that one shard shows broken may block a check of another shard.
  const results = withCauses([...unionOf(logs)].sort(byRepetitionAndId));
  const header = mergedHeader(logs, first.log.header);
  return { header, results, finish: finishOf(logs, header, results) };
}

/** The values that must be equal in all logs of one run. */
function identityOf({ header }: RunLog): Readonly<Record<string, unknown>> {
  const { target, seed, runner, suite, planDigest, partial, options, shard } = header;
  return {
    target,
    seed,
    runner,
    suite,
    plan: planDigest,
    partial,
    options,
    'number of shards': shard?.count,
  };
}

function refuseForeign(first: NamedLog, other: NamedLog): void {
  const wanted = identityOf(first.log);
  const given = identityOf(other.log);
  for (const name of Object.keys(wanted)) {
    if (JSON.stringify(wanted[name]) === JSON.stringify(given[name])) continue;
    throw new UsageError(`${first.path} and ${other.path} are not parts of one run: they differ in ${name}`);
  }
  const versions = [targetOfLog(first.log).version, targetOfLog(other.log).version];
  const [one, another] = versions;
  if (first.log.finish !== undefined && other.log.finish !== undefined && one !== another)
    throw new UsageError(
      `${first.path} and ${other.path} are not of one broker: version ${one} and ${another}`,
    );
}

/** The same check may be in several logs if its outcome is the same. */
function unionOf(logs: readonly NamedLog[]): Iterable<LoggedResult> {
  const union = new Map<string, { readonly path: string; readonly result: LoggedResult }>();
  for (const { path, log } of logs) {
    for (const result of log.results) {
      const key = `${result.id} (repetition ${result.repetition})`;
      const known = union.get(key);
      if (known !== undefined && known.result.outcome !== result.outcome) {
        const outcomes = `${known.result.outcome} in ${known.path}, ${result.outcome} in ${path}`;
        throw new UsageError(`the logs contradict each other: ${key} is ${outcomes}`);
      }
      if (known === undefined) union.set(key, { path, result });
    }
  }
  return [...union.values()].map(({ result }) => result);
}

function mergedHeader(logs: readonly NamedLog[], first: LogHeader): LogHeader {
  const { assigned: _assigned, shard: _shard, ...whole } = first;
  const startedAt = logs.map(({ log }) => log.header.startedAt).sort()[0] ?? first.startedAt;
  return { ...whole, startedAt };
}

function finishOf(logs: readonly NamedLog[], header: LogHeader, results: readonly LoggedResult[]): LogFinish {
  const ends = logs.flatMap(({ log }) => log.finish ?? []);
  const missing = missingOf(header, results);
  const stale = unique(ends.flatMap((end) => end.staleEntries ?? []));
  const facts = {
    notReachedCount: missing.length,
    ...(stale.length === 0 ? {} : { staleEntries: stale }),
    ...faultOf(
      'targetFault',
      ends.map((end) => end.targetFault),
    ),
    ...faultOf('runnerFault', [...ends.map((end) => end.runnerFault), unendedText(logs)]),
  };
  const { partial, options, scope } = header;
  const [version] = ends.flatMap((end) => end.target.version ?? header.target.version ?? []);
  return {
    type: 'run finished',
    finishedAt:
      ends
        .map((end) => end.finishedAt)
        .sort()
        .at(-1) ?? header.startedAt,
    target: { name: header.target.name, ...(version === undefined ? {} : { version }) },
    verdict: verdictOf({ results, scope, partial, strict: options.strict, ...facts }),
    counts: countOutcomes(results),
    ...facts,
    ...causesPart(results),
    notes: [...unique(ends.flatMap((end) => end.notes)), ...missingNote(missing)],
  };
}

/** Removes repeated notes: every shard has those that concern no single check. */
function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}

function missingOf({ plan, options }: LogHeader, results: readonly LoggedResult[]): readonly string[] {
  const seen = new Set(results.map(({ id, repetition }) => `${id}.${repetition}`));
  const repetitions = Array.from({ length: options.repeat }, (_, index) => index + 1);
  return repetitions.flatMap((repetition) => plan.filter((id) => !seen.has(`${id}.${repetition}`)));
}

function missingNote(missing: readonly string[]): readonly string[] {
  if (missing.length === 0) return [];
  const more = missing.length > 5 ? `, and ${missing.length - 5} more` : '';
  return [`no shard has ${missing.slice(0, 5).join(', ')}${more}`];
}

function unendedText(logs: readonly NamedLog[]): string | undefined {
  const unended = logs.filter(({ log }) => log.finish === undefined).map(({ path }) => path);
  return unended.length === 0 ? undefined : `the run was interrupted: ${unended.join(', ')} has no end`;
}

function faultOf<Name extends string>(
  name: Name,
  faults: readonly (string | undefined)[],
): Partial<Record<Name, string>> {
  const [fault] = faults.filter((candidate) => candidate !== undefined);
  return (fault === undefined ? {} : { [name]: fault }) as Partial<Record<Name, string>>;
}
