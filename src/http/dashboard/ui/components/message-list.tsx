// A page of messages as lines: a box to select one, and a link that opens it in the reading pane. Arrow keys move along the links.

import { useEffect, useRef } from 'preact/hooks';
import { keyOf, type Message, nameInWords, nameOf } from '../api/message.ts';
import { movedIndex } from '../keys.ts';
import { messagePlace, type QueuePlace } from '../url-state.ts';
import { countOf, formatAgo, formatInstant } from '../words/format.ts';
import { Link } from './link.tsx';
import { usePage } from './page-context.ts';

const PREVIEW_LENGTH = 160;

type MessageListProps = {
  readonly place: QueuePlace;
  readonly messages: readonly Message[];
  readonly opened: Message | undefined;
  readonly loadedAt: number;
  /** The keys of those that are selected. */
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (keys: ReadonlySet<string>) => void;
};

export function MessageList({ place, messages, opened, loadedAt, selected, onSelect }: MessageListProps) {
  const toggle = (key: string) => {
    const next = new Set(selected);
    if (!next.delete(key)) next.add(key);
    onSelect(next);
  };
  const list = useOpenedInView();
  const openedIndex = opened === undefined ? -1 : messages.indexOf(opened);
  return (
    <ol ref={list} class="messages" onKeyDown={moveFocus}>
      {messages.map((message, index) => (
        <li key={keyOf(message)} class={message === opened ? 'open' : ''}>
          <input
            type="checkbox"
            aria-label={`Select message ${nameInWords(message)}`}
            checked={selected.has(keyOf(message))}
            onChange={() => toggle(keyOf(message))}
          />
          <Link
            class="message-link"
            to={messagePlace(place, nameOf(message))}
            tabIndex={index === Math.max(0, openedIndex) ? 0 : -1}
            {...(message === opened ? { 'aria-current': 'true' as const } : {})}
          >
            <MessageLine message={message} loadedAt={loadedAt} />
          </Link>
        </li>
      ))}
    </ol>
  );
}

/** A list that is new begins with the opened message in view, where the list has a height of its own, on a phone, unless it was left elsewhere. */
function useOpenedInView() {
  const { navigation } = usePage();
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    if (navigation.returnedTo?.listY !== undefined) return;
    const { current } = list;
    const opened = current?.querySelector<HTMLElement>('li.open');
    if (!current || !opened || current.scrollHeight <= current.clientHeight) return;
    current.scrollTop += opened.getBoundingClientRect().top - current.getBoundingClientRect().top;
  }, [navigation]);
  return list;
}

function MessageLine({ message, loadedAt }: { readonly message: Message; readonly loadedAt: number }) {
  const { id, payload, acceptedAt, priority, attemptCount, deadLetter } = message;
  const marks = [
    ...(priority === 'Normal' ? [] : [priority]),
    ...(attemptCount === 0 ? [] : [countOf(attemptCount, 'attempt')]),
  ];
  return (
    <>
      <span class="message-head">
        <span class="message-id">{id}</span>
        {marks.length > 0 && <span class="marks">{marks.join(', ')}</span>}
        <time title={formatInstant(acceptedAt)}>{formatAgo(acceptedAt, loadedAt)}</time>
      </span>
      {deadLetter !== undefined && (
        <span class="message-reason">
          {deadLetter.reason} from <bdi>{deadLetter.source}</bdi>, {deadLetter.attempts}{' '}
          {deadLetter.attempts === '1' ? 'attempt' : 'attempts'}
        </span>
      )}
      <span class="preview">{payload === undefined ? 'no payload' : payload.slice(0, PREVIEW_LENGTH)}</span>
    </>
  );
}

function moveFocus(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>('a')];
  const target = movedIndex(event.key, links.indexOf(event.target as HTMLElement), links.length);
  if (target === undefined || !(event.target instanceof HTMLAnchorElement)) return;
  event.preventDefault();
  links[target]?.focus();
}
