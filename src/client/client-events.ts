// The events of a client's connection, and who listens to them. A listener that fails ends nothing. Implements CLIENT-039.

import type { ClosedReason } from './client-connection.ts';
import type { ClientError } from './errors.ts';
import { checkArgument, type KeysOf, shown } from './option-checks.ts';
import { callSafely } from './process-warning.ts';

export type ClientEvents = {
  /** The connection was lost, or closed by the broker. */
  readonly disconnected: ClosedReason;
  /** The client waits `delayMs` before attempt `attempt`, which counts from 1; `error` is why the connection or the last attempt failed. */
  readonly reconnecting: { readonly attempt: number; readonly delayMs: number; readonly error: unknown };
  /** There is a connection again, and the subscriptions are renewed. */
  readonly reconnected: { readonly attempt: number };
  /**
   * A subscription has ended: after a reconnect the broker refused to renew it, e.g. because the queue does not exist any more, or a message of the queue
   * is longer than `maxMessageSizeBytes`.
   */
  readonly subscriptionLost: { readonly queue: string; readonly error: ClientError };
  /** The client has ended; there is no other event. */
  readonly closed: ClosedReason;
};

export type EventName = keyof ClientEvents;
export type EventListener<Name extends EventName> = (event: ClientEvents[Name]) => void;

const names: KeysOf<ClientEvents> = {
  disconnected: true,
  reconnecting: true,
  reconnected: true,
  subscriptionLost: true,
  closed: true,
};

export class EventListeners {
  readonly #byName = new Map<EventName, Set<(event: never) => void>>();

  /** @throws TypeError for an event that there is not, which nobody would ever hear of, and for what is no function */
  add<Name extends EventName>(name: Name, listener: EventListener<Name>): void {
    check(name, listener);
    const listeners = this.#byName.get(name) ?? new Set();
    this.#byName.set(name, listeners.add(listener));
  }

  /** @throws as `add` */
  remove<Name extends EventName>(name: Name, listener: EventListener<Name>): void {
    check(name, listener);
    this.#byName.get(name)?.delete(listener);
  }

  /** Calls the listeners in the order in which they were added; whether there was one. */
  emit<Name extends EventName>(name: Name, event: ClientEvents[Name]): boolean {
    const listeners = [...(this.#byName.get(name) ?? [])] as EventListener<Name>[];
    for (const listener of listeners) callSafely(`a listener of ${name}`, () => listener(event));
    return listeners.length > 0;
  }
}

function check(name: EventName, listener: unknown): void {
  if (!Object.hasOwn(names, name))
    throw new TypeError(`event: came ${shown(name)}; allowed is ${Object.keys(names).join(', ')}`);
  checkArgument('listener', listener, 'function');
}
