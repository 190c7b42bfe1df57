// What the page shows, as the query string of its address: a link shows a colleague the same thing, and Back works. Pure. Values that mean nothing
// are read as their defaults, and defaults are not written.

export const sortKeys = [
  'name',
  'mode',
  'waiting',
  'inFlight',
  'in',
  'out',
  'oldest',
  'subscribers',
  'deadLetters',
] as const;
export type SortKey = (typeof sortKeys)[number];
export type SortOrder = 'asc' | 'desc';

export type QueuesPlace = {
  readonly view: 'queues';
  readonly sort: SortKey;
  readonly order: SortOrder;
  readonly search: string;
};
export type QueuePlace = {
  readonly view: 'queue';
  readonly queue: string;
  /** How many messages stand before the first of the list. A list of large messages ends early, so pages have no numbers. */
  readonly offset: number;
  /** The id of the message in the reading pane. */
  readonly message?: string;
  /** The queue that this message comes from, when it is a dead letter: another one may have its id. Only with `message`. */
  readonly source?: string;
};
export type Place = { readonly view: 'overview' } | QueuesPlace | QueuePlace;

export const overviewPlace: Place = { view: 'overview' };
export const queuesPlace: QueuesPlace = { view: 'queues', sort: 'waiting', order: 'desc', search: '' };
const LARGEST_OFFSET = 50_000_000;

export function queuePlace(queue: string): QueuePlace {
  return { view: 'queue', queue, offset: 0 };
}

/** The same page of the queue with that message in the reading pane; undefined: with none. */
export function messagePlace(
  { view, queue, offset }: QueuePlace,
  name: { readonly id: string; readonly source?: string } | undefined,
): QueuePlace {
  if (name === undefined) return { view, queue, offset };
  const { id, source } = name;
  return { view, queue, offset, message: id, ...(source === undefined ? {} : { source }) };
}

/** The message that the place has in the reading pane, by its id and source. */
export function messageIn({ message, source }: QueuePlace) {
  if (message === undefined) return undefined;
  return { id: message, ...(source === undefined ? {} : { source }) };
}

/** The order that a click on a column begins with: names from A, numbers from the largest. */
export function firstOrder(sort: SortKey): SortOrder {
  return sort === 'name' || sort === 'mode' ? 'asc' : 'desc';
}

/** The place of an address. `search`: from its question mark on, or empty. */
export function parsePlace(search: string): Place {
  const parameters = new URLSearchParams(search);
  const queue = parameters.get('queue');
  if (queue !== null && queue !== '') return parseQueue(queue, parameters);
  return parameters.get('view') === 'queues' ? parseQueues(parameters) : overviewPlace;
}

function parseQueue(queue: string, parameters: URLSearchParams): QueuePlace {
  const number = Number(parameters.get('offset') ?? 0);
  const offset = Number.isInteger(number) && number >= 0 && number <= LARGEST_OFFSET ? number : 0;
  // No message and no queue has the empty name.
  const message = parameters.get('message') || undefined;
  const source = parameters.get('source') || undefined;
  if (message === undefined) return { view: 'queue', queue, offset };
  return { view: 'queue', queue, offset, message, ...(source === undefined ? {} : { source }) };
}

function parseQueues(parameters: URLSearchParams): QueuesPlace {
  const sort = sortKeys.find((key) => key === parameters.get('sort')) ?? queuesPlace.sort;
  const given = parameters.get('order');
  const order = given === 'asc' || given === 'desc' ? given : firstOrder(sort);
  return { view: 'queues', sort, order, search: parameters.get('search') ?? '' };
}

/** An address relative to the page: `?view=queues`. That of the overview is `./`, without a query. */
export function formatPlace(place: Place): string {
  const query = new URLSearchParams([...parametersOf(place)]).toString();
  return query === '' ? './' : `?${query}`;
}

function* parametersOf(place: Place): Iterable<[string, string]> {
  if (place.view === 'queues') {
    yield ['view', 'queues'];
    if (place.sort !== queuesPlace.sort) yield ['sort', place.sort];
    if (place.order !== firstOrder(place.sort)) yield ['order', place.order];
    if (place.search !== '') yield ['search', place.search];
  }
  if (place.view === 'queue') {
    yield ['queue', place.queue];
    if (place.offset !== 0) yield ['offset', String(place.offset)];
    if (place.message !== undefined) yield ['message', place.message];
    if (place.message !== undefined && place.source !== undefined) yield ['source', place.source];
  }
}
