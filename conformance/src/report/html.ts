// The report as one HTML page without other files: it sends no request, opens from a file, follows the reader's colour scheme, and works by
// keyboard. Without scripts only the filters are missing. All text from a broker is escaped, and the content security policy blocks
// scripts that get through.
import { createHash } from 'node:crypto';
import { outcomes } from '../outcome.ts';
import { countOutcomes } from '../verdict.ts';
import { duration, outcomeCountsText, verdictLines } from './console.ts';
import type { LoggedCause, LoggedResult, LoggedRule, RunLog } from './event-log.ts';
import { durationOf, notesOfLog, plannedCount, targetLabel, targetOfLog, verdictOfLog } from './event-log.ts';
import { byArea } from './gate-status.ts';
import { checkHtml, checkLinks, fieldLegendHtml, ruleLink } from './html-check.ts';
import { pageScript } from './html-script.ts';
import { pageStyle } from './html-style.ts';
import { notRightGroups } from './outcome-summary.ts';
import { markupText } from './visible-text.ts';

export function reportHtml(log: RunLog): string {
  const parts = [
    toolsHtml(log),
    areasHtml(log),
    noMatchHtml,
    rulesHtml(log),
    uncoveredHtml(log),
    footerHtml(log),
  ];
  const body = [headerHtml(log), ...parts].join('\n');
  return pageHtml({ title: `${targetLabel(log)}: ${verdictOfLog(log).status}`, body, script: pageScript });
}

