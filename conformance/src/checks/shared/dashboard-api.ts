// Shared by the checks of the dashboard: its paths, its records, and what every answer of its API has in common. Area: DASH.
import type { CheckContext, HttpAnswer } from '../../check.ts';
import type { JsonRecord, Place } from './required-fields.ts';

/** The path of a queue below the dashboard's address. */
export function queuePath(queue: string): string {
  return `/api/queues/${encodeURIComponent(queue)}`;
}

export function messagesPath(queue: string, query = ''): string {
  return `${queuePath(queue)}/messages${query}`;
}

export function messagePath(queue: string, id: string): string {
  return `${messagesPath(queue)}/${encodeURIComponent(id)}`;
}

/** A field of a record, for failures. A missing field breaks the requirement that lists it. */
export function fieldOf(path: string, clause: string): Place {
  return { name: `the answer to GET ${path}`, clause };
}

/** The value of a successful read. `clause`: the requirement that the path answers. */
export async function readValue(ctx: CheckContext, path: string, clause: string): Promise<unknown> {
  const answer = await ctx.dashboard.get(path);
  expectDone(ctx, answer, { what: `GET ${path}`, clause, status: 200, statusClause: 'DASH-021' });
  return answer.json();
}

export async function readRecord(ctx: CheckContext, path: string, clause: string): Promise<JsonRecord> {
  const value = await readValue(ctx, path, clause);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  ctx.assert.ok(isObject, `GET ${path} answers with a JSON object`, { actual: value, clause });
  return value as JsonRecord;
}

export async function readList(ctx: CheckContext, path: string, clause: string): Promise<readonly unknown[]> {
  const value = await readValue(ctx, path, clause);
  ctx.assert.ok(Array.isArray(value), `GET ${path} answers with a JSON array`, { actual: value, clause });
  return value as readonly unknown[];
}

/** The messages that a list shows. */
export async function listMessages(
  ctx: CheckContext,
  queue: string,
  query = '',
  clause = 'DASH-008',
): Promise<readonly JsonRecord[]> {
  return (await readList(ctx, messagesPath(queue, query), clause)) as readonly JsonRecord[];
}

export function idsIn(messages: readonly JsonRecord[]): readonly unknown[] {
  return messages.map((message) => message['id']);
}

/** Sends a DELETE, and asserts that it was carried out. `clause`: the requirement that it is. */
export async function remove(ctx: CheckContext, path: string, clause: string): Promise<void> {
  const answer = await ctx.dashboard.request(path, { method: 'DELETE' });
  expectDone(ctx, answer, { what: `DELETE ${path}`, clause, status: 204, statusClause: 'DASH-022' });
}

/** The status of a requeue. */
export async function requeue(ctx: CheckContext, queue: string, id: string): Promise<number> {
  const { status } = await ctx.dashboard.request(`${messagePath(queue, id)}/requeue`, { method: 'POST' });
  return status;
}

/** Origins of pages that are not the broker's: another host, another port, and none that can be named. */
export const foreignOrigins = ['http://elsewhere.example', 'http://127.0.0.1:1', 'null'] as const;

type ForeignRequest = { readonly method: string; readonly header: 'host' | 'origin'; readonly value: string };

/** Sends a request with a header that is not the broker's, and asserts that it is refused. */
export async function expectRefusal(
  ctx: CheckContext,
  path: string,
  { method, header, value }: ForeignRequest,
): Promise<void> {
  const { status } = await ctx.dashboard.request(path, { method, headers: { [header]: value } });
  ctx.assert.between(status, 400, 499, `the status of ${method} with ${header}: ${value}`);
}

type Wanted = {
  readonly what: string;
  readonly clause: string;
  /** The recommended status, and the requirement that recommends it. */
  readonly status: number;
  readonly statusClause: string;
};

function expectDone(ctx: CheckContext, answer: HttpAnswer, wanted: Wanted): void {
  const { what, clause, status, statusClause } = wanted;
  ctx.assert.ok(answer.status >= 200 && answer.status <= 299, `${what} succeeds`, {
    expected: 'a status from 200 to 299',
    actual: `${answer.status} ${answer.body}`,
    clause,
  });
  ctx.should(answer.status === status, statusClause, `${what} is answered by ${status}`, {
    actual: answer.status,
  });
}
