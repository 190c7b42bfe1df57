// The dashboard, as an operator with an HTTP client sees it.

import assert from 'node:assert/strict';
import { lastAnswer, request } from './http.ts';
import type { FeatureWorld } from './world.ts';

/** `rest`: the path behind that of the queue. */
type Question = {
  readonly queue: string;
  readonly rest: string;
  readonly headers?: Readonly<Record<string, string>>;
};

export async function ask(
  world: FeatureWorld,
  method: string,
  { queue, rest, headers = {} }: Question,
): Promise<void> {
  const name = encodeURIComponent(await world.queueName(queue));
  await request(world, `/api/queues/${name}${rest}`, { method, headers });
}

/** The list has exactly these messages, in this order. */
export function assertMessages(world: FeatureWorld, ids: readonly string[]): void {
  const listed = JSON.parse(lastAnswer(world).text) as readonly { readonly id: string }[];
  assert.deepEqual(
    listed.map(({ id }) => id),
    ids,
  );
}

export function assertHeader(world: FeatureWorld, header: string, value: string): void {
  const message = JSON.parse(lastAnswer(world).text) as { readonly headers: Record<string, string> };
  assert.equal(message.headers[header], value);
}
