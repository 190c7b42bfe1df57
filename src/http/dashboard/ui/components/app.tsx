// The page around its views: header, the view of the address, footer, notices, help, and the keys that work everywhere.

import { useEffect, useRef, useState } from 'preact/hooks';
import { returnTo } from '../browser.ts';
import { type KeyAction, KeyReader } from '../keys.ts';
import { overviewPlace, type Place, queuesPlace } from '../url-state.ts';
import { refusalSentence } from '../words/sentences.ts';
import { Header } from './header.tsx';
import { HelpDialog } from './help-dialog.tsx';
import { HealthAnnouncer, NoticeList } from './notice-list.tsx';
import { Overview } from './overview.tsx';
import { usePage, useStore, useWatched } from './page-context.ts';
import { QueueList } from './queue-list.tsx';
import { QueueView } from './queue-view.tsx';

export function App() {
  const { navigation } = usePage();
  const place = useWatched(navigation);
  const { phase, facts } = useStore('phase', 'health');
  const [isHelpOpen, setHelpOpen] = useState(false);
  useKeys(place, () => setHelpOpen(true));
  useArrival(place);
  return (
    <div class={phase === 'lost' && facts !== undefined ? 'page stale' : 'page'}>
      <Header place={place} />
      <RefusalNote />
      <main>
        <View place={place} />
      </main>
      <Footer onHelp={() => setHelpOpen(true)} />
      <NoticeList />
      <HealthAnnouncer />
      {isHelpOpen && <HelpDialog onClose={() => setHelpOpen(false)} />}
    </div>
  );
}

/** Why the broker gives no live values, and what to do. */
function RefusalNote() {
  const { refusal } = useStore('phase');
  if (refusal === undefined) return null;
  return <p class="problem refusal">{refusalSentence(refusal)}</p>;
}

function View({ place }: { readonly place: Place }) {
  if (place.view === 'queues') return <QueueList place={place} />;
  if (place.view === 'queue') return <QueueView key={place.queue} place={place} />;
  return <Overview />;
}

function Footer({ onHelp }: { readonly onHelp: () => void }) {
  const { facts } = useStore('health');
  return (
    <footer>
      {facts?.asksForCredentials === false && (
        <p>No credentials are asked for: keep this page on a trusted network.</p>
      )}
      <button type="button" class="quiet" onClick={onHelp}>
        Keys <kbd>?</kbd>
      </button>
    </footer>
  );
}

/**
 * A new view begins at its top, with the focus on its heading unless something else has it, and names the window. One that was left before, to which Back
 * or Forward leads, begins where it was left.
 */
function useArrival(place: Place): void {
  const { navigation } = usePage();
  const { returnedTo } = navigation;
  const last = useRef<string | undefined>(undefined);
  const name = place.view === 'queue' ? place.queue : place.view === 'queues' ? 'Queues' : 'Overview';
  // A queue may have the name of a view.
  const shown = `${place.view} ${name}`;
  useEffect(() => {
    document.title = `${name} · TrueMQ`;
    if (last.current !== undefined && last.current !== shown) {
      if (navigation.returnedTo === undefined) scrollTo(0, 0);
      if (document.activeElement === document.body)
        document.querySelector('h1')?.focus({ preventScroll: true });
    }
    last.current = shown;
  }, [name, shown, navigation]);
  useEffect(() => (returnedTo === undefined ? undefined : returnTo(returnedTo)), [returnedTo]);
}

function useKeys(place: Place, openHelp: () => void): void {
  const { navigation } = usePage();
  const reader = useRef(new KeyReader());
  useEffect(() => {
    const actions: Readonly<Record<KeyAction, () => void>> = {
      overview: () => navigation.go(overviewPlace),
      queues: () => navigation.go(queuesPlace),
      help: openHelp,
      refresh: () => document.getElementById('refresh')?.click(),
      search: () => {
        const focus = () => document.getElementById('search')?.focus();
        // At once where it can be: what is typed next belongs into the field.
        if (place.view === 'queues') return focus();
        navigation.go(queuesPlace);
        requestAnimationFrame(focus);
      },
    };
    const onKey = (event: KeyboardEvent) => {
      const action = reader.current.read({
        key: event.key,
        now: event.timeStamp,
        isInField: isTyping(event.target) || document.querySelector('dialog[open]') !== null,
        isModified: event.ctrlKey || event.altKey || event.metaKey,
      });
      if (action === undefined) return;
      event.preventDefault();
      actions[action]();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [navigation, place.view, openHelp]);
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches('input:not([type=checkbox]), textarea, select');
}
