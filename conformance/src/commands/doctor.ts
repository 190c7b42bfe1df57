// `truemq-conformance doctor`: starts the target, sends a few commands, stops it, starts it again, closes its input, and names common
// mistakes. Exit codes: 0 healthy, 1 findings, 2 usage, 4 the target did not start.

import {
  credentialFlags,
  givenCredentials,
  readCredentials,
  refuseUnusedCredentials,
} from '../cli/credential-flags.ts';
import type { Flag } from '../cli/flags.ts';
import { numberIn, parseFlags } from '../cli/flags.ts';
import type { Sources } from '../cli/sources.ts';
import type { Terminal } from '../cli/terminal.ts';
import { countText } from '../count-text.ts';
import { examine } from '../doctor/examine.ts';
import type { Diagnosis, ExaminationStep } from '../doctor/finding.ts';
import { mistakes } from '../doctor/finding.ts';
import { reachWords, scaleWords } from '../engine/reproduce.ts';
import { redactor } from '../report/redaction.ts';
import { visibleLine, visibleText } from '../report/visible-text.ts';
import { readTarget } from '../target/target-file.ts';
import { timingFor } from '../timing.ts';
import { UsageError } from '../usage-error.ts';
import type { ExitCode } from '../verdict.ts';
import { exitCodes } from '../verdict.ts';

export const doctorFlags: readonly Flag[] = [
  { name: 'target', kind: 'text', value: 'FILE', help: 'the target file (required)' },
  ...credentialFlags,
  { name: 'timeout-scale', kind: 'text', value: 'X', help: 'multiplies every deadline, for slow targets' },
];

export async function doctorCommand(
  args: readonly string[],
  _sources: Sources,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<ExitCode> {
  const flags = parseFlags(args, doctorFlags);
  if (flags.positionals.length > 0)
    throw new UsageError(`doctor takes no argument, ${flags.positionals[0]} came`);
  const path = flags.text('target');
  if (path === undefined) throw new UsageError('--target FILE is missing');
  const range = { low: 0.05, high: 100, whole: false };
  const timeoutScale = numberIn('timeout-scale', flags.text('timeout-scale'), range, 1);
  const target = readTarget(path);
  const credentials = readCredentials(flags);
  refuseUnusedCredentials(target, credentials);
  const diagnosis = await examine({
    target,
    timing: timingFor(timeoutScale),
    timeoutScale,
    credentials,
    signal,
  });
  const told = redactor(target.redactions ?? [])(diagnosis);
  for (const line of diagnosisLines(target.name, told)) terminal.out(visibleText(line));
  if (!diagnosis.started) return exitCodes.target;
  if (diagnosis.findings.length > 0) return exitCodes.failed;
  const reach = reachWords({ targetPath: path, givenCredentials: givenCredentials(flags) });
  terminal.out(`next: truemq-conformance run ${reach}${scaleWords({ timeoutScale })}`);
  return exitCodes.open;
}

const marks: Readonly<Record<ExaminationStep['outcome'], string>> = {
  ok: 'ok   ',
  found: 'FOUND',
  skipped: '--   ',
};
const shownLogLineCount = 10;

function diagnosisLines(name: string, { steps, findings, log }: Diagnosis): readonly string[] {
  const lines = steps.map((step) => `${marks[step.outcome]} ${step.name.padEnd(12)} ${step.text}`);
  if (findings.length === 0) return [...lines, '', `${name}: no mistakes found.`];
  const found = findings.flatMap(({ mistake, seen }) => [
    `[${mistake}] ${mistakes[mistake].title}`,
    `  seen: ${seen}`,
    `  do:   ${mistakes[mistake].remedy}`,
    '',
  ]);
  const tail = log.slice(-shownLogLineCount).map((line) => `  | ${visibleLine(line)}`);
  const logLines = tail.length === 0 ? [] : ['the last lines of its log:', ...tail, ''];
  const count = `${countText(findings.length, 'mistake')} found`;
  return [...lines, '', ...found, ...logLines, `${name}: ${count}.`];
}
