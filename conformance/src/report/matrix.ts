// A table of several runs: one column for each run, one row for each area with its sum and one for each check. The cell of a check that a
// run has not judged stays empty. As Markdown, and as an HTML page like the report. Pure.
import { countOutcomes } from '../verdict.ts';
import type { LoggedResult, RunLog } from './event-log.ts';
import { targetLabel, verdictOfLog } from './event-log.ts';
import { areaOf } from './gate-status.ts';
import { outcomeClass, pageHtml } from './html.ts';
import { inline, table } from './markdown.ts';
import { markupText } from './visible-text.ts';

type Row = { readonly id: string; readonly title: string; readonly cells: readonly string[] };
type Area = { readonly name: string; readonly sums: readonly string[]; readonly rows: readonly Row[] };

export type Matrix = {
  readonly heads: readonly string[];
  readonly verdicts: readonly string[];
  readonly areas: readonly Area[];
};

export function matrixOf(logs: readonly RunLog[]): Matrix {
  const titles = new Map(logs.flatMap((log) => log.results.map(({ id, title }) => [id, title] as const)));
  const ids = [...titles.keys()].sort();
  const areas = [...new Set(ids.map((id) => areaOf({ id })))];
  return {
    heads: logs.map(targetLabel),
    verdicts: logs.map((log) => verdictText(log)),
    areas: areas.map((name) => ({
      name,
      sums: logs.map((log) => sumOf(log.results.filter((result) => areaOf(result) === name))),
      rows: ids
        .filter((id) => areaOf({ id }) === name)
        .map((id) => ({ id, title: titles.get(id) ?? '', cells: logs.map((log) => cellOf(id, log)) })),
    })),
  };
}

function verdictText(log: RunLog): string {
  const { status, partial } = verdictOfLog(log);
  return partial && status === 'conformant' ? 'conformant in part' : status;
}

/** `12/14`: passed checks of those that apply. */
function sumOf(results: readonly LoggedResult[]): string {
  if (results.length === 0) return '';
  const counts = countOutcomes(results);
  return `${counts.pass + counts.warn}/${results.length - counts['not applicable']}`;
}

/** The outcome of a check; all outcomes if its repetitions differ. */
function cellOf(id: string, { results }: RunLog): string {
  const outcomes = results.filter((result) => result.id === id).map(({ outcome }) => outcome);
  return [...new Set(outcomes)].join(' and ');
}

export function matrixMarkdown({ heads, verdicts, areas }: Matrix): string {
  const rows = areas.flatMap((area) => [
    [`**${area.name}**`, '', ...area.sums.map((sum) => (sum === '' ? '' : `**${sum}**`))],
    ...area.rows.map(({ id, title, cells }) => [id, inline(title), ...cells]),
  ]);
  return `${table(['check', 'what it checks', ...heads.map(inline)], [['verdict', '', ...verdicts], ...rows])}\n`;
}

export function matrixHtml({ heads, verdicts, areas }: Matrix): string {
  const columns = heads.map((head) => `<th scope="col">${markupText(head)}</th>`).join('');
  const status = verdicts.map((verdict) => `<td>${markupText(verdict)}</td>`).join('');
  const body = `<header><h1>Conformance of ${heads.length} runs</h1></header>
<main><div class="matrix" tabindex="0" role="region" aria-label="Outcomes by check and run"><table>
<thead><tr><th scope="col">check</th>${columns}</tr></thead>
<tbody><tr><th scope="row">verdict</th>${status}</tr>
${areas.map(areaHtml).join('\n')}
</tbody></table></div></main>`;
  return pageHtml({ title: 'Conformance matrix', body });
}

function areaHtml({ name, sums, rows }: Area): string {
  const head = sums.map((sum) => `<th scope="col">${sum}</th>`).join('');
  return `<tr class="area"><th scope="rowgroup">${name}</th>${head}</tr>\n${rows.map(rowHtml).join('\n')}`;
}

function rowHtml({ id, title, cells }: Row): string {
  const outcomes = cells.map((cell) =>
    cell === '' ? '<td></td>' : `<td><span class="outcome ${outcomeClass(cell)}">${cell}</span></td>`,
  );
  return `<tr id="${id}"><th scope="row"><code>${id}</code> ${markupText(title)}</th>${outcomes.join('')}</tr>`;
}
