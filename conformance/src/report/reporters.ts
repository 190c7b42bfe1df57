// The reporters by name, and the flags that say which report goes where. A report without a path, or an unknown name, is a usage error
// before anything is started.
import type { Flag, ParsedFlags } from '../cli/flags.ts';
import { oneOf } from '../cli/flags.ts';
import { UsageError } from '../usage-error.ts';
import { badgeJson, badgeSvg } from './badge.ts';
import type { TraceChoice } from './console.ts';
import { consoleReport } from './console.ts';
import type { RunLog } from './event-log.ts';
import { reportHtml } from './html.ts';
import { reportJson } from './json.ts';
import { junitXml } from './junit.ts';
import { logText } from './log-writer.ts';
import { markdownSummary } from './markdown.ts';
import { tapText } from './tap.ts';

export const reporterNames = [
  'console',
  'json',
  'junit',
  'tap',
  'markdown',
  'ndjson',
  'html',
  'badge',
  'badge-json',
] as const;
export type ReporterName = (typeof reporterNames)[number];

/** Every report is a function of the log alone. */
export const renderers: Readonly<Record<ReporterName, (log: RunLog) => string>> = {
  console: (log) => `${consoleReport(log, { trace: 'fail', color: false }).join('\n')}\n`,
  json: reportJson,
  junit: junitXml,
  tap: tapText,
  markdown: markdownSummary,
  ndjson: logText,
  html: reportHtml,
  badge: badgeSvg,
  'badge-json': badgeJson,
};

export const reporterFlag: Flag = {
  name: 'reporter',
  kind: 'many',
  value: 'NAME=PATH',
  help: `a report to write: ${reporterNames.join(', ')}; PATH - is standard output; may be repeated`,
};

export const outFlag: Flag = {
  name: 'out',
  kind: 'text',
  value: 'DIR',
  help: 'writes every report into this folder, with traces and broker logs of what did not pass',
};

export const reportFlags: readonly Flag[] = [
  { name: 'trace', kind: 'text', value: 'WHEN', help: 'print the wire trace: off, fail (default) or all' },
  {
    name: 'quiet',
    kind: 'boolean',
    help: 'prints only the checks that keep the gate closed, and the end',
  },
  reporterFlag,
  outFlag,
];

/** Where one report goes. `append`: appends to the file, as the step summary of a CI system needs. */
export type Destination =
  | { readonly kind: 'file' | 'append'; readonly name: ReporterName; readonly path: string }
  | { readonly kind: 'standard output'; readonly name: ReporterName };

/** The requested reports and their destinations. */
export type Outputs = {
  readonly trace: TraceChoice;
  /** The console prints only the checks that keep the gate closed, and the end. */
  readonly quiet: boolean;
  readonly reports: readonly Destination[];
  readonly outFolder: string | undefined;
};

type Environment = Readonly<Record<string, string | undefined>>;

/** `environment` is used only for the step summary of a CI system. Throws a UsageError. */
export function readOutputs(flags: ParsedFlags, environment: Environment = process.env): Outputs {
  const reports = flags.many('reporter').flatMap((text) => destinationsOf(text, environment));
  if (reports.filter(({ kind }) => kind === 'standard output').length > 1)
    throw new UsageError('--reporter: only one report can go to standard output');
  return {
    trace: oneOf('trace', flags.text('trace'), ['off', 'fail', 'all'], 'fail'),
    quiet: flags.boolean('quiet'),
    reports,
    outFolder: flags.text('out'),
  };
}

/** The console report always goes to the terminal, so its name without a path adds no destination. */
function destinationsOf(text: string, environment: Environment): readonly Destination[] {
  const at = text.indexOf('=');
  const name = oneOf('reporter', at < 0 ? text : text.slice(0, at), reporterNames, 'console');
  const path = at < 0 ? '' : text.slice(at + 1);
  if (path === '-') return [{ kind: 'standard output', name }];
  if (path !== '') return [{ kind: 'file', name, path }];
  if (name === 'console') return [];
  const summary = environment['GITHUB_STEP_SUMMARY'] ?? '';
  if (name === 'markdown' && summary !== '') return [{ kind: 'append', name, path: summary }];
  throw new UsageError(
    `--reporter ${name} needs a path: --reporter ${name}=FILE, or ${name}=- for standard output`,
  );
}
