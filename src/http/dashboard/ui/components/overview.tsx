// The overview: the state of the broker in a sentence and in figures, four charts on one time axis, and the queues to look at first.

import type { ComponentChildren } from 'preact';
import { type ChartData, chartData, withoutShortGaps } from '../charts/chart-data.ts';
import type { LiveStore } from '../live/live-store.ts';
import type { PointField } from '../live/point-ring.ts';
import { formatBytes, formatCount, formatLatency, formatRate, formatTick } from '../words/format.ts';
import { connectionSentence, healthSentence } from '../words/sentences.ts';
import { AttentionList } from './attention-list.tsx';
import { Chart, type ChartProps } from './chart.tsx';
import { PubCommand } from './copy-button.tsx';
import { usePage, useStore } from './page-context.ts';

const BYTES_OF_MIB = 1_048_576;
/** Seconds without a first delivery that a line of latencies is drawn through. */
const MAX_GAP = 15;

export function Overview() {
  const { facts, membership, queues } = useStore('health', 'queues');
  void membership;
  return (
    <>
      <Sentence />
      <Figures />
      <div class="charts">
        <Charts />
      </div>
      {facts !== undefined && queues.size === 0 ? <NoQueues /> : <AttentionList />}
    </>
  );
}

function Sentence() {
  const { facts, health, queues, now, phase, refusal } = useStore('health', 'queues', 'phase');
  if (facts === undefined) {
    return (
      <h1 tabIndex={-1} class="sentence">
        {connectionSentence(phase, refusal)}
      </h1>
    );
  }
  return (
    <h1 tabIndex={-1} class={health.isHealthy ? 'sentence good' : 'sentence bad'}>
      {healthSentence(health, queues.values(), now)}
    </h1>
  );
}

function Figures() {
  const { points, facts } = useStore('points');
  const value = (field: PointField, format: (value: number) => string): string => {
    const last = points.last(field);
    return last === null ? '–' : format(last);
  };
  const limit = facts === undefined ? '' : `of ${formatBytes(facts.memoryLimitBytes)}`;
  return (
    <dl class="figures">
      <Figure name="Published" unit="a second">
        {value('publishedRate', formatRate)}
      </Figure>
      <Figure name="Delivered" unit="a second">
        {value('deliveredRate', formatRate)}
      </Figure>
      <Figure name="In flight">{value('inFlightCount', formatCount)}</Figure>
      <Figure name="Latency p50">{value('latencyP50Ms', formatLatency)}</Figure>
      <Figure name="Latency p99">{value('latencyP99Ms', formatLatency)}</Figure>
      <Figure name="Errors" unit="a second">
        {value('errorRate', formatRate)}
      </Figure>
      <Figure name="Connections">{value('connectionCount', formatCount)}</Figure>
      <Figure name="Memory" unit={limit}>
        {value('memoryBytes', formatBytes)}
      </Figure>
    </dl>
  );
}

type FigureProps = {
  readonly name: string;
  readonly unit?: string;
  readonly title?: string;
  readonly children: ComponentChildren;
};

export function Figure({ name, unit = '', title = '', children }: FigureProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd title={title}>
        {children} <small>{unit}</small>
      </dd>
    </div>
  );
}

function Charts() {
  const { store } = usePage();
  return (
    <>
      {charts(store).map((chart) => (
        <Chart key={chart.title} {...chart} topic="points" syncKey="overview" />
      ))}
    </>
  );
}

function charts(store: LiveStore): readonly Omit<ChartProps, 'topic' | 'syncKey'>[] {
  const { points } = store;
  const lines = (...fields: readonly PointField[]): ChartData =>
    chartData(
      points.column('at'),
      fields.map((field) => points.column(field)),
    );
  return [
    {
      title: 'Messages a second',
      lines: [{ label: 'published' }, { label: 'delivered', isDashed: true }],
      read: () => lines('publishedRate', 'deliveredRate'),
      format: formatRate,
      tick: formatTick,
      leastTop: 1,
    },
    {
      title: 'Messages',
      lines: [{ label: 'waiting' }, { label: 'in flight', isDashed: true }],
      read: () => lines('waitingCount', 'inFlightCount'),
      format: formatCount,
      tick: formatTick,
      leastTop: 10,
    },
    {
      title: 'Delivery latency',
      lines: [{ label: 'p50' }, { label: 'p99', isDashed: true }],
      read: () => latencies(store),
      format: formatLatency,
      tick: (ms) => `${formatTick(ms)}\u202fms`,
      leastTop: 1,
    },
    {
      title: 'Memory',
      lines: [{ label: 'used' }, { label: 'limit', isDashed: true }],
      read: () => memory(store),
      format: (size) => formatBytes(size * BYTES_OF_MIB),
      tick: (size) => `${formatTick(size)}\u202fMiB`,
      leastTop: 10,
    },
  ];
}

function latencies({ points }: LiveStore): ChartData {
  const line = (field: PointField) => withoutShortGaps(points.column(field), MAX_GAP);
  return chartData(points.column('at'), [line('latencyP50Ms'), line('latencyP99Ms')]);
}

function memory({ points, facts }: LiveStore): ChartData {
  const limit = facts === undefined ? null : facts.memoryLimitBytes / BYTES_OF_MIB;
  const used = points.column('memoryBytes').map((bytes) => (bytes === null ? null : bytes / BYTES_OF_MIB));
  return chartData(points.column('at'), [used, used.map(() => limit)]);
}

function NoQueues() {
  return (
    <section class="empty">
      <h2>No queues yet</h2>
      <p>A queue is created with its first message. To publish one:</p>
      <PubCommand queue="hello" />
    </section>
  );
}
