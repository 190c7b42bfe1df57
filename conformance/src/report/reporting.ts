// The output of a run: prints progress, keeps the event log, and writes the requested reports at the end. It judges nothing. It returns the
// reports that could not be written; the caller must then not end with a green exit code.
import type { Catalogue } from '../catalogue.ts';
import type { Terminal } from '../cli/terminal.ts';
import type { SuiteEvent } from '../engine/suite.ts';
import { exitCodes } from '../verdict.ts';
import type { ConsoleSetting } from './console.ts';
import { ConsolePrinter, duration } from './console.ts';
import type { LogEvent, RunLog } from './event-log.ts';
import { plannedCount } from './event-log.ts';
import { gateStatusOf } from './gate-status.ts';
import { LogRecorder } from './log-recorder.ts';
import { LogWriter } from './log-writer.ts';
import { eventLogPath, olderFiles, outFiles } from './out-folder.ts';
import {
  appendableFault,
  appendFault,
  folderFault,
  GrowingFile,
  prepareFault,
  writeFault,
} from './report-files.ts';
import type { Destination, Outputs, ReporterName } from './reporters.ts';
import { renderers } from './reporters.ts';

export type ReportingSetting = {
  readonly outputs: Outputs;
  readonly catalogue: Catalogue;
  readonly terminal: Terminal;
  /** Removes secrets; applied to everything that is printed or written. */
  readonly redact: <T>(value: T) => T;
};

export class Reporting {
  readonly #setting: ReportingSetting;
  readonly #recorder: LogRecorder;
  readonly #writer = new LogWriter();
  readonly #printer: ConsolePrinter;
  readonly #logFiles: readonly GrowingFile[];
  readonly #startedAt = performance.now();

  constructor(setting: ReportingSetting) {
    const { outputs, catalogue, redact, terminal } = setting;
    this.#setting = setting;
    this.#printer = new ConsolePrinter(consoleSetting(outputs, terminal));
    const wholeTraces = outputs.trace === 'all';
    this.#recorder = new LogRecorder({ catalogue, redact, wholeTraces, wallNow: () => new Date() });
    const logs = outputs.reports.flatMap((one) => (isLogFile(one) ? [one.path] : []));
    const folderLog = outputs.outFolder === undefined ? [] : [eventLogPath(outputs.outFolder)];
    this.#logFiles = [...logs, ...folderLog].map((path) => new GrowingFile(path));
  }

