// One check in the HTML page: its line, and below it everything that explains its outcome: the rules, the accepted outcomes, the actual
// one, the frames with times, the broker's log, the command that runs it again. All text is escaped here.
import { countText } from '../count-text.ts';
import type { Warning } from '../outcome.ts';
import type { TraceEvent } from '../trace.ts';
import { duration } from './console.ts';
import type { LoggedResult, LoggedRule } from './event-log.ts';
import type { TraceRow } from './folded-trace.ts';
import { foldedTrace, pollsText, shownRows, shownText } from './folded-trace.ts';
import { fieldNames, frameFields } from './frame-fields.ts';
import { headline, unshownStepText } from './gate-status.ts';
import { markupText, shortened } from './visible-text.ts';

/** Passed checks show less of their trace, because there are many of them and the event log has all of it. */
const shownOf = {
  right: { eventCount: 30, hexLength: 80, isTitled: false },
  notRight: { eventCount: 200, hexLength: 512, isTitled: true },
} as const;
/** `isTitled`: each field has a tooltip with its value. */
type Shown = { readonly eventCount: number; readonly hexLength: number; readonly isTitled: boolean };
const shownLength = 4_000;

export function checkHtml(result: LoggedResult): string {
  const { id, repetition, outcome, level, profile } = result;
  const anchor = repetition === 1 ? id : `${id}.${repetition}`;
  const isOpen = outcome === 'fail' || outcome === 'error' ? ' open' : '';
  const words = [id, result.title, ...result.clauses, level, profile, headline(result)]
    .join(' ')
    .toLowerCase();
  return `<details class="check" id="${anchor}" data-outcome="${outcome}" data-words="${markupText(words)}"${isOpen}>
<summary>${badgeHtml(outcome)} <code>${anchor}</code> <span class="title">${markupText(result.title)}</span> <span class="meta">${level} · ${profile} · ${duration(result.durationMs)}</span></summary>
<div class="body">
${partsOf(result, anchor).join('\n')}
</div>
</details>`;
}

function badgeHtml(outcome: string): string {
  return `<span class="outcome o-${outcome.replaceAll(' ', '-')}">${outcome}</span>`;
}

function partsOf(result: LoggedResult, anchor: string): readonly string[] {
  const { reason, expected, actual, accepts, evidence, baseline } = result;
  const seen = Object.entries(evidence).map(([kind, count]) => `${count} ${kind}`);
  return [
    ...(baseline === undefined
      ? []
      : [`<p class="note">Expected by the baseline: ${text(baseline.reason)}</p>`]),
    ...blockerHtml(result),
    ...(reason === undefined ? [] : [`<p class="reason">${text(reason)}</p>`]),
    rulesHtml(result.rules, result.clause),
    pairsHtml([
      ...accepts.map((accepted) => ['accepted', accepted] as const),
      ...(expected === undefined ? [] : [['expected', expected] as const]),
      ...(actual === undefined ? [] : [['came', actual] as const]),
    ]),
    ...result.warnings.map(warningHtml),
    ...result.notes.map((note) => `<p class="note">Note: ${text(note)}</p>`),
    ...traceHtml(result),
    ...logHtml(result.brokerLog),
    `<p class="again"><span>Again</span> <code>${text(result.reproduce)}</code></p>`,
    `<p class="foot">Evidence: ${seen.join(', ')} · <a href="#${anchor}">link to this check</a></p>`,
  ].filter((part) => part !== '');
}

/** The rule that blocks the check, with the checks that show it broken. */
function blockerHtml(result: LoggedResult): readonly string[] {
  const { blockedBy, explainedBy } = result;
  if (explainedBy !== undefined) {
    const { clause, shownBy } = explainedBy;
    return [`<p>Comes from ${ruleLink(clause)}, which is not followed, as ${checkLinks(shownBy)} shows.</p>`];
  }
  if (result.outcome === 'not shown' && result.requiredStep !== undefined) {
    return [`<p>Not shown: ${text(unshownStepText(result))}</p>`];
  }
  if (blockedBy === undefined) return [];
  const { clause, shownBy } = blockedBy;
  return [`<p>Needs ${ruleLink(clause)}, which is shown broken by ${checkLinks(shownBy)}.</p>`];
}

/** The ids as links to their checks. */
export function checkLinks(ids: readonly string[]): string {
  return ids.map((id) => `<a href="#${id}"><code>${id}</code></a>`).join(', ');
}

/** A text from outside, shortened, so that one value cannot make a page of megabytes. */
function text(value: string): string {
  return markupText(shortened(value, shownLength));
}

/** A link to the rule in the section of rules. */
export function ruleLink(id: string): string {
  const name = markupText(id);
  return `<a class="rule" href="#rule-${name}">${name}</a>`;
}

