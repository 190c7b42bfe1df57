// One queue: its options in a sentence, its figures and charts, its subscribers, and its messages.

import { useEffect, useRef } from 'preact/hooks';
import { type ChartData, chartData } from '../charts/chart-data.ts';
import { extended, type LiveStore } from '../live/live-store.ts';
import type { QueueRow } from '../live/queue-row.ts';
import { type QueuePlace, queuesPlace } from '../url-state.ts';
import { formatAge, formatCount, formatInstant, formatRate, formatTick } from '../words/format.ts';
import { optionsSentence } from '../words/sentences.ts';
import { Chart, type ChartProps } from './chart.tsx';
import { Link } from './link.tsx';
import { MessageSection } from './message-section.tsx';
import { Figure } from './overview.tsx';
import { usePage, useStore } from './page-context.ts';
import { QueueActions } from './queue-actions.tsx';
import { Troubles } from './queue-parts.tsx';

export function QueueView({ place }: { readonly place: QueuePlace }) {
  const store = useStore('queues');
  const row = store.queueNamed(place.queue);
  if (row === undefined && store.facts !== undefined) return <NoQueue name={place.queue} />;
  return (
    <>
      <div class="title">
        <h1 tabIndex={-1}>{place.queue}</h1>
        {row !== undefined && <Troubles row={row} />}
        {row !== undefined && <QueueActions row={row} />}
      </div>
      <p class="options">{row === undefined ? '\u00a0' : optionsSentence(row.facts)}</p>
      <QueueFigures row={row} now={store.now} />
      <div class="charts">
        <QueueCharts name={place.queue} />
      </div>
      {row !== undefined && <Subscribers row={row} />}
      {row !== undefined && <MessageSection place={place} row={row} />}
    </>
  );
}

function NoQueue({ name }: { readonly name: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // What had the focus may have been deleted with the queue.
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <section class="empty">
      <h1 ref={heading} tabIndex={-1}>
        {name}
      </h1>
      <p>
        There is no queue of this name. It may have been deleted; it is created again with the next message
        for it.
      </p>
      <p>
        <Link to={queuesPlace}>All queues</Link>
      </p>
    </section>
  );
}

function QueueFigures({ row, now }: { readonly row: QueueRow | undefined; readonly now: number }) {
  const value = (read: (row: QueueRow) => string) => (row === undefined ? '–' : read(row));
  return (
    <dl class="figures">
      <Figure name="Waiting">{value(({ waitingCount }) => formatCount(waitingCount))}</Figure>
      <Figure name="In flight">{value(({ inFlightCount }) => formatCount(inFlightCount))}</Figure>
      <Figure name="In" unit="a second">
        {value(({ publishedRate }) => formatRate(publishedRate))}
      </Figure>
      <Figure name="Out" unit="a second">
        {value(({ deliveredRate }) => formatRate(deliveredRate))}
      </Figure>
      <Figure name="Oldest">
        {value(({ oldestAt }) => (oldestAt === 0 ? '–' : formatAge(now - oldestAt)))}
      </Figure>
      <Figure name="Subscribers">{value(({ subscriberCount }) => formatCount(subscriberCount))}</Figure>
      <Figure name="Dead letters">{value(({ deadLetterCount }) => formatCount(deadLetterCount))}</Figure>
      <Figure name="Created" title={value(({ facts }) => formatInstant(facts.createdAt))}>
        {value(({ facts }) => `${formatAge(now - facts.createdAt)} ago`)}
      </Figure>
    </dl>
  );
}

function QueueCharts({ name }: { readonly name: string }) {
  const { store } = usePage();
  return (
    <>
      {chartsOf(store, name).map((chart) => (
        <Chart key={chart.title} {...chart} topic="watched" syncKey="queue" />
      ))}
    </>
  );
}

function chartsOf(store: LiveStore, name: string): readonly Omit<ChartProps, 'topic' | 'syncKey'>[] {
  return [
    {
      title: 'Messages',
      lines: [{ label: 'waiting' }, { label: 'in flight', isDashed: true }],
      read: () => historyOf(store, name, 'waitingCount', 'inFlightCount'),
      format: formatCount,
      tick: formatTick,
      leastTop: 10,
    },
    {
      title: 'Messages a second',
      lines: [{ label: 'in' }, { label: 'out', isDashed: true }],
      read: () => historyOf(store, name, 'publishedRate', 'deliveredRate'),
      format: formatRate,
      tick: formatTick,
      leastTop: 1,
    },
  ];
}

type HistoryField = 'waitingCount' | 'inFlightCount' | 'publishedRate' | 'deliveredRate';

/** The history and the present values behind it. */
function historyOf(store: LiveStore, name: string, ...fields: readonly HistoryField[]): ChartData {
  const { history, now, watched } = store;
  const row = store.queueNamed(name);
  if (history === undefined || row === undefined || watched?.id !== row.facts.id)
    return chartData(
      [],
      fields.map(() => []),
    );
  const all = now > (history.at.at(-1) ?? 0) ? extended(history, now, row) : history;
  return chartData(
    all.at,
    fields.map((field) => all[field]),
  );
}

function Subscribers({ row }: { readonly row: QueueRow }) {
  const { watched } = useStore('watched');
  const subscribers = watched?.id === row.facts.id ? watched.subscribers : undefined;
  return (
    <section>
      <h2>Subscribers</h2>
      {subscribers === undefined || subscribers.length === 0 ? (
        <p class="note">
          {subscribers === undefined ? '\u00a0' : 'Nobody subscribes to this queue: its messages wait.'}
        </p>
      ) : (
        <table class="subscribers">
          <thead>
            <tr>
              <th scope="col">Connection</th>
              <th scope="col" class="number">
                In flight
              </th>
              <th scope="col" class="number">
                Window
              </th>
            </tr>
          </thead>
          <tbody>
            {subscribers.map(({ connection, inFlightCount, window }) => (
              <tr key={connection}>
                <th scope="row">connection {connection}</th>
                <td class="number">{formatCount(inFlightCount)}</td>
                <td class="number">{window === null ? 'no limit' : formatCount(window)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {subscribers !== undefined && subscribers.length < row.subscriberCount && (
        <p class="note">
          The first {formatCount(subscribers.length)} of {formatCount(row.subscriberCount)} subscribers.
        </p>
      )}
    </section>
  );
}