  /** Removes older reports. Returns one sentence for each path that cannot be written, so that the user knows it before the run. */
  start(): readonly string[] {
    const faults = preparedFaults(this.#setting.outputs);
    if (faults.length > 0) return faults;
    for (const file of this.#logFiles) file.open();
    return this.#logFaults();
  }

  observe(event: SuiteEvent): void {
    const logged = this.#recorder.record(event);
    const line = this.#writer.line(logged);
    for (const file of this.#logFiles) file.add(line);
    this.#print(logged);
    if (printedReport(this.#setting.outputs) === 'ndjson') this.#setting.terminal.out(line.trimEnd());
    this.#showProgress(logged);
  }

  /** Writes the reports. Returns one sentence for each report that could not be written. */
  finish(): readonly string[] {
    for (const file of this.#logFiles) file.close();
    const { outputs, terminal } = this.#setting;
    const { log } = this.#recorder;
    const standard = printedReport(this.#setting.outputs);
    if (standard !== undefined && standard !== 'ndjson') terminal.out(renderers[standard](log).trimEnd());
    const others = { ...outputs, reports: outputs.reports.filter((one) => !isLogFile(one)) };
    return [...this.#logFaults(), ...writtenFaults(others, log)];
  }

  #logFaults(): readonly string[] {
    return this.#logFiles.map((file) => file.fault).filter((fault) => fault !== undefined);
  }

  /** Prints to standard error if a report goes to standard output. */
  #print(event: LogEvent): void {
    const { outputs, terminal } = this.#setting;
    const isTaken = printedReport(outputs) !== undefined;
    for (const line of this.#printer.lines(event)) {
      if (isTaken) terminal.err(line);
      else terminal.out(line);
    }
  }

  #showProgress(event: LogEvent): void {
    const { progress } = this.#setting.terminal;
    if (progress === undefined) return;
    progress(event.type === 'run finished' ? undefined : progressText(this.#recorder.log, this.#startedAt));
  }
}

function isLogFile(one: Destination): one is Destination & { readonly kind: 'file'; readonly path: string } {
  return one.name === 'ndjson' && one.kind === 'file';
}

function progressText(log: RunLog, startedAt: number): string {
  const red = log.results.filter((result) => {
    const standing = gateStatusOf(result, log.header.options.strict);
    return standing === 'failed' || standing === 'broken';
  });
  const failed = red.length === 0 ? '' : `, ${red.length} not right`;
  const passed = duration(Math.round(performance.now() - startedAt));
  return `${log.results.length} of ${plannedCount(log)} checks${failed}, ${passed}`;
}

function preparedFaults({ reports, outFolder }: Outputs): readonly string[] {
  const named = reports.map((one) => {
    if (one.kind === 'standard output') return undefined;
    return one.kind === 'append' ? appendableFault(one.path) : prepareFault(one.path);
  });
  return [...named, ...folderFaults(outFolder)].filter((fault) => fault !== undefined);
}

function folderFaults(folder: string | undefined): readonly (string | undefined)[] {
  if (folder === undefined) return [];
  const fault = folderFault(folder);
  return fault === undefined ? olderFiles(folder).map(prepareFault) : [`--out ${fault}`];
}

/** For the console: one line for each reason, with the first file and the number of others; then the exit code. */
export function faultLines(faults: readonly string[]): readonly string[] {
  if (faults.length === 0) return [];
  const reasonOf = (fault: string): string => fault.slice(fault.indexOf(' written: '));
  const reasons = [...new Set(faults.map(reasonOf))];
  const lines = reasons.map((reason) => {
    const [first = '', ...others] = faults.filter((fault) => reasonOf(fault) === reason);
    return others.length === 0 ? first : `${first} (and ${others.length} more)`;
  });
  const all = [...lines, `The exit code is ${exitCodes.runner}: a report is missing.`];
  return all.map((line) => `truemq-conformance: ${line}`);
}

/** The report that goes to standard output, if there is one. */
export function printedReport({ reports }: Outputs): ReporterName | undefined {
  return reports.find(({ kind }) => kind === 'standard output')?.name;
}

/** How the console is printed: without colours where its stream has none. */
export function consoleSetting(outputs: Outputs, terminal: Terminal): ConsoleSetting {
  const { trace, quiet } = outputs;
  const isTaken = printedReport(outputs) !== undefined;
  return { trace, quiet, color: isTaken ? terminal.errorColor === true : terminal.color };
}

/** Writes every report of a finished log. Returns one sentence for each report that could not be written. */
export function writtenFaults(outputs: Outputs, log: RunLog): readonly string[] {
  const { outFolder, trace } = outputs;
  const folder = outFolder === undefined ? [] : outFiles(outFolder, log, trace === 'all');
  const faults = folder.map((file) => writeFault(file)).filter((fault) => fault !== undefined);
  return [...documentFaults(outputs, (name) => renderers[name](log)), ...faults];
}

/** Writes the reports with a path; not the one for standard output. */
export function documentFaults(
  { reports }: Outputs,
  render: (name: ReporterName) => string,
): readonly string[] {
  const faults = reports.map((one) => {
    if (one.kind === 'standard output') return undefined;
    const file = { path: one.path, text: render(one.name) };
    return one.kind === 'append' ? appendFault(file) : writeFault(file);
  });
  return faults.filter((fault) => fault !== undefined);
}