/** A whole document around `body`, which must be escaped already. */
export function pageHtml(page: {
  readonly title: string;
  readonly body: string;
  readonly script?: string;
}): string {
  const script = page.script ?? '';
  const policy = `default-src 'none'; img-src data:; style-src '${hashOf(pageStyle)}'; script-src '${hashOf(script)}'; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>${markupText(page.title)}</title>
<style>${pageStyle}</style>
</head>
<body>
${page.body}
<script>${script}</script>
</body>
</html>
`;
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

function headerHtml(log: RunLog): string {
  const verdict = verdictOfLog(log);
  const [what, gate] = verdictLines(targetOfLog(log).name, verdict);
  const notes = notesOfLog(log).map((note) => `<p class="note">Note: ${markupText(note)}</p>`);
  return `<header>
<h1>${markupText(targetLabel(log))}</h1>
<div class="verdict ${verdict.status.replace(' ', '-')}"><p class="what">${markupText(what)}</p><p>${markupText(gate)}</p></div>
${causesHtml(log.finish?.causes ?? [])}${notRightHtml(log)}${notes.join('\n')}<dl class="facts">${factsHtml(log)}</dl>
</header>`;
}

/** The broken rules, at the top of the page, with links to their checks. */
function causesHtml(causes: readonly LoggedCause[]): string {
  if (causes.length === 0) return '';
  const items = causes.map(({ id, level, sentence, shownBy, blocked }) => {
    const blocks = blocked.length === 0 ? '' : `; blocks ${blocked.length}: ${checkLinks(blocked)}`;
    return `<li>${ruleLink(id)} (${level}) ${markupText(sentence)}<br>shown by ${checkLinks(shownBy)}${blocks}</li>`;
  });
  return `<section class="causes" aria-labelledby="causes"><h2 id="causes">Not kept, what blocks most first</h2><ol>${items.join('')}</ol></section>\n`;
}

/** The checks that did not pass, by kind, with links. */
function notRightHtml({ results, header }: RunLog): string {
  const groups = notRightGroups(results, header.options.strict);
  const lines = groups.map(
    ({ name, ids }) => `<div><dt>${name} <small>${ids.length}</small></dt><dd>${checkLinks(ids)}</dd></div>`,
  );
  return lines.length === 0 ? '' : `<dl class="not-right">${lines.join('')}</dl>\n`;
}

function factsHtml(log: RunLog): string {
  const { header } = log;
  const took = durationOf(log);
  const asked = header.options.profiles.length > 0 ? header.options.profiles : header.target.profiles;
  const facts: Readonly<Record<string, string>> = {
    profiles: asked.join(', '),
    checks: `${log.results.length} of ${plannedCount(log)}`,
    seed: String(header.seed),
    wire: header.options.wire,
    started: header.startedAt.replace('T', ' ').replace(/\.\d+Z$/, ' UTC'),
    took: took === undefined ? 'not ended' : duration(took),
    runner: `${header.runner.name} ${header.runner.version}`,
    suite: header.suite.digest.slice(7, 19),
    platform: `Node ${header.platform.node.slice(1)}, ${header.platform.os}`,
  };
  const pairs = Object.entries(facts).map(
    ([name, value]) => `<div><dt>${name}</dt><dd>${markupText(value)}</dd></div>`,
  );
  return pairs.join('');
}

/** The tools are hidden until the script shows them, because they need it. */
function toolsHtml({ results }: RunLog): string {
  const counts = countOutcomes(results);
  const buttons = outcomes.map((outcome) => {
    const disabled = counts[outcome] === 0 ? ' disabled' : '';
    return `<button type="button" data-filter="${outcome}" aria-pressed="true" class="${outcomeClass(outcome)}"${disabled}><b>${counts[outcome]}</b> ${outcome}</button>`;
  });
  return `<form class="tools" role="search" hidden>
<div class="filters" role="group" aria-label="Show outcomes">${buttons.join('')}</div>
<label>Search <input type="search" id="search" placeholder="id, rule or word (press /)" autocomplete="off"></label>
<button type="button" id="unfold" aria-pressed="false">Unfold all</button>
<p id="shown" role="status"></p>
</form>`;
}

export function outcomeClass(outcome: string): string {
  return `o-${outcome.replaceAll(' ', '-')}`;
}

function areasHtml(log: RunLog): string {
  const sections = [...byArea(log.results)].map(([area, results]) => areaHtml(area, results));
  return `<main>\n${sections.join('\n')}\n</main>`;
}

function areaHtml(area: string, results: readonly LoggedResult[]): string {
  return `<section data-area="${area}" aria-labelledby="area-${area}">
<h2 id="area-${area}">${area} <small>${outcomeCountsText(countOutcomes(results))}</small></h2>
${results.map(checkHtml).join('\n')}
</section>`;
}

/** Every rule that a check names, with its checks: the target of the rule links. */
function rulesHtml({ results, finish, header }: RunLog): string {
  const uncovered = new Set((header.scope?.uncovered ?? []).map(({ id }) => id));
  const named = [...results.flatMap(({ rules }) => rules), ...(finish?.causes ?? [])];
  const rules = [...new Map(named.map((rule) => [rule.id, rule])).values()];
  const shown = rules.filter(({ id }) => !uncovered.has(id)).sort((a, b) => (a.id < b.id ? -1 : 1));
  if (shown.length === 0) return '';
  const items = shown.map((rule) => ruleItem(rule, checksOf(rule.id, results)));
  return `<section aria-labelledby="rules">
<h2 id="rules">Rules <small>${shown.length}</small></h2>
<ul class="rule-list">
${items.join('\n')}
</ul>
</section>`;
}

function ruleItem(rule: Pick<LoggedRule, 'id' | 'level' | 'sentence'>, checkIds: readonly string[]): string {
  const { id, level, sentence } = rule;
  const checks = checkIds.length === 0 ? '' : `<br><small>checked by ${checkLinks(checkIds)}</small>`;
  return `<li id="rule-${markupText(id)}"><b>${markupText(id)}</b> <span class="level">${level}</span> ${markupText(sentence)}${checks}</li>`;
}

function checksOf(rule: string, results: readonly LoggedResult[]): readonly string[] {
  return [...new Set(results.filter(({ clauses }) => clauses.includes(rule)).map(({ id }) => id))].sort();
}

/** The requirements that the verdict does not cover. */
function uncoveredHtml({ header }: RunLog): string {
  const rules = header.scope?.uncovered ?? [];
  if (rules.length === 0) return '';
  const items = rules.map(
    ({ id, sentence }) =>
      `<li id="rule-${markupText(id)}"><code>${markupText(id)}</code> ${markupText(sentence)}</li>`,
  );
  return `<section aria-labelledby="uncovered">
<h2 id="uncovered">MUSTs that no check covers <small>${rules.length}</small></h2>
<ul>
${items.join('\n')}
</ul>
</section>`;
}

const noMatchHtml = '<p id="nothing" hidden>No check matches.</p>';

function footerHtml({ header, finish }: RunLog): string {
  const ended = finish === undefined ? 'The event log has no end: the run was interrupted.' : '';
  const { runner } = header;
  return `<footer><p>${ended} Made from the event log of ${markupText(`${runner.name} ${runner.version}`)}. Times of frames are milliseconds since the start of the run.</p>${fieldLegendHtml}</footer>`;
}
