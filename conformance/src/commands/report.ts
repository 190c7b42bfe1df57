// `truemq-conformance report`: makes reports from event logs or report JSONs of earlier runs. Renders one, compares two (`diff`), merges
// shards (`merge`), shows several in one table (`matrix`), draws a `badge`. It runs no check.
import type { Flag, ParsedFlags } from '../cli/flags.ts';
import { parseFlags } from '../cli/flags.ts';
import type { Sources } from '../cli/sources.ts';
import type { Terminal } from '../cli/terminal.ts';
import { consoleReport } from '../report/console.ts';
import type { RunLog } from '../report/event-log.ts';
import { verdictOfLog } from '../report/event-log.ts';
import type { LogDiff } from '../report/log-diff.ts';
import { diffLines, diffMarkdown, diffOf, regressionsOf } from '../report/log-diff.ts';
import { mergedLog } from '../report/log-merge.ts';
import { matrixHtml, matrixMarkdown, matrixOf } from '../report/matrix.ts';
import { eventLogPath } from '../report/out-folder.ts';
import { refuseSharedPaths } from '../report/output-paths.ts';
import { readRun } from '../report/report-reader.ts';
import type { Outputs, ReporterName } from '../report/reporters.ts';
import { readOutputs, renderers, reportFlags } from '../report/reporters.ts';
import {
  consoleSetting,
  documentFaults,
  faultLines,
  printedReport,
  writtenFaults,
} from '../report/reporting.ts';
import { UsageError } from '../usage-error.ts';
import type { ExitCode } from '../verdict.ts';
import { exitCodes } from '../verdict.ts';

export const reportCommandFlags: readonly Flag[] = reportFlags;

/** Exit code: that of the shown run; for `diff`, 1 if the second run is worse, 3 if it is not complete. */
export function reportCommand(args: readonly string[], _sources: Sources, terminal: Terminal): ExitCode {
  const flags = parseFlags(args, reportCommandFlags);
  const [first = '', ...rest] = flags.positionals;
  switch (first) {
    case 'diff':
      return diff(rest, flags, terminal);
    case 'merge':
      return merge(rest, flags, terminal);
    case 'matrix':
      return matrix(rest, flags, terminal);
    case 'badge':
      return badge(rest, flags, terminal);
    case '':
      throw new UsageError(
        'report needs an event log: report events.ndjson, or diff, merge, matrix, badge before its logs',
      );
    default:
      return show(readRun(only(flags.positionals, 'report')), flags, terminal);
  }
}

function only(paths: readonly string[], what: string): string {
  const [path] = paths;
  if (path === undefined || paths.length > 1)
    throw new UsageError(`${what} takes one event log, ${paths.length} came; several: merge, diff or matrix`);
  return path;
}

/** Throws a UsageError, also for a report that would overwrite a log that is read. */
function outputsOf(flags: ParsedFlags, writesLog = false): Outputs {
  const outputs = readOutputs(flags);
  refuseSharedPaths(
    outputs,
    flags.positionals.map((path) => ['a log that is read', path] as const),
    writesLog,
  );
  return outputs;
}

/** Always prints the verdict of the merged log; with --out, it writes the log into the folder, as a run does. */
function merge(paths: readonly string[], flags: ParsedFlags, terminal: Terminal): ExitCode {
  const log = mergedLog(paths.map((path) => ({ path, log: readRun(path) })));
  const outputs = outputsOf(flags, true);
  const { outFolder } = outputs;
  print(log, outputs, terminal);
  if (outFolder === undefined) return write(log, outputs, terminal);
  const events = { kind: 'file', name: 'ndjson', path: eventLogPath(outFolder) } as const;
  return write(log, { ...outputs, reports: [...outputs.reports, events] }, terminal);
}

/** Writes the requested reports of one run, or prints the run if there are none. Returns the exit code of the run. */
function show(log: RunLog, flags: ParsedFlags, terminal: Terminal): ExitCode {
  const outputs = outputsOf(flags);
  if (isPrinted(outputs, flags)) print(log, outputs, terminal);
  return write(log, outputs, terminal);
}

/** The console report is the default, and may be requested beside others. */
function isPrinted({ reports, outFolder }: Outputs, flags: ParsedFlags): boolean {
  return flags.many('reporter').includes('console') || (reports.length === 0 && outFolder === undefined);
}

