// The files in the folder of `--out`: every report under its usual name, and for each check that did not pass its trace and the broker's
// log. Pure: a log in, files out. It also names the files of an older run, so that they can be removed.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { traceFile } from '../trace-file.ts';
import { verdictLines } from './console.ts';
import type { LoggedResult, RunLog } from './event-log.ts';
import { targetOfLog, verdictOfLog } from './event-log.ts';
import { reportHtml } from './html.ts';
import { reportJson } from './json.ts';
import { junitXml } from './junit.ts';
import { markdownSummary } from './markdown.ts';
import type { ReportFile } from './report-files.ts';

const eventLogName = 'events.ndjson';

/** The event log in the folder; it grows during the run. */
export function eventLogPath(folder: string): string {
  return join(folder, eventLogName);
}

/** Each with the name of the reporter that writes the same. */
const documents: Readonly<Record<string, readonly [reporter: string, render: (log: RunLog) => string]>> = {
  'report.json': ['json', reportJson],
  'report.html': ['html', reportHtml],
  'junit.xml': ['junit', junitXml],
  'summary.md': ['markdown', markdownSummary],
  'verdict.txt': ['the verdict', verdictText],
};

function verdictText(log: RunLog): string {
  return `${verdictLines(targetOfLog(log).name, verdictOfLog(log)).join('\n')}\n`;
}

/** The reports in the folder, each with the name of the reporter that writes the same. */
export const reportNamesIn: ReadonlyMap<string, string> = new Map([
  [eventLogName, 'ndjson'],
  ...Object.entries(documents).map(([file, [reporter]]) => [file, reporter] as const),
]);

/** Everything but the event log. */
export function outFiles(folder: string, log: RunLog, all: boolean): readonly ReportFile[] {
  const reports = Object.entries(documents).map(([name, [, render]]) => ({
    path: join(folder, name),
    text: render(log),
  }));
  const told = log.results.filter(
    ({ outcome }) => all || (outcome !== 'pass' && outcome !== 'not applicable'),
  );
  return [...reports, ...told.flatMap((result) => detailFiles(folder, result, log))];
}

function detailFiles(folder: string, result: LoggedResult, log: RunLog): readonly ReportFile[] {
  const name = result.repetition === 1 ? result.id : `${result.id}.${result.repetition}`;
  const run = { target: targetOfLog(log), seed: log.header.seed };
  const trace = `${JSON.stringify(traceFile(result, run), null, 1)}\n`;
  const files = [{ path: join(folder, 'traces', `${name}.json`), text: trace }];
  if (result.brokerLog.length > 0) {
    files.push({ path: join(folder, 'logs', `${name}.log`), text: `${result.brokerLog.join('\n')}\n` });
  }
  return files;
}

/** The files of an older run in the folder: reports of these names, traces and logs of checks. */
export function olderFiles(folder: string): readonly string[] {
  const reports = Object.keys(documents).map((name) => join(folder, name));
  const details = ['traces', 'logs'].flatMap((name) => namesIn(join(folder, name)));
  return [eventLogPath(folder), ...reports, ...details.filter((path) => detailName.test(path))];
}

const detailName = /[A-Z]+-\d{3}[a-z](\.\d+)?\.(json|log)$/;

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    // The folder does not exist yet.
    return [];
  }
}
