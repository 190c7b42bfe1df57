// The message rate of one client: what is over it is refused and not stored, and nobody else notices.

import { describe, expect, it } from 'vitest';
import { ack, ping, publish, TestedBroker } from '../../testing/tested-broker.ts';

const max = 5;
const rateLimit = {
  maxConnectionsPerIpPerWindow: 20,
  connectionWindowMs: 60_000,
  maxMessagesPerClientPerSecond: max,
};

const messages = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, index) => publish('q', `${prefix}${index + 1}`));

const passed = (lines: readonly string[]): number =>
  lines.filter((line) => line.startsWith('PublishAck')).length;

describe('a client over its message rate', () => {
  it('is refused with the id of the message, which is not stored, and stays connected [LIMIT-001, LIMIT-002, LIMIT-003]', async () => {
    const tested = new TestedBroker({ rateLimit });
    const client = await tested.connect();
    const lines = await tested.exchange(client, ...messages(7, 'm'), ping());
    expect(lines.slice(5)).toEqual(['Error m6 RATE_LIMITED', 'Error m7 RATE_LIMITED', 'Pong ping']);
    expect(tested.broker.queueInfo('q')?.messageCount).toBe(max);
    await tested.advance(1000);
    expect(await tested.exchange(client, publish('q', 'm8'))).toEqual(['PublishAck m8 q']);
  });

  it('may send the whole number at once after a quiet second [LIMIT-006]', async () => {
    const tested = new TestedBroker({ rateLimit });
    const client = await tested.connect();
    expect(passed(await tested.exchange(client, ...messages(max, 'a')))).toBe(max);
    await tested.advance(1000);
    expect(passed(await tested.exchange(client, ...messages(max, 'b')))).toBe(max);
  });

  it('passes no more in any second, whenever it begins [LIMIT-007]', async () => {
    const tested = new TestedBroker({ rateLimit });
    const client = await tested.connect();
    const passedAt: number[] = [];
    for (let at = 0; at < 4000; at += 130) {
      const count = passed(await tested.exchange(client, ...messages(3, `m${at}-`)));
      passedAt.push(...Array<number>(count).fill(at));
      await tested.advance(130);
    }
    const inSecondFrom = (start: number) => passedAt.filter((at) => at >= start && at < start + 1000).length;
    expect(Math.max(...passedAt.map(inSecondFrom))).toBe(max);
    expect(passedAt.length).toBeGreaterThan(3 * max);
  });

  it('is counted for its refused publishes too, and not for other commands [LIMIT-004, LIMIT-005, CONN-023]', async () => {
    const tested = new TestedBroker({ rateLimit });
    const client = await tested.connect();
    const others = Array.from({ length: 15 }, (_, index) => [ping(`p${index}`), ack(`a${index}`)]).flat();
    await tested.exchange(client, ...others, { command: 43, id: 'l' }, { command: 42, id: 'i', queue: 'q' });
    // Acks of what was never sent, and messages, are read in pieces of 16.
    await tested.advance(1);
    const invalid = messages(max - 1, 'bad').map((message) => ({ ...message, payload: '{' }));
    expect(await tested.exchange(client, ...invalid, publish('q', 'm1'), publish('q', 'm2'))).toEqual([
      ...invalid.map(({ id }) => `Error ${String(id)} q INVALID_PAYLOAD`),
      'PublishAck m1 q',
      'Error m2 RATE_LIMITED',
    ]);
  });

  it('slows nobody else down [LIMIT-020]', async () => {
    const tested = new TestedBroker({ rateLimit });
    const [greedy, modest] = [await tested.connect(), await tested.connect()];
    await tested.exchange(greedy, ...messages(50, 'g'));
    expect(passed(await tested.exchange(modest, ...messages(max, 'm')))).toBe(max);
  });

  it('is not limited where no limit is set', async () => {
    const tested = new TestedBroker();
    const client = await tested.connect();
    expect(passed(await tested.exchange(client, ...messages(3000, 'm')))).toBe(3000);
  });
});
