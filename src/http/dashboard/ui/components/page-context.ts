// What all components share, and how they follow what changes.

import { createContext } from 'preact';
import { useContext, useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';
import type { DashboardApi } from '../api/api.ts';
import type { Navigation } from '../browser.ts';
import type { LiveStore, Topic } from '../live/live-store.ts';
import type { Notices } from '../notices.ts';
import type { QueueOrder } from '../queues/queue-order.ts';
import type { Watched } from '../watched.ts';

export type Page = {
  readonly store: LiveStore;
  readonly navigation: Navigation;
  readonly api: DashboardApi;
  readonly notices: Notices;
  readonly order: QueueOrder;
};

export const PageContext = createContext<Page | undefined>(undefined);

export function usePage(): Page {
  const page = useContext(PageContext);
  if (page === undefined) throw new Error('There is no page around this component.');
  return page;
}

/**
 * The store, drawn again after each change of these topics. Subscribes before anything else can happen: a change between the drawing and the
 * subscription would never be shown.
 */
export function useStore(...topics: readonly Topic[]): LiveStore {
  const { store } = usePage();
  const redraw = useRedraw();
  const key = topics.join(' ');
  useLayoutEffect(() => {
    const ends = key.split(' ').map((topic) => store.subscribe(topic as Topic, redraw));
    return () => {
      for (const end of ends) end();
    };
  }, [store, key, redraw]);
  return store;
}

/** Calls back each time when the connection was lost and is there again. */
export function useReconnected(callback: () => void): void {
  const { store } = usePage();
  const last = useRef(store.phase);
  useEffect(
    () =>
      store.subscribe('phase', () => {
        const wasLost = last.current === 'lost';
        last.current = store.phase;
        if (wasLost && store.phase === 'live') callback();
      }),
    [store, callback],
  );
}

export function useWatched<Value>(watched: Watched<Value>): Value {
  const redraw = useRedraw();
  useLayoutEffect(() => watched.subscribe(redraw), [watched, redraw]);
  return watched.value;
}

function useRedraw(): () => void {
  return useReducer<number, void>((count) => count + 1, 0)[1];
}

/** Whether a media query matches now. */
export function useMedia(query: string): boolean {
  const [isMatching, setMatching] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const update = () => setMatching(list.matches);
    update();
    list.addEventListener('change', update);
    return () => list.removeEventListener('change', update);
  }, [query]);
  return isMatching;
}

/** The broker's clock, read anew every second: what happened there is as old as it says. */
export function useBrokerNow(): number {
  const { store } = usePage();
  return store.brokerNow(useWallNow());
}

/** The clock of this machine, read anew every second. */
export function useWallNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
