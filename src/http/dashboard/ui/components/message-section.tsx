// The messages of a queue: a page of them as a list beside the reading pane, and what can be done with those that are selected. The list is that of the
// moment when it was asked for: it does not move while somebody reads.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type Answer, type MessagePage, PAGE_SIZE } from '../api/api.ts';
import { hasName, keyOf, type Message } from '../api/message.ts';
import type { QueueRow } from '../live/queue-row.ts';
import { messageIn, messagePlace, type QueuePlace } from '../url-state.ts';
import { formatClock, formatCount } from '../words/format.ts';
import { PubCommand } from './copy-button.tsx';
import { Link } from './link.tsx';
import { MessageActions, useMessageActions } from './message-actions.tsx';
import { MessageList } from './message-list.tsx';
import { usePage, useReconnected } from './page-context.ts';
import { ReadingPane } from './reading-pane.tsx';

type SectionProps = { readonly place: QueuePlace; readonly row: QueueRow };

export type Listing = {
  readonly answer: Answer<MessagePage>;
  /** How many messages stand before them. */
  readonly offset: number;
  /** When it came, by the broker's clock. */
  readonly loadedAt: number;
  /** How many waited then. */
  readonly waitingCount: number;
  /** The list has the last message, so the count is from it. */
  readonly isWhole: boolean;
  /** An event has come since, so that the count of the page can be compared. */
  readonly isCounted: boolean;
};

export function MessageSection({ place, row }: SectionProps) {
  const { navigation } = usePage();
  const { listing, reload } = useListing(place, row);
  const keepFocusNear = useKeptFocus(listing);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const messages = listing?.answer.isOk === true ? listing.answer.value.messages : [];
  const chosen = messages.filter((message) => selected.has(keyOf(message)));
  const name = messageIn(place);
  const opened = name && messages.find((message) => hasName(message, name));
  useEffect(() => setSelected(new Set()), [place.offset]);
  const actions = useMessageActions(place.queue, (done, isDone) => {
    const shown = navigation.value;
    const shownName = shown.view === 'queue' && shown.queue === place.queue ? messageIn(shown) : undefined;
    // The reading pane may show another message, or the page another view, by now.
    if (isDone && shown.view === 'queue' && shownName && done.some((message) => hasName(message, shownName)))
      navigation.go(messagePlace(shown, undefined), { isReplacing: true });
    setSelected(new Set());
    keepFocusNear(
      messages.findIndex((message) => done[0] !== undefined && keyOf(message) === keyOf(done[0])),
    );
    reload();
  });
  return (
    <section aria-label="Messages">
      <ListTools place={place} row={row} listing={listing} reload={reload} />
      <MessageActions
        queue={place.queue}
        messages={messages}
        chosen={chosen}
        onSelect={setSelected}
        actions={actions}
      />
      <div class="reader">
        <ListBody
          place={place}
          listing={listing}
          opened={opened}
          selected={selected}
          onSelect={setSelected}
        />
        <ReadingPane place={place} listed={opened} isEmpty={messages.length === 0} actions={actions} />
      </div>
    </section>
  );
}

/** A list that has the last message says how many there are. */
function countIn(answer: Answer<MessagePage>, offset: number, count: number) {
  const isWhole =
    answer.isOk && !answer.value.mayHaveMore && (offset === 0 || answer.value.messages.length > 0);
  return { waitingCount: isWhole ? offset + answer.value.messages.length : count, isWhole, isCounted: false };
}

/**
 * After an action its button is gone or cannot be pressed, and nothing has the focus: then the line that has come in place of the message gets it, when
 * the list is there, or the heading of the list. Returns what is called with the place of the message in the list.
 */
function useKeptFocus(listing: Listing | undefined): (index: number) => void {
  const wanted = useRef<number | undefined>(undefined);
  const answer = listing?.answer;
  useEffect(() => {
    const index = wanted.current;
    wanted.current = undefined;
    const { activeElement } = document;
    const isLost = activeElement === document.body || activeElement?.matches(':disabled') === true;
    if (answer === undefined || index === undefined || !isLost) return;
    const links = [...document.querySelectorAll<HTMLElement>('ol.messages a')];
    const target = links[Math.max(0, Math.min(index, links.length - 1))];
    (target ?? document.getElementById('messages-heading'))?.focus();
  }, [answer]);
  return useCallback((index) => {
    wanted.current = index;
  }, []);
}

