// The health server and the dashboard, as somebody with an HTTP client sees them.

import assert from 'node:assert/strict';
import type { HttpAnswer, HttpRequest } from './drivers/driver.ts';
import type { FeatureWorld } from './world.ts';

type Numbers = Readonly<Record<string, unknown>>;

export async function request(world: FeatureWorld, path: string, init?: HttpRequest): Promise<HttpAnswer> {
  const broker = await world.broker();
  await broker.settle(world.clients.values());
  const answer = await broker.request(path, init);
  world.httpAnswer = answer;
  return answer;
}

/** What a word in a table says about a JSON value; any other text is the value itself. */
const kinds: Readonly<Record<string, (value: unknown) => boolean>> = {
  integer: (value) => Number.isInteger(value),
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  timestamp: (value) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,7})?Z$/.test(String(value)),
  'time span': (value) => /^(\d+\.)?\d\d:\d\d:\d\d(\.\d{1,7})?$/.test(String(value)),
};

/** Each row's field is there, and is what the row says. */
export function assertJson(world: FeatureWorld, rows: readonly (readonly string[])[]): void {
  const { text } = lastAnswer(world);
  const record = JSON.parse(text) as Numbers;
  for (const [field = '', expected = ''] of rows) {
    const value = record[field];
    const fits = kinds[expected]?.(value) ?? String(value) === expected;
    assert.ok(fits, `${field} is ${JSON.stringify(value)}, not ${expected}`);
  }
}

export function assertProblem(world: FeatureWorld): void {
  const { headers, status, text } = lastAnswer(world);
  assert.match(headers.get('content-type') ?? '', /^application\/problem\+json\b/);
  assert.equal((JSON.parse(text) as { status?: number }).status, status);
}

export function lastAnswer(world: FeatureWorld): HttpAnswer {
  return world.httpAnswer ?? assert.fail('nothing was asked for over HTTP');
}

export async function noteNumbers(world: FeatureWorld, path: string): Promise<void> {
  world.notedNumbers.set(path, await numbersOf(world, path));
}

/** Each row's number differs by that much from the one that was noted. */
export async function assertChanges(
  world: FeatureWorld,
  path: string,
  rows: readonly (readonly string[])[],
): Promise<void> {
  const before = world.notedNumbers.get(path) ?? assert.fail(`the numbers of ${path} were not noted`);
  const now = await numbersOf(world, path);
  const changes = rows.map(([field = '']) => [field, String(Number(now[field]) - Number(before[field]))]);
  assert.deepEqual(changes, rows);
}

export async function assertGrowth(
  world: FeatureWorld,
  path: string,
  fields: readonly string[],
): Promise<void> {
  const before = world.notedNumbers.get(path) ?? assert.fail(`the numbers of ${path} were not noted`);
  const now = await numbersOf(world, path);
  for (const field of fields) assert.ok(Number(now[field]) > Number(before[field]), `${field} has not grown`);
}

async function numbersOf(world: FeatureWorld, path: string): Promise<Numbers> {
  return JSON.parse((await request(world, path)).text) as Numbers;
}

/** As near as the driver can tell moments. */
export async function assertLatencyAbout(world: FeatureWorld, scenarioMs: number): Promise<void> {
  const broker = await world.broker();
  const expectedMs = broker.scaled(scenarioMs);
  const foundMs = Number((await numbersOf(world, '/metrics/'))['average_delivery_latency_ms']);
  const { earlyMs, lateMs } = broker.tolerance;
  const isNear =
    foundMs >= expectedMs - broker.scaled(earlyMs) && foundMs <= expectedMs + broker.scaled(lateMs);
  assert.ok(isNear, `the latency is ${foundMs} ms, not about ${expectedMs}`);
}
