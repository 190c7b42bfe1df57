// What the page reports: results of actions as lines that can be dismissed, and changes of health for screen readers.

import { useEffect, useRef, useState } from 'preact/hooks';
import { usePage, useStore, useWatched } from './page-context.ts';

export function NoticeList() {
  const { notices } = usePage();
  const list = useWatched(notices);
  return (
    <div class="notices" role="status" aria-label="Reports">
      {list.map(({ id, kind, text }) => (
        <div key={id} class={`notice ${kind}`}>
          <p>{text}</p>
          <button type="button" class="quiet" onClick={() => notices.dismiss(id)}>
            Dismiss
          </button>
        </div>
      ))}
    </div>
  );
}

/** Speaks when the health changes, or the connection is lost or back, and never else. */
export function HealthAnnouncer() {
  const { health, facts, phase } = useStore('health', 'phase');
  const [text, setText] = useState('');
  const last = useRef<boolean | undefined>(undefined);
  useEffect(() => {
    if (facts === undefined) return;
    if (last.current !== undefined && last.current !== health.isHealthy) {
      setText(
        health.isHealthy
          ? 'The broker is healthy again.'
          : `The broker is unhealthy: ${health.reasons.join(' ')}`,
      );
    }
    last.current = health.isHealthy;
  }, [facts, health]);
  const wasLost = useRef(false);
  useEffect(() => {
    if (facts === undefined || phase === 'connecting') return;
    const isLost = phase === 'lost';
    if (isLost !== wasLost.current)
      setText(isLost ? 'The connection is lost: what is shown is old.' : 'The connection is back.');
    wasLost.current = isLost;
  }, [facts, phase]);
  return (
    <p class="off-screen" role="status" aria-label="Health">
      {text}
    </p>
  );
}
