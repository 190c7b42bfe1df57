// The list of queues: search, sort, and the table, of which only the rows on the screen are drawn.

import { useRef, useState } from 'preact/hooks';
import { firstOrder, type QueuesPlace, type SortKey, sortKeys } from '../url-state.ts';
import { countOf, formatCount } from '../words/format.ts';
import { PubCommand } from './copy-button.tsx';
import { usePage, useStore } from './page-context.ts';
import { columnNames, QueueTable } from './queue-table.tsx';

export function QueueList({ place }: { readonly place: QueuesPlace }) {
  const { order } = usePage();
  const { facts, queues, membership } = useStore('queues');
  const [isHeld, setHeld] = useState(false);
  const rows = order.rows({ ...place, queues, membership, isHeld });
  const isEmpty = facts !== undefined && queues.size === 0;
  const isMissing = facts !== undefined && !isEmpty && rows.length === 0;
  return (
    <>
      <h1 tabIndex={-1}>Queues</h1>
      <Tools place={place} found={rows.length} all={queues.size} isHeld={isHeld && place.sort !== 'name'} />
      {isEmpty && <Empty />}
      {isMissing && (
        <p class="note">
          No queue has “{place.search}” in its name. Clear the search to see all {formatCount(queues.size)}.
        </p>
      )}
      {!isEmpty && !isMissing && <QueueTable rows={rows} place={place} onHold={setHeld} />}
    </>
  );
}

type ToolsProps = {
  readonly place: QueuesPlace;
  readonly found: number;
  readonly all: number;
  readonly isHeld: boolean;
};

function Tools({ place, found, all, isHeld }: ToolsProps) {
  const { navigation, store } = usePage();
  const input = useRef<HTMLInputElement>(null);
  const search = (text: string) => navigation.go({ ...place, search: text }, { isReplacing: true });
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      search('');
      input.current?.blur();
    }
    if (event.key !== 'ArrowDown') return;
    event.preventDefault();
    document.querySelector<HTMLElement>('.queues tbody a')?.focus();
  };
  return (
    <search class="tools">
      <label>
        <span class="off-screen">Search queues</span>
        <input
          ref={input}
          id="search"
          type="search"
          placeholder="Search queues  /"
          autoComplete="off"
          spellcheck={false}
          value={place.search}
          onInput={(event) => search(event.currentTarget.value)}
          onKeyDown={onKey}
        />
      </label>
      <SortField place={place} />
      <span class="note">
        {store.facts === undefined ? '\u00a0' : foundWords(found, all)}
        {isHeld ? '; order held while you are in the list' : ''}
      </span>
    </search>
  );
}

function foundWords(found: number, all: number): string {
  const queues = countOf(all, 'queue');
  return found === all ? queues : `${formatCount(found)} of ${queues}`;
}

/** For phones, where the table has no head. */
function SortField({ place }: { readonly place: QueuesPlace }) {
  const { navigation } = usePage();
  const sortBy = (sort: SortKey) => navigation.go({ ...place, sort, order: firstOrder(sort) });
  return (
    <label class="sort-field">
      Sort by{' '}
      <select value={place.sort} onChange={(event) => sortBy(event.currentTarget.value as SortKey)}>
        {sortKeys.map((key) => (
          <option key={key} value={key}>
            {columnNames[key]}
          </option>
        ))}
      </select>
    </label>
  );
}

function Empty() {
  return (
    <section class="empty">
      <h2>No queues yet</h2>
      <p>A queue is created with its first message. To publish one:</p>
      <PubCommand queue="hello" />
    </section>
  );
}
