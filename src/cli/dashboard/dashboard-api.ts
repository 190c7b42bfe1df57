// What commands ask of the API of a dashboard: the dead letters of a queue, requeue, purge. Checks that answers have the form of
// spec/openapi/dashboard.yaml.

import { HeaderName } from '../../protocol/header-name.ts';
import { jsonElements, jsonMembers } from '../json-members.ts';
import { DashboardError, type SendDashboardRequest } from './dashboard-request.ts';

/** The largest page of the API. */
const PAGE_COUNT = 100;

export type DeadLetter = {
  readonly id: string;
  /** The queue that it comes from. */
  readonly source: string;
  readonly reason: string;
  /** Attempts that failed; null: the broker does not say. */
  readonly attemptCount: number | null;
  /** ISO 8601; null: the broker does not say. */
  readonly deadLetteredAt: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON text that was published; `null`: there is none. */
  readonly payload: string;
};

export type WantedDeadLetter = Pick<DeadLetter, 'id'> & { readonly source: string | undefined };

/** All methods reject with DashboardError. */
export class DashboardApi {
  readonly #send: SendDashboardRequest;

  constructor(send: SendDashboardRequest) {
    this.#send = send;
  }

  /** Removes the messages of the queue that wait. */
  async purge(queue: string): Promise<void> {
    await this.#send('DELETE', `${pathOf(queue)}/messages`);
  }

  /** The queue that keeps the dead letters of this one; the queue itself when it keeps none, because it may be a dead letter queue. */
  async deadLetterQueueOf(queue: string): Promise<string> {
    const details = parseObject(await this.#send('GET', pathOf(queue)));
    if (details['enable_dead_letter_queue'] !== true) return queue;
    const name = details['dead_letter_queue_name'];
    return typeof name === 'string' ? name : `${queue}.dlq`;
  }

  /** The dead letters among the messages that wait in a queue, page by page, the first one first. */
  async *deadLettersIn(queue: string): AsyncGenerator<DeadLetter> {
    for (let offset = 0; ; ) {
      const path = `${pathOf(queue)}/messages?limit=${PAGE_COUNT}&offset=${offset}`;
      const page = jsonElements(await this.#send('GET', path));
      if (page === undefined) throw unreadable();
      // A page may end early, so only an empty one is the last.
      if (page.length === 0) return;
      for (const message of page) {
        const letter = deadLetterOf(message);
        if (letter !== undefined) yield letter;
      }
      offset += page.length;
    }
  }

  /**
   * Moves the oldest dead letter with this id to the end of the queue that it comes from, which `source` names. Undefined: whichever it is. A
   * broker that does not know the parameter takes the oldest of any source.
   */
  async requeue(queue: string, { id, source }: WantedDeadLetter): Promise<void> {
    const query = source === undefined ? '' : `?source=${encodeURIComponent(source)}`;
    await this.#send('POST', `${pathOf(queue)}/messages/${segmentOf(id)}/requeue${query}`);
  }
}

function pathOf(queue: string): string {
  return `api/queues/${segmentOf(queue)}`;
}

/** A name in a path. Those that mean a step up or none would name another thing, and cannot be escaped. */
function segmentOf(name: string): string {
  if (name !== '.' && name !== '..') return encodeURIComponent(name);
  throw new DashboardError(`the dashboard has no address for the name "${name}"`, 404);
}

/** Undefined: the message was not dead-lettered. */
function deadLetterOf(text: string): DeadLetter | undefined {
  const message = parseObject(text);
  const headers = asObject(message['headers']) as Readonly<Record<string, string>>;
  const source = headers[HeaderName.DeadLetterSource];
  const reason = headers[HeaderName.DeadLetterReason];
  if (source === undefined || reason === undefined) return undefined;
  const attempts = headers[HeaderName.DeadLetterAttempts];
  return {
    id: String(message['id']),
    source,
    reason,
    attemptCount: attempts === undefined ? null : Number(attempts),
    deadLetteredAt: headers[HeaderName.DeadLetteredAt] ?? null,
    headers,
    payload: jsonMembers(text)?.get('payload') ?? 'null',
  };
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  return asObject(JSON.parse(text));
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null) return value as Readonly<Record<string, unknown>>;
  throw unreadable();
}

function unreadable(): DashboardError {
  return new DashboardError(
    'the answer does not have the form of the API: is this the address of a dashboard?',
  );
}
