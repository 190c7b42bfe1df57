// What the page needs of the browser beside its elements: the address, the live stream, timers and the clipboard. The only file that touches them, apart
// from components.

import { refusalOf } from './api/api.ts';
import { type LeftPlace, LeftPlaces } from './left-places.ts';
import type { LiveEnvironment } from './live/live-connection.ts';
import { formatPlace, type Place, parsePlace } from './url-state.ts';
import { Watched } from './watched.ts';

export type GoOptions = {
  /** Replaces the entry of the history, so that Back does not stop at every letter of a search. */
  readonly isReplacing?: boolean;
};

/** The key of what was left, in the storage of the window. */
const LEFT_PLACES = 'truemq left places';

/** The place that the page shows, kept in its address, and where each place of the history was left. */
export class Navigation extends Watched<Place> {
  readonly #left = new LeftPlaces(readSession(LEFT_PLACES));
  #entry = entryOf(history.state) ?? this.#left.newEntry();
  #returnedTo: LeftPlace | undefined;

  constructor() {
    super(parsePlace(location.search));
    // The browser would scroll before the list is there.
    history.scrollRestoration = 'manual';
    this.#returnedTo = this.#left.get(this.#entry);
    history.replaceState({ entry: this.#entry }, '');
    addEventListener('popstate', ({ state }) => this.#return(entryOf(state) ?? this.#left.newEntry()));
    addEventListener('pagehide', () => {
      this.#left.leave(this.#entry, presentPlace());
      writeSession(LEFT_PLACES, this.#left.toText());
    });
  }

  /** Where the place that is shown was left; undefined when it is a new one. */
  get returnedTo(): LeftPlace | undefined {
    return this.#returnedTo;
  }

  go(place: Place, { isReplacing = false }: GoOptions = {}): void {
    const address = formatPlace(place);
    try {
      if (isReplacing) history.replaceState({ entry: this.#entry }, '', address);
      else this.#push(address);
    } catch {
      // Browsers refuse very many changes in a short time: the address then lags behind, the page does not.
    }
    if (!isReplacing) this.#returnedTo = undefined;
    this.set(place);
  }

  #push(address: string): void {
    history.pushState({ entry: this.#entry + 1 }, '', address);
    this.#left.leave(this.#entry, presentPlace());
    this.#left.cutAfter(this.#entry);
    this.#entry += 1;
  }

  #return(entry: number): void {
    this.#left.leave(this.#entry, presentPlace());
    this.#entry = entry;
    this.#returnedTo = this.#left.get(entry) ?? { y: 0 };
    this.set(parsePlace(location.search));
  }
}

function entryOf(state: unknown): number | undefined {
  if (typeof state !== 'object' || state === null || !('entry' in state)) return undefined;
  return typeof state.entry === 'number' ? state.entry : undefined;
}

/** A link that was clicked has the focus too, but whoever clicks does not look for it. */
function presentPlace(): LeftPlace {
  const link = document.querySelector('main a:focus-visible')?.getAttribute('href') ?? undefined;
  const listY = messageList()?.scrollTop ?? 0;
  return {
    y: Math.round(scrollY),
    ...(listY > 0 && { listY: Math.round(listY) }),
    ...(link !== undefined && { link }),
  };
}

function messageList(): Element | null {
  return document.querySelector('ol.messages');
}

/** How long a list may take to be there. */
const RETURN_MS = 3000;

/**
 * Scrolls to where the place was left, and gives the link its focus, as soon as the page has them. Ends when the user does something, or the time is over.
 * Returns what ends it before.
 */
export function returnTo({ y, listY, link }: LeftPlace): () => void {
  const ended = new AbortController();
  const end = () => ended.abort();
  for (const act of ['wheel', 'touchstart', 'pointerdown', 'keydown'])
    addEventListener(act, end, { signal: ended.signal, passive: true, capture: true });
  const startedAt = performance.now();
  const step = () => {
    if (ended.signal.aborted) return;
    if (Math.abs(scrollY - y) >= 1) scrollTo(0, y);
    const isListThere = listY === undefined || scrollList(listY);
    const isThere = Math.abs(scrollY - y) < 1 && isListThere && (link === undefined || focusLink(link));
    if (isThere || performance.now() - startedAt > RETURN_MS) end();
    else requestAnimationFrame(step);
  };
  step();
  return end;
}

/** Whether the list of messages is drawn and so long; it is scrolled then. */
function scrollList(y: number): boolean {
  const list = messageList();
  if (list !== null && Math.abs(list.scrollTop - y) >= 1) list.scrollTop = y;
  return list !== null && Math.abs(list.scrollTop - y) < 1;
}

/** Whether a link to that address is drawn; it has the focus then. */
function focusLink(address: string): boolean {
  const link = document.querySelector<HTMLElement>(`main a[href="${CSS.escape(address)}"]`);
  link?.focus({ preventScroll: true });
  return link !== null;
}

function readSession(key: string): string | null {
  try {
    return sessionStorage.getItem(key);
  } catch {
    // A browser without storage for the page: Back works until it is loaded again.
    return null;
  }
}

function writeSession(key: string, text: string): void {
  try {
    sessionStorage.setItem(key, text);
  } catch {
    // As above.
  }
}

export const schedule: LiveEnvironment['schedule'] = (callback, delayMs) => {
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
};

export const liveEnvironment: LiveEnvironment = {
  schedule,
  wallNow: () => Date.now(),
  whyRefused: async (path) => {
    const abort = new AbortController();
    try {
      const response = await fetch(path, { cache: 'no-store', signal: abort.signal });
      return response.ok ? undefined : refusalOf(response.status, await response.text());
    } catch {
      return undefined;
    } finally {
      // A stream that was granted after all is not read.
      abort.abort();
    }
  },
  openStream: (path, { onSnapshot, onChange, onError }) => {
    const stream = new EventSource(path);
    stream.addEventListener('snapshot', (event) => onSnapshot(String(event.data)));
    stream.addEventListener('change', (event) => onChange(String(event.data)));
    stream.addEventListener('error', () => onError(stream.readyState === EventSource.CLOSED));
    return () => stream.close();
  },
};

/** Whether the text is on the clipboard now. Away from localhost without TLS there is no clipboard, and the old command serves. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'off-screen';
  const host = document.querySelector('dialog[open]') ?? document.body;
  host.append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  return isCopied;
}
