// Requests to the API: paths, pages of messages, and problems in words.

import { describe, expect, it } from 'vitest';
import { type Answer, DashboardApi, PAGE_SIZE, type Problem } from './api.ts';
import { eachSentence, forEachMessage } from './each-message.ts';
import { keyOf, readMessage } from './message.ts';

type Reply = { readonly status?: number; readonly text: string };

/** An API whose broker answers as told; the requests are kept. */
function apiWith(reply: (path: string) => Reply) {
  const requests: string[] = [];
  const api = new DashboardApi(async (path, { method }) => {
    requests.push(`${method} ${path}`);
    const { status = 200, text } = reply(path);
    return { status, ok: status < 300, text: async () => text };
  });
  return { api, requests };
}

const problemIn = (answer: Answer<unknown>): Problem | undefined =>
  answer.isOk ? undefined : answer.problem;
const messageText = (id: string) =>
  `{"id":"${id}","payload": {"n": 9007199254740993},"timestamp":"2026-07-01T12:00:00.5Z","headers":{"a":"\\u00e9"},"version":1,"priority":2,"delivery_attempts":3}`;
const listOf = (count: number) =>
  `[${Array.from({ length: count }, (_, n) => messageText(`m${n}`)).join(',')}]`;

describe('a request', () => {
  it('names queue and message in its path, escaped', async () => {
    const { api, requests } = apiWith(() => ({ status: 204, text: '' }));
    await api.removeMessage('a/b', { id: 'x y' });
    await api.requeueMessage('q.dlq', { id: 'm?1', source: 'a&/..' });
    await api.purgeQueue('q');
    await api.deleteQueue('q');
    expect(requests).toEqual([
      'DELETE api/queues/a%2Fb/messages/x%20y',
      'POST api/queues/q.dlq/messages/m%3F1/requeue?source=a%26%2F..',
      'DELETE api/queues/q/messages',
      'DELETE api/queues/q',
    ]);
  });

  it('that would name something else is not sent', async () => {
    const { api, requests } = apiWith(() => ({ text: '' }));
    const answers = [
      await api.message('q', { id: '.' }),
      await api.removeMessage('victim', { id: '..' }),
      await api.requeueMessage('..', { id: 'm1', source: 'q' }),
      await api.requeueMessage('q.dlq', { id: '..', source: 'q' }),
      await api.listMessages('.', 0),
      await api.purgeQueue('..'),
      await api.deleteQueue('..'),
    ];
    expect(requests).toEqual([]);
    for (const answer of answers)
      expect(problemIn(answer)).toMatchObject({
        status: 400,
        detail: expect.stringMatching(/the broker was not asked/),
      });
    await api.removeMessage('...', { id: '.a' });
    expect(requests).toEqual(['DELETE api/queues/.../messages/.a']);
  });

  it('that is refused says why, and what to do', async () => {
    const text = JSON.stringify({ title: 'Not Found', detail: 'Queue q does not exist.' });
    const problem = problemIn(await apiWith(() => ({ status: 404, text })).api.purgeQueue('q'));
    expect(problem).toMatchObject({ status: 404, title: 'Not Found' });
    expect(problem?.detail).toMatch(/^Queue q does not exist\. It may have been/);
  });

  it.each([
    [503, 'no JSON', /Try again in a few seconds/],
    [401, '[]', /Reload the page/],
    [500, 'null', /says no more/],
  ])('that is answered with %d and %s is a problem too', async (status, text, detail) => {
    const problem = problemIn(await apiWith(() => ({ status, text })).api.deleteQueue('q'));
    expect(problem?.title).toBe(`HTTP ${status}`);
    expect(problem?.detail).toMatch(detail);
  });

  it('without an answer says what to check', async () => {
    const api = new DashboardApi(() => Promise.reject(new Error('refused')));
    expect(problemIn(await api.message('q', { id: 'm' }))).toMatchObject({ status: 0, title: 'No answer' });
  });
});

describe('of two dead letters with one id', () => {
  const letterFrom = (source: string) =>
    JSON.stringify({ id: 'same', headers: { deadLetterReason: 'MessageExpired', deadLetterSource: source } });

  it('the one of that queue is read, removed and requeued', async () => {
    const { api, requests } = apiWith(() => ({ text: letterFrom('b/1') }));
    const name = { id: 'same', source: 'b/1' };
    expect(await api.message('q.dlq', name)).toMatchObject({ isOk: true, value: { id: 'same' } });
    expect(await api.removeMessage('q.dlq', name)).toMatchObject({ isOk: true });
    expect(await api.requeueMessage('q.dlq', name)).toMatchObject({ isOk: true });
    const path = 'api/queues/q.dlq/messages/same';
    const query = '?source=b%2F1';
    expect(requests).toEqual([
      `GET ${path}${query}`,
      `DELETE ${path}${query}`,
      `POST ${path}/requeue${query}`,
    ]);
  });

  it('each has its own key', () => {
    const [a, b] = ['a', 'b'].map((source) => readMessage(letterFrom(source)));
    expect(a === undefined || b === undefined || keyOf(a) === keyOf(b)).toBe(false);
  });
});

