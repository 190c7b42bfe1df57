// The options of publishes and subscriptions, and what is checked before anything is sent. Pure. Implements CLIENT-040.

import { Priority, type PriorityName } from '../model/priority.ts';
import { HeaderName } from '../protocol/header-name.ts';
import { noHeaders } from '../protocol/message.ts';
import type { CallOptions } from './abort.ts';
import type { AckMode } from './client-subscription.ts';
import {
  checkHeaderText,
  checkId,
  checkInteger,
  checkKeys,
  checkOneOf,
  checkSignal,
  isPlain,
  type KeysOf,
  shown,
} from './option-checks.ts';
import { MAX_INT32 } from './reconnect-schedule.ts';

export type PublishOptions = CallOptions & {
  /** Carried to the subscribers unchanged. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as header `priority`, in place of one in `headers`: those of a delivery may be passed on. */
  readonly priority?: PriorityName;
  /** The message's id; a message of this id that is still in the queue makes this one a repeat. Default: a fresh one. */
  readonly id?: string;
};

export type SubscribeOptions = CallOptions & {
  /** Unacknowledged messages that the broker may send, 1 to 2,147,483,647; brokers that announce `maxInFlight` obey it. Default: the broker's. */
  readonly maxInFlight?: number;
  /** `manual`: only `message.ack()` acknowledges. Default `auto`: a message is acknowledged when its handler has succeeded. */
  readonly ack?: AckMode;
};

const publishKeys: KeysOf<PublishOptions> = { headers: true, priority: true, id: true, signal: true };
const publishAllKeys: KeysOf<Omit<PublishOptions, 'id'>> = { headers: true, priority: true, signal: true };
const subscribeKeys: KeysOf<SubscribeOptions> = { maxInFlight: true, ack: true, signal: true };
const callKeys: KeysOf<CallOptions> = { signal: true };
const priorityNames = Object.keys(Priority);

/** @throws TypeError */
export function checkCallOptions(call: CallOptions): void {
  checkKeys('the options of the call', call, callKeys);
  checkSignal(call.signal);
}

/** @throws TypeError, RangeError */
export function checkPublishOptions(options: PublishOptions): void {
  checkKeys('the options of publish', options, publishKeys);
  if (options.id !== undefined) checkId('id', options.id);
  checkOneOf('priority', options.priority, priorityNames);
  checkSignal(options.signal);
}

/** One id would make all values but the first repeats. @throws TypeError */
export function checkPublishAllOptions(options: Omit<PublishOptions, 'id'>): void {
  checkKeys('the options of publishAll', options, publishAllKeys);
  checkOneOf('priority', options.priority, priorityNames);
  checkSignal(options.signal);
}

/** @throws TypeError, RangeError */
export function checkSubscribeOptions(options: SubscribeOptions): void {
  checkKeys('the options of a subscription', options, subscribeKeys);
  const { maxInFlight = 1, ack, signal } = options;
  checkInteger('maxInFlight', maxInFlight, 1, MAX_INT32);
  checkOneOf('ack', ack, ['auto', 'manual']);
  checkSignal(signal);
}

/** @throws TypeError, RangeError for headers that cannot be sent */
export function toHeaders({ headers, priority }: PublishOptions): ReadonlyMap<string, string> {
  if (headers === undefined && priority === undefined) return noHeaders;
  const all = new Map(headers === undefined ? [] : Object.entries(checkedHeaders(headers)));
  if (priority !== undefined) all.set(HeaderName.Priority, priority);
  return all;
}

/** @throws TypeError for a Map or a list, whose entries are no keys of the object, and for a value that is no text */
function checkedHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  if (!isPlain(headers))
    throw new TypeError(
      `headers: came ${shown(headers)}; allowed is a plain object of texts; Object.fromEntries makes one of a Map`,
    );
  for (const key in headers) {
    checkHeaderText('a name in headers', key);
    checkHeaderText(`headers.${key}`, headers[key]);
  }
  return headers;
}
