// The report as JUnit XML, which every CI system reads: one suite for each area, one case for each check, and a case for the run as a
// whole. A broken rule is a <failure>. An error of the runner or a check that could not run is an <error>, never a <skipped>, which CI
// systems show as green. Only a check that does not apply, or that fails as the baseline expects, is <skipped>.
import { failureLines } from './console.ts';
import type { LoggedResult, RunLog } from './event-log.ts';
import { durationOf, targetLabel, verdictOfLog } from './event-log.ts';
import { byArea, caseName, gateStatusOf, headline, wholeRunFault } from './gate-status.ts';
import { markupText } from './visible-text.ts';

type Counted = {
  readonly tests: number;
  readonly failures: number;
  readonly errors: number;
  readonly skipped: number;
};
type Suite = { readonly name: string; readonly cases: readonly Case[] };
/** `verdict` is the element that marks the case as not passed. */
type Case = {
  readonly area: string;
  readonly name: string;
  readonly seconds: number;
  readonly verdict?: {
    readonly element: 'failure' | 'error' | 'skipped';
    readonly type: string;
    readonly message: string;
  };
  readonly text?: string;
};

const packageName = 'truemq-conformance';

export function junitXml(log: RunLog): string {
  const areas = [...byArea(log.results)].map(
    ([area, results]): Suite => ({
      name: area,
      cases: results.map((result) => checkCase(area, result, log.header.options.strict)),
    }),
  );
  const suites = [...areas, { name: 'run', cases: [runCase(log)] }];
  const seconds = ((durationOf(log) ?? 0) / 1000).toFixed(3);
  const head = `<testsuites${attributes({ name: packageName, ...counted(suites.flatMap((suite) => suite.cases)), time: seconds })}>`;
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    head,
    ...suites.flatMap((suite) => suiteLines(suite, log)),
  ];
  return `${[...lines, '</testsuites>'].join('\n')}\n`;
}

function checkCase(area: string, result: LoggedResult, strict: boolean): Case {
  const base = { area, name: caseName(result), seconds: result.durationMs / 1000 };
  const message = headline(result);
  const text = failureLines(result, { trace: 'fail', color: false }).join('\n');
  switch (gateStatusOf(result, strict)) {
    case 'passed':
      return result.outcome === 'warn' ? { ...base, text: `warning: ${message}` } : base;
    case 'failed':
      return { ...base, verdict: { element: 'failure', type: result.outcome, message }, text };
    case 'broken':
      return { ...base, verdict: { element: 'error', type: result.outcome, message }, text };
    case 'expected':
      return {
        ...base,
        verdict: { element: 'skipped', type: 'expected', message: expectedText(result) },
        text,
      };
    case 'skipped':
      return { ...base, verdict: { element: 'skipped', type: result.outcome, message } };
  }
}

function expectedText(result: LoggedResult): string {
  return `fails, as the baseline expects: ${result.baseline?.reason ?? ''}; ${headline(result)}`;
}

function runCase(log: RunLog): Case {
  const fault = wholeRunFault(log);
  const base = { area: 'run', name: 'the run as a whole', seconds: 0 };
  if (fault === undefined) return base;
  const element = verdictOfLog(log).exitCode === 1 ? 'failure' : 'error';
  return { ...base, verdict: { element, type: `exit code ${verdictOfLog(log).exitCode}`, message: fault } };
}

function suiteLines({ name, cases }: Suite, log: RunLog): readonly string[] {
  const seconds = cases.reduce((sum, one) => sum + one.seconds, 0).toFixed(3);
  const timestamp = log.header.startedAt.slice(0, 19);
  const head = `  <testsuite${attributes({ name: `${packageName}.${name}`, ...counted(cases), time: seconds, timestamp })}>`;
  return [head, ...propertyLines(log), ...cases.flatMap(caseLines), '  </testsuite>'];
}

function propertyLines(log: RunLog): readonly string[] {
  const { seed, options, runner } = log.header;
  const properties = {
    target: targetLabel(log),
    seed,
    wire: options.wire,
    runner: `${runner.name} ${runner.version}`,
  };
  const lines = Object.entries(properties).map(
    ([name, value]) => `      <property${attributes({ name, value })}/>`,
  );
  return ['    <properties>', ...lines, '    </properties>'];
}

function caseLines({ area, name, seconds, verdict, text }: Case): readonly string[] {
  const head = `    <testcase${attributes({ classname: `${packageName}.${area}`, name, time: seconds.toFixed(3) })}`;
  if (verdict === undefined && text === undefined) return [`${head}/>`];
  const told =
    verdict === undefined || verdict.element === 'skipped'
      ? [...(verdict === undefined ? [] : [verdictElement(verdict)]), ...systemOut(text)]
      : [verdictElement(verdict, text)];
  return [`${head}>`, ...told, '    </testcase>'];
}

function verdictElement({ element, type, message }: NonNullable<Case['verdict']>, text?: string): string {
  const kind = element === 'skipped' ? { message } : { type, message };
  const open = `      <${element}${attributes(kind)}`;
  return text === undefined ? `${open}/>` : `${open}>${markupText(text)}</${element}>`;
}

function systemOut(text: string | undefined): readonly string[] {
  return text === undefined ? [] : [`      <system-out>${markupText(text)}</system-out>`];
}

function counted(cases: readonly Case[]): Counted {
  const count = (element: string): number => cases.filter((one) => one.verdict?.element === element).length;
  return {
    tests: cases.length,
    failures: count('failure'),
    errors: count('error'),
    skipped: count('skipped'),
  };
}

/** XML readers turn a line feed in an attribute into a space, so it is escaped. */
function attributes(values: Readonly<Record<string, string | number>>): string {
  const texts = Object.entries(values).map(
    ([name, value]) =>
      ` ${name}="${markupText(String(value)).replaceAll('\n', '&#10;').replaceAll('\t', '&#9;')}"`,
  );
  return texts.join('');
}
