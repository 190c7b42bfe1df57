// Dead letters of several queues with one id, over the dashboard's API: each can be told from the others by the queue that it comes from.

import { describe, expect, it } from 'vitest';
import { deadLetter, testedDashboard } from '../../testing/tested-dashboard.ts';

/** Two dead letters with the id m1 in `q.dlq`: of `q`, then of `Ä.b`. */
async function withTwoLetters() {
  const dashboard = await testedDashboard();
  for (const queue of ['q', 'Ä.b']) await deadLetter(dashboard, 'm1', queue);
  const { get, request } = dashboard;
  const path = (source: string) => `/api/queues/q.dlq/messages/m1?source=${encodeURIComponent(source)}`;
  const problemOf = async (response: Response): Promise<unknown> => [response.status, await response.json()];
  return {
    dashboard,
    read: (source: string) => get(path(source)),
    remove: (source: string) => dashboard.status(path(source), 'DELETE'),
    refusal: async (source: string, method: string) => problemOf(await request(path(source), { method })),
    sources: async () =>
      ((await get('/api/queues/q.dlq/messages')) as { headers: Record<string, string> }[]).map(
        ({ headers }) => headers['deadLetterSource'],
      ),
  };
}

describe('of two dead letters with one id', () => {
  it('each is read by the queue that it comes from [DASH-039]', async () => {
    const { read, refusal } = await withTwoLetters();
    for (const source of ['q', 'Ä.b'])
      expect(await read(source)).toMatchObject({ id: 'm1', headers: { deadLetterSource: source } });
    expect(await refusal('other', 'GET')).toMatchObject([
      404,
      { detail: 'The queue has no message with this id that comes from queue other.' },
    ]);
    expect(await refusal('', 'GET')).toMatchObject([404, {}]);
  });

  it('the one that comes from a queue is removed, and no other [DASH-039]', async () => {
    const { remove, refusal, sources } = await withTwoLetters();
    expect(await remove('Ä.b')).toBe(204);
    expect(await sources()).toEqual(['q']);
    expect(await refusal('Ä.b', 'DELETE')).toMatchObject([
      404,
      { detail: 'No message with this id that comes from queue Ä.b waits in the queue.' },
    ]);
    expect(await sources()).toEqual(['q']);
    expect(await remove('q')).toBe(204);
    expect(await sources()).toEqual([]);
  });

  it('the one that was taken first is read and removed without a source', async () => {
    const { dashboard, sources } = await withTwoLetters();
    const path = '/api/queues/q.dlq/messages/m1';
    expect(await dashboard.get(path)).toMatchObject({ headers: { deadLetterSource: 'q' } });
    expect(await dashboard.status(path, 'DELETE')).toBe(204);
    expect(await sources()).toEqual(['Ä.b']);
  });
});
