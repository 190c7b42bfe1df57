// Which connections are served: the limits of open connections and of new connections per address in a window.

import { describe, expect, it } from 'vitest';
import { ping, TestedBroker } from '../testing/tested-broker.ts';

const rateLimit = {
  maxConnectionsPerIpPerWindow: 3,
  connectionWindowMs: 60_000,
  maxMessagesPerClientPerSecond: 1000,
};

async function attachMany(tested: TestedBroker, count: number, address?: string) {
  const clients = Array.from({ length: count }, () =>
    tested.attach(address === undefined ? {} : { address }),
  );
  await tested.settle();
  return clients;
}

describe('the number of connections', () => {
  it('is kept by telling the one too many CONNECTION_LIMIT and closing it [LIMIT-012, LIMIT-023, METRICS-019]', async () => {
    const tested = new TestedBroker({ maxConnections: 2 });
    const [first, second] = [await tested.connect(), await tested.connect()];
    const third = tested.attach();
    third.send({ command: 0, id: 'c' });
    await tested.settle();
    expect(third.lines()).toEqual([expect.stringMatching(/^Error fresh-\d+ CONNECTION_LIMIT$/)]);
    expect(third.isOver).toBe(true);
    expect(tested.broker.stats()).toMatchObject({
      activeConnectionCount: 2,
      connectionsAcceptedCount: 2,
      connectionsRejectedCount: 1,
      errorsCount: 1,
    });
    expect(await tested.exchange(first, ping())).toEqual(['Pong ping']);
    expect(await tested.exchange(second, ping())).toEqual(['Pong ping']);
  });

  it('is told to each of very many, one after the other [LIMIT-023]', async () => {
    const tested = new TestedBroker({ maxConnections: 1 });
    await tested.connect();
    for (let count = 0; count < 150; count += 1) {
      const refused = tested.attach();
      refused.send({ command: 0, id: 'c' });
      await tested.settle();
      expect(refused.lines(), `connection ${count}`).toEqual([
        expect.stringMatching(/^Error fresh-\d+ CONNECTION_LIMIT$/),
      ]);
      refused.stream.end();
    }
  });

  it('has room again when one has left', async () => {
    const tested = new TestedBroker({ maxConnections: 1 });
    const first = await tested.connect();
    first.stream.end();
    await tested.settle();
    const second = await tested.connect();
    expect(await tested.exchange(second, ping())).toEqual(['Pong ping']);
  });

  it('is not exceeded by refused ones that do not close: beyond 100 they are cut off', async () => {
    const tested = new TestedBroker({ maxConnections: 1 });
    await tested.connect();
    const refused = await attachMany(tested, 105);
    expect(refused.map((client) => client.take().length)).toEqual([...Array(100).fill(1), 0, 0, 0, 0, 0]);
    await tested.advance(5_000);
    const [late] = await attachMany(tested, 1);
    expect(late?.lines()).toEqual([expect.stringMatching(/CONNECTION_LIMIT$/)]);
  });
});

describe('the number of connections of one address in a window', () => {
  it('is kept by closing the one too many at once [LIMIT-009, LIMIT-024, METRICS-019]', async () => {
    const tested = new TestedBroker({ rateLimit });
    const clients = await attachMany(tested, 4);
    expect(clients.map(({ isOver }) => isOver)).toEqual([false, false, false, true]);
    expect(clients.flatMap((client) => client.take())).toEqual([]);
    expect(tested.broker.stats()).toMatchObject({ connectionsAcceptedCount: 3, connectionsRejectedCount: 1 });
  });

  it('is of no concern to other addresses', async () => {
    const tested = new TestedBroker({ rateLimit });
    await attachMany(tested, 5, '192.0.2.1');
    const [other] = await attachMany(tested, 1, '192.0.2.2');
    expect(other?.isOver).toBe(false);
  });

  it('counts the addresses of one IPv6 network /64 as one host [LIMIT-025]', async () => {
    const tested = new TestedBroker({ rateLimit });
    const addresses = ['2001:db8::1', '2001:db8::2', '2001:db8::3:4', '2001:db8::5', '2001:db8:0:1::1'];
    const clients = addresses.map((address) => tested.attach({ address }));
    await tested.settle();
    expect(clients.map(({ isOver }) => isOver)).toEqual([false, false, false, true, false]);
  });

  it('counts an IPv4-mapped address as its IPv4 address [LIMIT-025]', async () => {
    const tested = new TestedBroker({ rateLimit });
    const addresses = ['192.0.2.1', '::ffff:192.0.2.1', '192.0.2.1', '::ffff:192.0.2.1', '::ffff:192.0.2.2'];
    const clients = addresses.map((address) => tested.attach({ address }));
    await tested.settle();
    expect(clients.map(({ isOver }) => isOver)).toEqual([false, false, false, true, false]);
  });

  it('counts those that were let in, not those that were rejected [LIMIT-011]', async () => {
    const tested = new TestedBroker({ rateLimit });
    await attachMany(tested, 3);
    for (let second = 0; second < 59; second += 1) {
      await tested.advance(1000);
      await attachMany(tested, 2);
    }
    await tested.advance(1000);
    const clients = await attachMany(tested, 4);
    expect(clients.map(({ isOver }) => isOver)).toEqual([false, false, false, true]);
  });

  it('does not count those that found the broker full [LIMIT-011]', async () => {
    const tested = new TestedBroker({ rateLimit, maxConnections: 1 });
    const first = await tested.connect();
    await attachMany(tested, 10);
    first.stream.end();
    await tested.settle();
    const [next] = await attachMany(tested, 1);
    expect(next?.isOver).toBe(false);
  });
});
