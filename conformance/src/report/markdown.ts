// The report as Markdown, for the step summary of a CI system or a comment on a pull request: the verdict, the counts, failures with
// explanations, warnings, areas. Its size is limited: the last details are left out first.
import { outcomes } from '../outcome.ts';
import { countOutcomes } from '../verdict.ts';
import { blockedText, duration, failureLines, outcomeCountsText, verdictLines } from './console.ts';
import type { LoggedCause, LoggedResult, RunLog } from './event-log.ts';
import { durationOf, notesOfLog, plannedCount, targetLabel, targetOfLog, verdictOfLog } from './event-log.ts';
import { byArea, caseName, gateStatusOf, headline } from './gate-status.ts';
import { shortened, visibleLine, visibleText } from './visible-text.ts';

/** A comment takes 65,536 characters; a step summary takes 1 MiB. */
const maxLength = 60_000;
const maxDetailLength = 6_000;

export function markdownSummary(log: RunLog): string {
  const blocks = [...headBlocks(log), ...areaBlock(log.results), ...detailBlocks(log)];
  const foot = footBlock(log);
  let roomLength = maxLength - foot.length - 200;
  const kept = blocks.filter((block) => {
    roomLength -= block.length + 2;
    return roomLength >= 0;
  });
  const missing = blocks.length - kept.length;
  const note = missing === 0 ? [] : [`*${missing} more entries are in the whole report.*`];
  return `${[...kept, ...note, foot].join('\n\n')}\n`;
}

function headBlocks(log: RunLog): readonly string[] {
  const verdict = verdictOfLog(log);
  const scope = verdict.partial ? ', in the part that was run' : '';
  const [what] = verdictLines(targetOfLog(log).name, verdict);
  const counts = countOutcomes(log.results);
  const [reason = '', ...rest] = verdict.reason.split('\n');
  const head = [
    `## ${inline(targetLabel(log))}: ${verdict.status}${scope}`,
    `${inline(what)} The gate is **${verdict.gate}** (exit code ${verdict.exitCode}): ${inline(reason)}.`,
    ...(rest.length === 0 ? [] : [fenced(rest.join('\n'))]),
    table(outcomes, [outcomes.map((outcome) => String(counts[outcome]))]),
  ];
  const causes = log.finish?.causes ?? [];
  if (causes.length > 0) head.push(causesBlock(causes));
  const missing = plannedCount(log) - log.results.length;
  if (missing > 0) head.push(`${missing} of ${plannedCount(log)} checks were not reached.`);
  return [...head, ...notesOfLog(log).map((note) => `Note: ${inline(note)}.`)];
}

function causesBlock(causes: readonly LoggedCause[]): string {
  const rows = causes.map(({ id, level, sentence, shownBy, blocked }) => [
    `${id} (${level}): ${inline(sentence)}`,
    shownBy.join(', '),
    blocked.join(', ') || 'nothing',
  ]);
  return `### Not kept, what blocks most first\n\n${table(['rule', 'shown by', 'blocks'], rows)}`;
}

function detailBlocks(log: RunLog): readonly string[] {
  const { strict } = log.header.options;
  const standing = (wanted: string): readonly LoggedResult[] =>
    log.results.filter((result) => gateStatusOf(result, strict) === wanted);
  const warned = log.results.filter((result) => result.warnings.length > 0 || result.outcome === 'warn');
  return [
    ...titled('Failed', standing('failed').map(failureBlock)),
    ...titled('Not shown', standing('broken').map(failureBlock)),
    ...titled('Failed, as the baseline expects', listBlock(standing('expected'))),
    ...titled('Recommendations not followed', listBlock(warned)),
    ...titled('MUSTs that no check covers', uncoveredBlock(log)),
  ];
}

function titled(title: string, blocks: readonly string[]): readonly string[] {
  const [first, ...rest] = blocks;
  return first === undefined ? [] : [`### ${title}\n\n${first}`, ...rest];
}

function failureBlock(result: LoggedResult): string {
  const lines =
    result.outcome === 'blocked'
      ? [blockedText(result)]
      : failureLines(result, { trace: 'fail', color: false });
  const text = shortened(lines.join('\n').trimEnd(), maxDetailLength);
  const what = element(shortened(headline(result), 200));
  const summary = `<summary><b>${result.outcome}</b> ${element(caseName(result))}: <code>${what}</code></summary>`;
  return `<details>${summary}\n\n${fenced(text)}\n\n</details>`;
}

function listBlock(results: readonly LoggedResult[]): readonly string[] {
  return results.length === 0 ? [] : [table(['check', 'rule', 'what'], results.map(listRow))];
}

function listRow(result: LoggedResult): readonly string[] {
  const rule = result.warnings[0]?.clause ?? result.clause ?? result.clauses[0] ?? '';
  return [inline(caseName(result)), rule, code(headline(result))];
}

function uncoveredBlock({ header }: RunLog): readonly string[] {
  const rules = header.scope?.uncovered ?? [];
  if (rules.length === 0) return [];
  return [
    table(
      ['rule', 'what'],
      rules.map(({ id, sentence }) => [id, inline(sentence)]),
    ),
  ];
}

function areaBlock(results: readonly LoggedResult[]): readonly string[] {
  const rows = [...byArea(results)].map(([area, inArea]) => [area, outcomeCountsText(countOutcomes(inArea))]);
  return rows.length === 0 ? [] : [table(['area', 'checks'], rows)];
}

function footBlock(log: RunLog): string {
  const { runner, seed, options, suite } = log.header;
  const took = durationOf(log);
  const time = took === undefined ? '' : `, ${duration(took)}`;
  return `${runner.name} ${runner.version}, suite \`${suite.digest.slice(7, 19)}\`, seed ${seed}, wire ${options.wire}${time}`;
}

export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [row(heads), row(heads.map(() => '---')), ...rows.map(row)].join('\n');
}

/** Escapes a text, so that it contains no markup and no mention. */
export function inline(text: string): string {
  return element(text).replace(/[\\`*_[\]|~!]|(?<!&)#/g, '\\$&');
}

/** Within an HTML block Markdown is not read: the backslashes of `inline` would be shown. */
function element(text: string): string {
  return visibleLine(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('@', '&#64;');
}

/** A text from a broker as code in a table. */
function code(text: string): string {
  return `<code>${inline(shortened(text, 200))}</code>`;
}

/** A code block with a fence that the text does not contain. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${visibleText(text)}\n${fence}`;
}
