// What is said of brokers that are left running.
import { expect, it } from 'vitest';
import { brokerKeeper } from './keep-alive.ts';

it.each([
  [7, 'Still running: process 7, with its defaults'],
  [undefined, 'Still running: a broker, with its defaults'],
])('names the process that the runner knows: %s', async (processId, line) => {
  const told: string[] = [];
  const stop = new AbortController();
  const terminal = { out: () => {}, err: (text: string) => told.push(text), color: false };
  const running = [{ endpoints: { tcp: { host: '127.0.0.1', port: 1 } }, processId, request: {} }];
  const kept = brokerKeeper(terminal, stop.signal)({} as never, running);
  stop.abort();
  await kept;
  expect(told).toContain(line);
});
