// One picture of the screen as lines: what is said about the broker, the table, the keys. Pure: text and style, no escape codes. No line is wider
// than the screen, and there are not more lines than it has.

import { noteOf, tableLines } from './columns.ts';
import { bytesText, countText, latencyText, rateText } from './figures.ts';
import type { LiveTable, QueueRow } from './live-table.ts';
import { cutTo, escaped } from './shown-text.ts';
import { sortedRows } from './sorting.ts';
import type { View } from './view.ts';

export type Line = { readonly text: string; readonly style: 'plain' | 'strong' | 'head' | 'alarm' };

export type Screen = { readonly width: number; readonly height: number };

export type Connection = {
  /** Where the events come from. */
  readonly url: string;
  /** Since when there is no connection, and why; absent: there is one. */
  readonly lost?: { readonly forMs: number; readonly reason: string } | undefined;
};

/** Lines that are not rows: three about the broker, an empty one, the head of the table, the keys. */
const FRAME_LINES = 6;

const KEYS = 'q quit  s sort  r reverse  / find';

/** How many rows of queues a screen of this height shows. */
export function pageRowsOf({ height }: Pick<Screen, 'height'>): number {
  return Math.max(0, height - FRAME_LINES);
}

/** The lines of the screen, and the view with its offset within the rows. */
export function frameOf(
  table: LiveTable,
  chosen: View,
  connection: Connection,
  screen: Screen,
): { readonly lines: readonly Line[]; readonly view: View } {
  const rows = sortedRows(matchingRows(table, chosen.filter), chosen);
  const pageRows = pageRowsOf(screen);
  const view = { ...chosen, offset: Math.max(0, Math.min(chosen.offset, rows.length - pageRows)) };
  const shown = rows.slice(view.offset, view.offset + pageRows);
  const [head = '', ...body] = tableLines(shown, table.now, screen.width);
  const lines: Line[] = [
    ...headerLines(table, connection),
    { text: '', style: 'plain' },
    { text: head.padEnd(screen.width), style: 'head' },
    ...body.map((text, index): Line => ({ text, style: isConspicuous(shown[index]) ? 'strong' : 'plain' })),
    ...Array.from({ length: pageRows - body.length }, (): Line => ({ text: '', style: 'plain' })),
    { text: footer(view, rows.length, shown.length), style: 'plain' },
  ];
  const fitting = lines
    .slice(0, screen.height)
    .map((line) => ({ ...line, text: cutTo(line.text, screen.width) }));
  return { lines: fitting, view };
}

/** The whole table as plain lines of any length, for a pipe. */
export function plainLines(table: LiveTable, order: View, connection: Connection): readonly string[] {
  const rows = sortedRows(table.rows.values(), order);
  const header = headerLines(table, connection).map(({ text }) => text);
  return [...header, '', ...tableLines(rows, table.now, Number.POSITIVE_INFINITY)];
}

function headerLines(table: LiveTable, { url, lost }: Connection): readonly Line[] {
  const { health, point } = table;
  const state = health.isHealthy ? 'healthy' : `not healthy: ${health.reasons.map(escaped).join('; ')}`;
  const outage = lost && `no connection for ${Math.floor(lost.forMs / 1000)} s: ${escaped(lost.reason)}`;
  const isAlarming = lost !== undefined || !health.isHealthy;
  return [
    {
      text: `truemq ${escaped(table.serverVersion)}  ${outage ?? state}  ${escaped(url)}`,
      style: isAlarming ? 'alarm' : 'strong',
    },
    { text: sizesText(table), style: 'plain' },
    { text: point === undefined ? 'no figures yet' : ratesText(point), style: 'plain' },
  ];
}

function sizesText({ point, rows, memoryLimitBytes }: LiveTable): string {
  const queues = `queues ${countText(rows.size)}`;
  if (point === undefined) return queues;
  const memory = `memory ${bytesText(point.memoryBytes)} of ${bytesText(memoryLimitBytes)}`;
  const counts = `waiting ${countText(point.waitingCount)}  in flight ${countText(point.inFlightCount)}`;
  return `connections ${countText(point.connectionCount)}  ${memory}  ${queues}  ${counts}`;
}

function ratesText(point: NonNullable<LiveTable['point']>): string {
  const rates = `published ${rateText(point.publishedRate)}/s  delivered ${rateText(point.deliveredRate)}/s`;
  const errors = `errors ${rateText(point.errorRate)}/s`;
  return `${rates}  ${errors}  latency p50 ${latencyText(point.latencyP50Ms)}, p99 ${latencyText(point.latencyP99Ms)}`;
}

function footer(view: View, rowCount: number, shownCount: number): string {
  if (view.isTyping)
    return `queues whose name contains: ${escaped(view.filter)}_  (Enter keeps it, Esc shows all)`;
  const range =
    shownCount === 0 ? 'no queues' : `${view.offset + 1} to ${view.offset + shownCount} of ${rowCount}`;
  const filter = view.filter === '' ? '' : ` with "${escaped(view.filter)}"`;
  return `${KEYS}  |  by ${view.sortKey}${view.isReversed ? ', reversed' : ''}  |  ${range}${filter}`;
}

function matchingRows({ rows }: LiveTable, filter: string): readonly QueueRow[] {
  const wanted = filter.toLowerCase();
  return [...rows.values()].filter(({ name }) => name.toLowerCase().includes(wanted));
}

function isConspicuous(row: QueueRow | undefined): boolean {
  return row !== undefined && noteOf(row) !== '';
}
