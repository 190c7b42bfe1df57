// The reporters by name, and what a command line asks of them. The console is always there: a run that prints nothing tells nobody its
// verdict. A report without a path, or a name that is none, is a usage error before anything is started.
import type { Flag, ParsedFlags } from '../cli/flags.ts';
import { oneOf } from '../cli/flags.ts';
import type { RunReport } from '../engine/suite.ts';
import { UsageError } from '../usage-error.ts';
import { runnerIdentity } from '../version.ts';
import type { TraceChoice } from './console.ts';
import { reportJson } from './json.ts';

export const reportFlags: readonly Flag[] = [
  { name: 'trace', kind: 'text', value: 'WHEN', help: 'print the wire trace: off, fail (default) or all' },
  {
    name: 'reporter',
    kind: 'many',
    value: 'NAME[=PATH]',
    help: 'console (default) or json=PATH; may be repeated',
  },
  {
    name: 'out',
    kind: 'text',
    value: 'DIR',
    help: 'writes traces and broker logs of what did not pass into this folder',
  },
];

const renderers = {
  json: (report: RunReport): string => reportJson(report, runnerIdentity),
} as const;
type FileReporter = { readonly name: keyof typeof renderers; readonly path: string };

/** What is to be written, and where. */
export type Outputs = {
  readonly trace: TraceChoice;
  readonly files: readonly FileReporter[];
  readonly outFolder: string | undefined;
};

/** Throws a UsageError. */
export function readOutputs(flags: ParsedFlags): Outputs {
  return {
    trace: oneOf('trace', flags.text('trace'), ['off', 'fail', 'all'], 'fail'),
    files: flags.many('reporter').flatMap(fileReporter),
    outFolder: flags.text('out'),
  };
}

function fileReporter(text: string): readonly FileReporter[] {
  const at = text.indexOf('=');
  const name = oneOf('reporter', at < 0 ? text : text.slice(0, at), ['console', 'json'], 'console');
  if (name === 'console') return [];
  if (at < 0 || at === text.length - 1)
    throw new UsageError(`--reporter ${name} needs a path: --reporter ${name}=FILE`);
  return [{ name, path: text.slice(at + 1) }];
}

export function rendered({ name }: FileReporter, report: RunReport): string {
  return renderers[name](report);
}
