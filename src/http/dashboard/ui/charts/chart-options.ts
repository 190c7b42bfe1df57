// The options of a chart for uPlot: 15 minutes to the right edge, one cursor for all charts of a view, colours from the style sheet at each drawing, so
// that they follow the scheme.

import type uPlot from 'uplot';
import { formatClock } from '../words/format.ts';
import { axisTop, type Line, timeRange } from './chart-data.ts';

export type ChartLine = { readonly label: string; readonly isDashed?: boolean };

export type ChartSettings = {
  readonly lines: readonly ChartLine[];
  /** Charts with the same key share their cursor. */
  readonly syncKey: string;
  /** The least top of the vertical axis. */
  readonly leastTop: number;
  readonly width: number;
  readonly height: number;
  /** The text of a number on the vertical axis. */
  readonly tick: (value: number) => string;
  /** The broker's clock, in milliseconds since 1970. */
  readonly now: () => number;
  /** Called with the index under the cursor; null when it is elsewhere. */
  readonly onCursor: (index: number | null) => void;
};

export function chartOptions(settings: ChartSettings): uPlot.Options {
  const { lines, syncKey, leastTop, width, height, now, onCursor } = settings;
  const top = (u: uPlot) => axisTop(u.data.slice(1) as readonly Line[], leastTop) * 1.1;
  return {
    width,
    height,
    padding: [8, 16, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, sync: { key: syncKey }, points: { size: 6 } },
    scales: {
      x: { time: true, range: (u) => timeRange(u.data[0], now()) },
      y: { range: (u) => [0, top(u)] },
    },
    axes: [timeAxis(), valueAxis(settings.tick)],
    series: [{}, ...lines.map(seriesOf)],
    hooks: { setCursor: [(u) => onCursor(u.cursor.idx ?? null)] },
  };
}

function seriesOf({ label, isDashed = false }: ChartLine): uPlot.Series {
  const color = isDashed ? '--chart-second' : '--chart-first';
  return {
    label,
    width: 1.5,
    stroke: colorOf(color),
    points: { show: false },
    ...(isDashed ? { dash: [4, 3] } : { fill: colorOf('--chart-fill') }),
  };
}

const font = '12px system-ui, sans-serif';

function timeAxis(): uPlot.Axis {
  return {
    font,
    stroke: colorOf('--ink-2'),
    size: 28,
    space: 72,
    grid: { show: false },
    ticks: { stroke: colorOf('--line'), width: 1, size: 4 },
    values: (_, splits) => splits.map((at) => formatClock(at * 1000).slice(0, 5)),
    incrs: [60, 300, 900],
  };
}

function valueAxis(tick: (value: number) => string): uPlot.Axis {
  return {
    font,
    stroke: colorOf('--ink-2'),
    size: 76,
    space: 32,
    grid: { stroke: colorOf('--line'), width: 1 },
    ticks: { show: false },
    values: (_, splits) => splits.map(tick),
  };
}

function colorOf(name: string): (u: uPlot) => string {
  return (u) => getComputedStyle(u.root).getPropertyValue(name);
}
