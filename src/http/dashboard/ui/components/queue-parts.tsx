// Parts that show a queue in several views: its sparkline and its trouble.

import { MAX_DEPTHS, type QueueRow } from '../live/queue-row.ts';
import { sparkPath } from '../queues/spark-path.ts';
import { troublesOf } from '../words/sentences.ts';

const box = { width: 60, height: 16, slots: MAX_DEPTHS };

/** Says nothing to screen readers: the number beside it does. */
export function Sparkline({ depths }: { readonly depths: readonly number[] }) {
  return (
    <svg class="spark" viewBox={`0 -1 ${box.width} ${box.height + 2}`} aria-hidden="true">
      <path d={sparkPath(depths, box)} />
    </svg>
  );
}

/** In words and with a sign, not by colour alone. */
export function Troubles({ row }: { readonly row: QueueRow }) {
  const troubles = troublesOf(row);
  if (troubles.length === 0) return null;
  return (
    <span class="troubles">
      {troubles.map((trouble) => (
        <span key={trouble} class="trouble">
          {trouble}
        </span>
      ))}
    </span>
  );
}
