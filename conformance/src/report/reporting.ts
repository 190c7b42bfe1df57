// What a run tells the world: prints while it goes on, and writes every report that was asked for at its end. It judges nothing. A
// report that cannot be written is told to the caller, who must not end with a green exit code then.
import { join } from 'node:path';
import type { Catalogue } from '../catalogue.ts';
import type { Terminal } from '../cli/terminal.ts';
import type { RunReport, SuiteEvent } from '../engine/suite.ts';
import type { CheckResult } from '../result.ts';
import { consoleLines, traceLines, verdictLines } from './console.ts';
import type { ReportFile } from './report-files.ts';
import { prepareFault, writeFault } from './report-files.ts';
import type { Outputs } from './reporters.ts';
import { rendered } from './reporters.ts';

export type ReportingSetting = {
  readonly outputs: Outputs;
  readonly catalogue: Catalogue;
  readonly terminal: Terminal;
  /** Blacks out secrets; applied to everything that is printed or written. */
  readonly redact: <T>(value: T) => T;
};

export class Reporting {
  readonly #setting: ReportingSetting;
  #report: RunReport | undefined;

  constructor(setting: ReportingSetting) {
    this.#setting = setting;
  }

  /** Takes older reports away. What cannot be written, one sentence each: better told before a run than after it. */
  start(): readonly string[] {
    const { outputs } = this.#setting;
    const summary = outputs.outFolder === undefined ? [] : [join(outputs.outFolder, summaryName)];
    const paths = [...outputs.files.map((file) => file.path), ...summary];
    return paths.map(prepareFault).filter((fault) => fault !== undefined);
  }

  observe(event: SuiteEvent): void {
    const { catalogue, terminal, outputs, redact } = this.#setting;
    const setting = { catalogue, trace: outputs.trace, color: terminal.color };
    for (const line of consoleLines(redact(event), setting)) terminal.out(line);
    if (event.type === 'run finished') this.#report = event.report;
  }

  /** Writes the reports. What could not be written, one sentence each. */
  finish(): readonly string[] {
    const { outputs, redact } = this.#setting;
    if (this.#report === undefined) throw new Error('the run did not finish');
    const clean = redact(this.#report);
    const files = [
      ...outputs.files.map((file) => ({ path: file.path, text: rendered(file, clean) })),
      ...(outputs.outFolder === undefined ? [] : outFiles(outputs.outFolder, clean)),
    ];
    return files.map(writeFault).filter((fault) => fault !== undefined);
  }
}

const summaryName = 'verdict.txt';

function outFiles(folder: string, report: RunReport): readonly ReportFile[] {
  const summary = {
    path: join(folder, summaryName),
    text: `${verdictLines(report.target.name, report.verdict).join('\n')}\n`,
  };
  const unhappy = report.results.filter(({ outcome }) => outcome !== 'pass' && outcome !== 'not applicable');
  return [summary, ...unhappy.flatMap((result) => resultFiles(folder, result))];
}

function resultFiles(folder: string, result: CheckResult): readonly ReportFile[] {
  const name = result.repetition === 1 ? result.id : `${result.id}.${result.repetition}`;
  const trace = traceLines(result.trace, result.trace.length);
  return [
    { path: join(folder, `${name}.trace.txt`), text: `${trace.join('\n')}\n` },
    { path: join(folder, `${name}.broker.log`), text: `${result.brokerLog.join('\n')}\n` },
  ];
}
