// The five queues of the overview: those that grow fastest or hold the oldest message.

import type { QueueRow } from '../live/queue-row.ts';
import { growthOf, queuesToName } from '../queues/attention.ts';
import { queuePlace, queuesPlace } from '../url-state.ts';
import { formatCount, formatInstant, formatRate, formatShortAge } from '../words/format.ts';
import { Link } from './link.tsx';
import { useStore } from './page-context.ts';
import { Sparkline, Troubles } from './queue-parts.tsx';

const QUEUE_COUNT = 5;

export function AttentionList() {
  const { facts, queues, now } = useStore('queues');
  const rows = queuesToName(queues.values(), QUEUE_COUNT);
  return (
    <section>
      <h2>Growing fastest, or with the oldest message</h2>
      {rows.length === 0 ? (
        <p class="note">{facts === undefined ? '\u00a0' : 'No queue grows, and no message waits.'}</p>
      ) : (
        <table class="attention">
          <thead>
            <tr>
              <th scope="col">Queue</th>
              <th scope="col" class="number waiting">
                Waiting
              </th>
              <th scope="col" class="number growth">
                Grows a second
              </th>
              <th scope="col" class="number">
                Oldest
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <AttentionRow key={row.facts.id} row={row} now={now} />
            ))}
          </tbody>
        </table>
      )}
      <p class="note">
        <Link to={queuesPlace}>All queues</Link>
      </p>
    </section>
  );
}

function AttentionRow({ row, now }: { readonly row: QueueRow; readonly now: number }) {
  const growth = growthOf(row);
  return (
    <tr>
      <th scope="row" class="name">
        <Link to={queuePlace(row.facts.name)}>{row.facts.name}</Link>
        <Troubles row={row} />
      </th>
      <td class="number waiting">
        <Sparkline depths={row.depths} />
        <span>{formatCount(row.waitingCount)}</span>
      </td>
      <td class="number growth">{growth > 0 ? formatRate(growth) : '–'}</td>
      <td class="number" title={row.oldestAt === 0 ? '' : formatInstant(row.oldestAt)}>
        {row.oldestAt === 0 ? '–' : formatShortAge(now - row.oldestAt)}
      </td>
    </tr>
  );
}