/** Prints to standard error if a report goes to standard output. */
function print(log: RunLog, outputs: Outputs, terminal: Terminal): void {
  const isTaken = printedReport(outputs) !== undefined;
  for (const line of consoleReport(log, consoleSetting(outputs, terminal))) {
    if (isTaken) terminal.err(line);
    else terminal.out(line);
  }
}

function write(log: RunLog, outputs: Outputs, terminal: Terminal): ExitCode {
  const printed = printedReport(outputs);
  if (printed !== undefined) terminal.out(renderers[printed](log).trimEnd());
  return ended(writtenFaults(outputs, log), verdictOfLog(log).exitCode, terminal);
}

function ended(faults: readonly string[], exitCode: ExitCode, terminal: Terminal): ExitCode {
  for (const line of faultLines(faults)) terminal.err(line);
  return faults.length === 0 ? exitCode : exitCodes.runner;
}

function diff(paths: readonly string[], flags: ParsedFlags, terminal: Terminal): ExitCode {
  const [before, after] = paths;
  if (before === undefined || after === undefined || paths.length > 2)
    throw new UsageError(`report diff takes two logs, ${paths.length} came: report diff BEFORE AFTER`);
  const found = diffOf(readRun(before), readRun(after));
  const documents = {
    console: () => `${diffLines(found).join('\n')}\n`,
    markdown: () => diffMarkdown(found),
    json: () => diffJson(found),
  };
  return ended(tellDocuments('diff', documents, flags, terminal), diffExitCode(found), terminal);
}

function diffJson(found: LogDiff): string {
  return `${JSON.stringify({ schema: 1, ...found, regressionCount: regressionsOf(found).length }, null, 2)}\n`;
}

function diffExitCode(found: LogDiff): ExitCode {
  if (regressionsOf(found).length > 0) return exitCodes.failed;
  return found.gaps.length > 0 ? exitCodes.incomplete : exitCodes.open;
}

function matrix(paths: readonly string[], flags: ParsedFlags, terminal: Terminal): ExitCode {
  if (paths.length === 0) throw new UsageError('report matrix needs logs: report matrix A B C');
  const found = matrixOf(paths.map(readRun));
  const documents = {
    console: () => matrixMarkdown(found),
    markdown: () => matrixMarkdown(found),
    html: () => matrixHtml(found),
  };
  return ended(tellDocuments('matrix', documents, flags, terminal), exitCodes.open, terminal);
}

function badge(paths: readonly string[], flags: ParsedFlags, terminal: Terminal): ExitCode {
  const log = readRun(only(paths, 'report badge'));
  const documents = {
    console: () => renderers.badge(log),
    badge: () => renderers.badge(log),
    'badge-json': () => renderers['badge-json'](log),
  };
  return ended(tellDocuments('badge', documents, flags, terminal), exitCodes.open, terminal);
}

type Documents = { readonly [Name in ReporterName]?: () => string } & { readonly console: () => string };

/**
 * Writes the requested reports. Standard output gets the report that is requested there, by default the console report. A comparison
 * always prints the console report, because it judges.
 */
function tellDocuments(
  what: 'diff' | 'matrix' | 'badge',
  documents: Documents,
  flags: ParsedFlags,
  terminal: Terminal,
): readonly string[] {
  const outputs = outputsOf(flags);
  refuseOthers(what, documents, outputs);
  const isForPeople = what === 'diff' || isPrinted(outputs, flags);
  const printed = printedReport(outputs) ?? (isForPeople ? 'console' : undefined);
  if (printed !== undefined) terminal.out((documents[printed] ?? documents.console)().trimEnd());
  return documentFaults(outputs, (name) => documents[name]?.() ?? '');
}

function refuseOthers(what: string, documents: Documents, { reports, outFolder }: Outputs): void {
  if (outFolder !== undefined)
    throw new UsageError(`report ${what} has no --out: name its reports with --reporter`);
  for (const { name } of reports) {
    if (documents[name] !== undefined) continue;
    throw new UsageError(
      `report ${what}: --reporter ${name} came, allowed: ${Object.keys(documents).join(', ')}`,
    );
  }
}