describe('a page of messages', () => {
  it('is asked for by its place in the queue', async () => {
    const { api, requests } = apiWith(() => ({ text: listOf(PAGE_SIZE) }));
    const answer = await api.listMessages('q', 100);
    expect(answer.isOk && answer.value.messages).toHaveLength(PAGE_SIZE);
    expect(requests).toEqual(['GET api/queues/q/messages?limit=50&offset=100']);
  });

  it('is asked for again from where a list of large messages ended', async () => {
    const { api, requests } = apiWith((path) => ({ text: path.endsWith('offset=2') ? '[]' : listOf(2) }));
    const answer = await api.listMessages('q', 0);
    expect(answer).toMatchObject({ value: { messages: { length: 2 }, mayHaveMore: false } });
    expect(requests.map((request) => request.split('?')[1])).toEqual([
      'limit=50&offset=0',
      'limit=48&offset=2',
    ]);
  });
});

describe('a page of very large messages', () => {
  it('ends early, and says that more may follow', async () => {
    const { api, requests } = apiWith(() => ({ text: listOf(2) }));
    expect(await api.listMessages('q', 16)).toMatchObject({
      value: { messages: { length: 16 }, mayHaveMore: true },
    });
    expect(requests.at(-1)).toBe('GET api/queues/q/messages?limit=36&offset=30');
  });
});

describe('a message', () => {
  it('keeps the text of its payload', () => {
    expect(readMessage(messageText('m1'))).toEqual({
      id: 'm1',
      payload: '{"n": 9007199254740993}',
      acceptedAt: Date.UTC(2026, 6, 1, 12, 0, 0, 500),
      headers: [['a', 'é']],
      version: '1',
      priority: 'High',
      attemptCount: 3,
      deadLetter: undefined,
    });
  });

  it('may have no payload', () => {
    expect(readMessage('{"id":"m","headers":{}}').payload).toBeUndefined();
  });

  it('says why it is a dead letter', () => {
    const headers = {
      deadLetterReason: 'MessageExpired',
      deadLetterSource: 'orders',
      deadLetterAttempts: '4',
      deadLetteredAt: '2026-07-01T12:00:00Z',
    };
    expect(readMessage(JSON.stringify({ id: 'm', headers })).deadLetter).toEqual({
      reason: 'MessageExpired',
      source: 'orders',
      attempts: '4',
      at: Date.UTC(2026, 6, 1, 12),
    });
  });
});

describe('an action on several messages', () => {
  const conflict: Problem = { status: 409, title: 'Conflict', detail: 'The source is full.' };
  const noAnswer: Problem = { status: 0, title: 'No answer', detail: 'Nothing.' };
  const actWith =
    (problems: Readonly<Record<string, Problem>>) =>
    async (id: string): Promise<Answer<string>> => {
      const problem = problems[id];
      return problem === undefined ? { isOk: true, value: '' } : { isOk: false, problem };
    };

  it('goes on after a refusal, and says how many and why not', async () => {
    const result = await forEachMessage(['a', 'b', 'c'], actWith({ a: conflict, b: conflict }));
    expect(eachSentence(3, result, 'requeued')).toBe(
      '1 of 3 messages requeued. Not the others: The source is full.',
    );
  });

  it('that is done to none of them says so in words', async () => {
    const alone = await forEachMessage(['a'], actWith({ a: conflict }));
    expect(eachSentence(1, alone, 'requeued to q')).toBe(
      'The message was not requeued to q: The source is full.',
    );
    const both = await forEachMessage(['a', 'b'], actWith({ a: conflict, b: conflict }));
    expect(eachSentence(2, both, 'requeued')).toBe('None of 2 messages was requeued: The source is full.');
    const one = await forEachMessage(['a', 'b'], actWith({ b: conflict }));
    expect(eachSentence(2, one, 'requeued')).toBe(
      '1 of 2 messages requeued. Not the other: The source is full.',
    );
  });

  it('stops when no answer comes', async () => {
    const result = await forEachMessage(['a', 'b', 'c'], actWith({ b: noAnswer }));
    expect(result).toEqual({ doneCount: 1, problems: [noAnswer] });
  });

  it('that is done says so', async () => {
    expect(eachSentence(2, await forEachMessage(['a', 'b'], actWith({})), 'removed')).toBe(
      '2 messages removed.',
    );
  });
});
