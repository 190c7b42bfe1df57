// What the page asks of the dashboard's API, beside the live stream. An answer is a value or a problem in words; nothing is thrown. Paths are relative to
// the page, so that they stay below its prefix.

import type { Refusal } from '../live/live-store.ts';
import { type Message, type MessageName, readMessage, readMessages } from './message.ts';

export type Problem = {
  /** 0: no answer came. */
  readonly status: number;
  readonly title: string;
  /** What went wrong, and what to do. */
  readonly detail: string;
};
export type Answer<Value> =
  | { readonly isOk: true; readonly value: Value }
  | { readonly isOk: false; readonly problem: Problem };

export type MessagePage = {
  readonly messages: readonly Message[];
  /** More may wait after them. */
  readonly mayHaveMore: boolean;
};

/** The part of `fetch` that is used. */
export type Fetch = (
  path: string,
  init: { readonly method: string; readonly cache: 'no-store' },
) => Promise<Pick<Response, 'status' | 'ok' | 'text'>>;

/** Messages on one page of the list. */
export const PAGE_SIZE = 50;
/** A list of large messages ends early; after so many requests a page stays short. */
const MAX_LIST_REQUESTS = 8;

export class DashboardApi {
  readonly #fetch: Fetch;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  /** The messages after the first `offset`: fewer than a page of them when they are large. The next page begins after as many as came. */
  async listMessages(queue: string, offset: number): Promise<Answer<MessagePage>> {
    const messages: Message[] = [];
    for (let request = 0; request < MAX_LIST_REQUESTS && messages.length < PAGE_SIZE; request += 1) {
      const limit = PAGE_SIZE - messages.length;
      const path = `${queuePath(queue)}/messages?limit=${limit}&offset=${offset + messages.length}`;
      const answer = await this.#request('GET', path);
      if (!answer.isOk) return answer;
      const more = readMessages(answer.value);
      if (more.length === 0) return { isOk: true, value: { messages, mayHaveMore: false } };
      messages.push(...more);
    }
    return { isOk: true, value: { messages, mayHaveMore: true } };
  }

  async message(queue: string, name: MessageName): Promise<Answer<Message>> {
    const answer = await this.#request('GET', `${messagePath(queue, name)}${sourceQuery(name)}`);
    return answer.isOk ? { isOk: true, value: readMessage(answer.value) } : answer;
  }

  removeMessage(queue: string, name: MessageName): Promise<Answer<string>> {
    return this.#request('DELETE', `${messagePath(queue, name)}${sourceQuery(name)}`);
  }

  /** Moves a dead letter back to the queue that it comes from. */
  requeueMessage(queue: string, name: MessageName): Promise<Answer<string>> {
    return this.#request('POST', `${messagePath(queue, name)}/requeue${sourceQuery(name)}`);
  }

  /** Removes all messages that wait. */
  purgeQueue(queue: string): Promise<Answer<string>> {
    return this.#request('DELETE', `${queuePath(queue)}/messages`);
  }

  deleteQueue(queue: string): Promise<Answer<string>> {
    return this.#request('DELETE', queuePath(queue));
  }

  async #request(method: string, path: string): Promise<Answer<string>> {
    if (DOT_SEGMENT.test(path)) return { isOk: false, problem: noAddress };
    try {
      const response = await this.#fetch(path, { method, cache: 'no-store' });
      const text = await response.text();
      if (response.ok) return { isOk: true, value: text };
      return { isOk: false, problem: problemOf(response.status, text) };
    } catch {
      return { isOk: false, problem: noAnswer };
    }
  }
}

/** A name of which the browser makes a step up, or none, whether its dots are escaped or not: the request would mean another thing. */
const DOT_SEGMENT = /\/\.\.?(?=[/?]|$)/;

const noAddress: Problem = {
  status: 400,
  title: 'No address',
  detail:
    'The names "." and ".." cannot stand in the address of a request, so the broker was not asked. A client can subscribe to such a queue, delete it, or take such a message out.',
};

const noAnswer: Problem = {
  status: 0,
  title: 'No answer',
  detail: 'The broker did not answer. Check that it runs and that this machine reaches it, then try again.',
};

function problemOf(status: number, text: string): Problem {
  const { title, detail } = fieldsOf(text);
  const said = typeof detail === 'string' ? detail : 'The answer says no more.';
  return {
    status,
    title: typeof title === 'string' ? title : `HTTP ${status}`,
    detail: `${said}${adviceFor(status)}`,
  };
}

/** Why the broker refuses a live stream, from its answer. */
export function refusalOf(status: number, text: string): Refusal {
  const { detail } = fieldsOf(text);
  return { status, detail: typeof detail === 'string' ? detail : `The broker answered with HTTP ${status}.` };
}

function fieldsOf(text: string): { readonly title?: unknown; readonly detail?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

function adviceFor(status: number): string {
  if (status === 401) return ' Reload the page to enter a name and a password.';
  if (status === 404) return ' It may have been delivered, removed or deleted meanwhile; refresh the list.';
  if (status === 429 || status === 503) return ' Try again in a few seconds.';
  return '';
}

function queuePath(queue: string): string {
  return `api/queues/${encodeURIComponent(queue)}`;
}

function messagePath(queue: string, { id }: MessageName): string {
  return `${queuePath(queue)}/messages/${encodeURIComponent(id)}`;
}

/** A dead letter queue may have a dead letter of another queue with the same id. */
function sourceQuery({ source }: MessageName): string {
  return source === undefined ? '' : `?source=${encodeURIComponent(source)}`;
}
