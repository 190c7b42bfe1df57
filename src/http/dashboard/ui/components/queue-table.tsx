// The table of queues. All rows have one height, so what is not on the screen is an empty row of the right height. Arrow keys move along the links.

import type { Ref } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { movedIndex } from '../keys.ts';
import type { QueueRow } from '../live/queue-row.ts';
import { type RowWindow, windowOf } from '../queues/window.ts';
import { firstOrder, type QueuesPlace, queuePlace, type SortKey, sortKeys } from '../url-state.ts';
import { formatCount, formatInstant, formatRate, formatShortAge } from '../words/format.ts';
import { modeWord } from '../words/sentences.ts';
import { Link } from './link.tsx';
import { useMedia, useStore } from './page-context.ts';
import { Sparkline, Troubles } from './queue-parts.tsx';

/** As in the style sheet. */
const ROW_HEIGHT = 36;
const PHONE_ROW_HEIGHT = 64;
export const PHONE = '(max-width: 720px)';
const OVERSCAN = 10;

export const columnNames: Readonly<Record<SortKey, string>> = {
  name: 'Name',
  mode: 'Mode',
  waiting: 'Waiting',
  inFlight: 'In flight',
  in: 'In/s',
  out: 'Out/s',
  oldest: 'Oldest',
  subscribers: 'Subscribers',
  deadLetters: 'Dead letters',
};

type QueueTableProps = {
  readonly rows: readonly QueueRow[];
  readonly place: QueuesPlace;
  /** Told when the rows should stay where they are, because somebody points at them. */
  readonly onHold: (isHeld: boolean) => void;
};

export function QueueTable({ rows, place, onHold }: QueueTableProps) {
  const { now } = useStore('queues');
  const start = useRef<HTMLTableSectionElement>(null);
  const body = useRef<HTMLTableSectionElement>(null);
  const rowHeight = useMedia(PHONE) ? PHONE_ROW_HEIGHT : ROW_HEIGHT;
  const { first, end, above, below } = useRowWindow(start, rows.length, rowHeight);
  const { tabIndexOf, onKeyDown, onFocus } = useRowKeys(start, body, {
    count: rows.length,
    rowHeight,
    first,
    end,
  });
  const hold = useHold(onHold);
  return (
    <table class="queues" aria-rowcount={rows.length + 1} aria-label="Queues">
      <TableHead place={place} />
      <Spacer height={above} start={start} />
      <tbody ref={body} onKeyDown={onKeyDown} onFocusIn={onFocus} {...hold}>
        {rows.slice(first, end).map((row, offset) => (
          <Row
            key={row.facts.id}
            row={row}
            index={first + offset}
            now={now}
            tabIndex={tabIndexOf(first + offset)}
          />
        ))}
      </tbody>
      <Spacer height={below} />
    </table>
  );
}

function TableHead({ place }: { readonly place: QueuesPlace }) {
  return (
    <thead>
      <tr aria-rowindex={1}>
        {sortKeys.map((key) => (
          <SortHead key={key} sortKey={key} place={place} />
        ))}
      </tr>
    </thead>
  );
}

function SortHead({ sortKey, place }: { readonly sortKey: SortKey; readonly place: QueuesPlace }) {
  const isSorted = place.sort === sortKey;
  const isAscending = place.order === 'asc';
  const order = isSorted ? (isAscending ? 'desc' : 'asc') : firstOrder(sortKey);
  const sorted = isSorted
    ? { 'aria-sort': isAscending ? ('ascending' as const) : ('descending' as const) }
    : {};
  return (
    <th scope="col" class={`c-${sortKey}${isText(sortKey) ? '' : ' number'}`} {...sorted}>
      <Link to={{ ...place, sort: sortKey, order }}>{columnNames[sortKey]}</Link>
    </th>
  );
}

function isText(key: SortKey): boolean {
  return key === 'name' || key === 'mode';
}

type RowProps = {
  readonly row: QueueRow;
  readonly index: number;
  readonly now: number;
  readonly tabIndex: 0 | -1;
};

