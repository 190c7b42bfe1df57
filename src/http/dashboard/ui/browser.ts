// What the page needs of the browser beside its elements: the address, the live stream, timers and the clipboard. The only file that touches them, apart
// from components.

import { refusalOf } from './api/api.ts';
import type { LiveEnvironment } from './live/live-connection.ts';
import { formatPlace, type Place, parsePlace } from './url-state.ts';
import { Watched } from './watched.ts';

export type GoOptions = {
  /** Replaces the entry of the history, so that Back does not stop at every letter of a search. */
  readonly isReplacing?: boolean;
};

/** The place that the page shows, kept in its address. */
export class Navigation extends Watched<Place> {
  constructor() {
    super(parsePlace(location.search));
    addEventListener('popstate', () => this.set(parsePlace(location.search)));
  }

  go(place: Place, { isReplacing = false }: GoOptions = {}): void {
    const address = formatPlace(place);
    try {
      if (isReplacing) history.replaceState(null, '', address);
      else history.pushState(null, '', address);
    } catch {
      // Browsers refuse very many changes in a short time: the address then lags behind, the page does not.
    }
    this.set(place);
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