function rulesHtml(rules: readonly LoggedRule[], broken: string | undefined): string {
  const items = rules.map((rule) => {
    const also = (rule.alternatives ?? []).map((alternative) => `<li>also right: ${text(alternative)}</li>`);
    const alternatives = also.length === 0 ? '' : `<ul>${also.join('')}</ul>`;
    const mark = rule.id === broken ? ' class="broken"' : '';
    return `<li${mark}>${ruleLink(rule.id)} <span class="level">${rule.level}</span> ${text(rule.sentence)}${alternatives}</li>`;
  });
  return items.length === 0 ? '' : `<ul class="rules">${items.join('')}</ul>`;
}

function pairsHtml(pairs: readonly (readonly [name: string, value: string])[]): string {
  const rows = pairs.map(
    ([name, value]) => `<div><dt>${name}</dt><dd class="${name}">${text(value)}</dd></div>`,
  );
  return rows.length === 0 ? '' : `<dl class="pairs">${rows.join('')}</dl>`;
}

function warningHtml({ clause, text: what, expected, actual }: Warning): string {
  const wanted = expected === undefined ? '' : `; expected: ${expected}`;
  const came = actual === undefined ? '' : `; came: ${actual}`;
  return `<p class="warning">${ruleLink(clause)} ${text(`${what}${wanted}${came}`)}</p>`;
}

function traceHtml({ trace, outcome, brokenAtMs }: LoggedResult): readonly string[] {
  if (trace.length === 0) return [];
  const isRight = outcome === 'pass' || outcome === 'not applicable';
  const extent = isRight ? shownOf.right : shownOf.notRight;
  const rows = foldedTrace(trace);
  const shown = shownRows(rows, extent.eventCount, brokenAtMs);
  const count = shownText(rows, shown, brokenAtMs) ?? countText(trace.length, 'event');
  const isOpen = isRight ? '' : ' open';
  return [
    `<details class="trace"${isOpen}><summary>On the wire: ${count}</summary>
<div class="scroll" tabindex="0" role="region" aria-label="What went over the wire"><table>
<thead><tr><th scope="col">ms</th><th scope="col">conn.</th><th scope="col"></th><th scope="col">frame</th></tr></thead>
<tbody>${shown.map((row) => rowHtml(row, extent)).join('\n')}</tbody></table></div></details>`,
  ];
}

const arrows: Readonly<Record<TraceEvent['kind'], readonly [arrow: string, words: string]>> = {
  opened: ['○', 'opened'],
  sent: ['→', 'sent'],
  received: ['←', 'received'],
  closed: ['●', 'closed'],
  undecodable: ['⇠', 'received, not decodable'],
  http: ['⇄', 'HTTP'],
};

function rowHtml(row: TraceRow, extent: Shown): string {
  if (row.kind === 'event') return eventHtml(row.event, extent);
  const { atMs, connection } = row.request;
  return `<tr class="k-polls"><td>${atMs.toFixed(1)}</td><td>${markupText(connection)}</td><td title="polls"><span aria-label="polls" role="img">↻</span></td><td><bdi>${text(pollsText(row))}</bdi></td></tr>`;
}

function eventHtml(event: TraceEvent, extent: Shown): string {
  const [arrow, words] = arrows[event.kind];
  const hex = event.byteCount === 0 ? '' : `<div class="hex">${hexHtml(event, extent)}</div>`;
  return `<tr class="k-${event.kind}"><td>${event.atMs.toFixed(1)}</td><td>${markupText(event.connection)}</td><td title="${words}"><span aria-label="${words}" role="img">${arrow}</span></td><td><bdi>${text(event.text)}</bdi>${hex}</td></tr>`;
}

/** Each field of a frame has a colour; an HTTP body is shown as text. */
function hexHtml({ hex, byteCount, kind }: TraceEvent, { hexLength, isTitled }: Shown): string {
  if (kind === 'http') return text(Buffer.from(hex, 'hex').toString('utf8'));
  const shown = Buffer.from(hex.slice(0, hexLength), 'hex');
  const more = shown.length < byteCount ? ` .. (${byteCount} bytes)` : '';
  const fields = frameFields(shown).map(({ name, start, end, text: says }) => {
    const title = isTitled ? ` title="${name}: ${markupText(says)}"` : '';
    return `<span class="f-${name}"${title}>${shown.toString('hex', start, end)}</span>`;
  });
  return `${fields.join(' ')}${more}`;
}

/** The legend of the colours of the bytes. */
export const fieldLegendHtml = `<p class="hex legend">Bytes of frames: ${fieldNames
  .map((name) => `<span class="f-${name}">${name}</span>`)
  .join(' ')}</p>`;

function logHtml(lines: readonly string[]): readonly string[] {
  if (lines.length === 0) return [];
  const isOpen = lines.length <= 15 ? ' open' : '';
  return [
    `<details class="log"${isOpen}><summary>The broker's log: ${countText(lines.length, 'line')}</summary>
<pre tabindex="0"><bdi>${markupText(lines.join('\n'))}</bdi></pre></details>`,
  ];
}