function Row({ row, index, now, tabIndex }: RowProps) {
  const { facts } = row;
  return (
    <tr class="row" aria-rowindex={index + 2}>
      <th scope="row" class="c-name">
        <div class="name-line">
          <Link to={queuePlace(facts.name)} data-index={index} tabIndex={tabIndex} title={facts.name}>
            {facts.name}
          </Link>
          <Troubles row={row} />
        </div>
      </th>
      <td class="c-mode">{modeWord(facts.deliveryMode)}</td>
      <td class="c-waiting number">
        <Sparkline depths={row.depths} />
        <span>{formatCount(row.waitingCount)}</span>
      </td>
      <td class="c-inFlight number">{formatCount(row.inFlightCount)}</td>
      <td class="c-in number">{formatRate(row.publishedRate)}</td>
      <td class="c-out number">{formatRate(row.deliveredRate)}</td>
      <td class={row.oldestAt === 0 ? 'c-oldest number none' : 'c-oldest number'}>
        {row.oldestAt === 0 ? (
          '–'
        ) : (
          <time title={formatInstant(row.oldestAt)}>{formatShortAge(now - row.oldestAt)}</time>
        )}
      </td>
      <td class="c-subscribers number">{formatCount(row.subscriberCount)}</td>
      <td class="c-deadLetters number">{formatCount(row.deadLetterCount)}</td>
    </tr>
  );
}

type SpacerProps = { readonly height: number; readonly start?: Ref<HTMLTableSectionElement> };

/** What is not drawn, as an empty part of the table. */
function Spacer({ height, start = null }: SpacerProps) {
  return (
    <tbody ref={start} aria-hidden="true">
      <tr style={{ height: `${height}px` }} />
    </tbody>
  );
}

/** Rows stay where they are while the pointer is over them, and while one of them has the focus. */
function useHold(onHold: (isHeld: boolean) => void) {
  const reasons = useRef(new Set<'pointer' | 'focus'>());
  const add = (reason: 'pointer' | 'focus') => onHold(reasons.current.add(reason).size > 0);
  const remove = (reason: 'pointer' | 'focus') => {
    reasons.current.delete(reason);
    onHold(reasons.current.size > 0);
  };
  useEffect(() => () => onHold(false), [onHold]);
  return {
    onFocusInCapture: () => add('focus'),
    onFocusOutCapture: () => remove('focus'),
    onPointerEnter: (event: PointerEvent) => event.pointerType === 'mouse' && add('pointer'),
    onPointerLeave: () => remove('pointer'),
  };
}

type Body = { readonly current: HTMLTableSectionElement | null };

/** The rows to draw, measured anew while the page scrolls. */
function useRowWindow(start: Body, rowCount: number, rowHeight: number): RowWindow {
  const [viewTop, setViewTop] = useState(0);
  useEffect(() => {
    const measure = () => setViewTop(snapped(-(start.current?.getBoundingClientRect().top ?? 0), rowHeight));
    measure();
    addEventListener('scroll', measure, { passive: true });
    addEventListener('resize', measure);
    return () => {
      removeEventListener('scroll', measure);
      removeEventListener('resize', measure);
    };
  }, [start, rowHeight]);
  return windowOf({ rowCount, rowHeight, viewTop, viewHeight: innerHeight + rowHeight, overscan: OVERSCAN });
}

/** To whole steps of some rows, so that most events of scrolling draw nothing. */
function snapped(top: number, rowHeight: number): number {
  const step = rowHeight * (OVERSCAN / 2);
  return Math.floor(top / step) * step;
}

type RowKeys = {
  readonly count: number;
  readonly rowHeight: number;
  readonly first: number;
  readonly end: number;
};

/** One row is in the tab order; arrows, Home and End move along the rows, also to those that are not drawn yet. */
function useRowKeys(start: Body, body: Body, { count, rowHeight, first, end }: RowKeys) {
  const [active, setActive] = useState(0);
  const wanted = useRef<number | undefined>(undefined);
  const isDrawn = active >= first && active < end;
  useEffect(() => {
    const link = wanted.current === undefined ? null : linkAt(body, wanted.current);
    if (link === null) return;
    wanted.current = undefined;
    link.focus();
  });
  const onKeyDown = (event: KeyboardEvent) => {
    const target = movedIndex(event.key, indexOf(event.target), count);
    if (target === undefined) return;
    event.preventDefault();
    wanted.current = target;
    setActive(target);
    const link = linkAt(body, target);
    if (link !== null) link.focus();
    else
      scrollBy(0, (start.current?.getBoundingClientRect().top ?? 0) + target * rowHeight - innerHeight / 2);
  };
  const onFocus = (event: FocusEvent) => setActive(indexOf(event.target));
  const tabIndexOf = (index: number): 0 | -1 => (index === (isDrawn ? active : first) ? 0 : -1);
  return { tabIndexOf, onKeyDown, onFocus };
}

function linkAt(body: Body, index: number): HTMLElement | null {
  return body.current?.querySelector<HTMLElement>(`a[data-index="${index}"]`) ?? null;
}

function indexOf(target: EventTarget | null): number {
  return target instanceof HTMLElement ? Number(target.dataset['index'] ?? 0) : 0;
}