/** The list, asked for when the page of it changes, and when the first message comes into an empty queue. */
function useListing(place: QueuePlace, row: QueueRow) {
  const { api, store } = usePage();
  const [listing, setListing] = useState<Listing>();
  const [round, setRound] = useState(0);
  const { queue, offset } = place;
  // Another queue of this name has other messages.
  const made = `${row.facts.id} ${row.facts.createdAt}`;
  useEffect(() => {
    let isCurrent = true;
    const waitingCount = store.queueNamed(queue)?.waitingCount ?? 0;
    const load = async () => {
      const answer = await api.listMessages(queue, offset);
      const loadedAt = store.brokerNow(Date.now());
      if (isCurrent) setListing({ answer, offset, loadedAt, ...countIn(answer, offset, waitingCount) });
    };
    if (round >= 0 && made !== '') void load();
    return () => {
      isCurrent = false;
    };
  }, [api, store, queue, offset, round, made]);
  const reload = useCallback(() => setRound((count) => count + 1), []);
  const hasFailed = listing?.answer.isOk === false;
  useReconnected(
    useCallback(() => {
      if (hasFailed) reload();
    }, [hasFailed, reload]),
  );
  useEffect(() => {
    if (listing === undefined || listing.isCounted) return undefined;
    // The counts of the page are up to a second old: what was removed just now may still be in them. So the next event says how many there are.
    return store.subscribe('points', () => {
      const count = store.queueNamed(queue)?.waitingCount ?? 0;
      const waitingCount = listing.isWhole ? listing.waitingCount : count;
      setListing((last) => (last === listing ? { ...listing, waitingCount, isCounted: true } : last));
    });
  }, [store, queue, listing]);
  const isFilling = listing?.isCounted === true && listing.waitingCount === 0 && row.waitingCount > 0;
  useEffect(() => {
    if (isFilling) reload();
  }, [isFilling, reload]);
  return { listing, reload };
}

type ToolsProps = SectionProps & { readonly listing: Listing | undefined; readonly reload: () => void };

function ListTools({ place, row, listing, reload }: ToolsProps) {
  const hasMoved = listing?.isCounted === true && listing.waitingCount !== row.waitingCount;
  return (
    <div class="tools">
      <h2 id="messages-heading" tabIndex={-1}>
        Messages
      </h2>
      <Pager place={place} row={row} listing={listing} />
      <button type="button" id="refresh" onClick={reload}>
        Refresh
      </button>
      <span class="note">
        {listing === undefined ? '' : `as of ${formatClock(listing.loadedAt)}`}
        {hasMoved ? '; the queue has changed since' : ''}
      </span>
    </div>
  );
}

function Pager({ place, row, listing }: Omit<ToolsProps, 'reload'>) {
  const { queue, offset } = place;
  const page = listing?.answer.isOk === true && listing.offset === offset ? listing.answer.value : undefined;
  const count = page?.messages.length ?? 0;
  const end = offset + count;
  const hasNext = page?.mayHaveMore === true && end < row.waitingCount;
  // Where the pages before have begun, by where they ended: they may be short.
  const starts = useRef(new Map<number, number>());
  if (count > 0) starts.current.set(end, offset);
  if (offset === 0 && !hasNext) return null;
  // From behind the end it leads to the last messages that there are.
  const isBehind = page !== undefined && count === 0;
  const last = Math.max(0, Math.min(offset, row.waitingCount) - PAGE_SIZE);
  const previous = isBehind ? last : (starts.current.get(offset) ?? Math.max(0, offset - PAGE_SIZE));
  return (
    <nav aria-label="Pages of messages">
      {offset > 0 && <Link to={{ view: 'queue', queue, offset: previous }}>Previous</Link>}
      <span>
        {count === 0 ? 'none' : `${formatCount(offset + 1)}–${formatCount(end)}`} of{' '}
        {formatCount(row.waitingCount)}
      </span>
      {hasNext && <Link to={{ view: 'queue', queue, offset: end }}>Next</Link>}
    </nav>
  );
}

type BodyProps = {
  readonly place: QueuePlace;
  readonly listing: Listing | undefined;
  readonly opened: Message | undefined;
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (keys: ReadonlySet<string>) => void;
};

function ListBody({ place, listing, opened, selected, onSelect }: BodyProps) {
  if (listing === undefined) return <p class="note">Loading the messages …</p>;
  const { answer, loadedAt } = listing;
  if (!answer.isOk) {
    return (
      <p class="problem" role="alert">
        <b>{answer.problem.title}.</b> {answer.problem.detail}
      </p>
    );
  }
  if (answer.value.messages.length === 0) return <NoMessages place={place} />;
  const lines = { messages: answer.value.messages, opened, loadedAt, selected, onSelect };
  return <MessageList place={place} {...lines} />;
}

function NoMessages({ place }: { readonly place: QueuePlace }) {
  if (place.offset > 0) return <p class="note">There are no messages on this page any more.</p>;
  return (
    <div class="empty">
      <p>No message waits here. To publish one:</p>
      <PubCommand queue={place.queue} />
    </div>
  );
}
