// A chart over time with its caption: the values at the cursor, or the newest. The canvas is an image to screen readers, the caption is its text.

import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import type { ChartData } from '../charts/chart-data.ts';
import { type ChartLine, chartOptions } from '../charts/chart-options.ts';
import type { Topic } from '../live/live-store.ts';
import { formatClock } from '../words/format.ts';
import { usePage, useStore } from './page-context.ts';

const HEIGHT = 152;

export type ChartProps = {
  readonly title: string;
  readonly lines: readonly ChartLine[];
  readonly topic: Topic;
  readonly read: () => ChartData;
  readonly format: (value: number) => string;
  /** For the numbers of the vertical axis. */
  readonly tick: (value: number) => string;
  readonly syncKey: string;
  readonly leastTop: number;
};

export function Chart(props: ChartProps) {
  const { title, lines, topic, read, format } = props;
  const [cursor, setCursor] = useState<number | null>(null);
  useStore(topic);
  const host = useChart(props, setCursor);
  const data = read();
  const index = cursor ?? data[0].length - 1;
  const at = data[0][index];
  return (
    <figure>
      <figcaption>
        <span class="chart-title">{title}</span>
        {lines.map(({ label, isDashed = false }, number) => (
          <span key={label} class={isDashed ? 'key dashed' : 'key'}>
            {label} <b>{shown(data[number + 1]?.[index], format)}</b>
          </span>
        ))}
        <span class="chart-time">{cursor === null || at === undefined ? '' : formatClock(at * 1000)}</span>
      </figcaption>
      <div ref={host} class="plot" role="img" aria-label={`${title}, the last 15 minutes`} />
    </figure>
  );
}

function shown(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? '–' : format(value);
}

/** The element that the chart is drawn in: made once, given its data with each change of the topic, drawn anew when colours change. */
function useChart(props: ChartProps, onCursor: (index: number | null) => void) {
  const { store } = usePage();
  const host = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    const element = host.current;
    if (element === null) return undefined;
    const { lines, syncKey, leastTop, tick, topic } = latest.current;
    const width = element.clientWidth;
    const data = () => latest.current.read() as unknown as uPlot.AlignedData;
    const settings = {
      lines,
      syncKey,
      leastTop,
      width,
      height: HEIGHT,
      tick,
      now: () => store.brokerNow(Date.now()),
      onCursor,
    };
    const chart = new uPlot(chartOptions(settings), data(), element);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const redraw = () => requestAnimationFrame(() => chart.redraw());
    const resized = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    resized.observe(element);
    scheme.addEventListener('change', redraw);
    const ends = [store.subscribe(topic, () => chart.setData(data())), store.subscribe('phase', redraw)];
    return () => {
      for (const end of ends) end();
      scheme.removeEventListener('change', redraw);
      resized.disconnect();
      chart.destroy();
    };
  }, [store, onCursor]);
  return host;
}
