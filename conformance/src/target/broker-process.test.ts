// What an adapter answers: a wrong line is told with the key and what is allowed.
import { describe, expect, it } from 'vitest';
import { readAnswer } from './broker-process.ts';

const good = { protocol: 1, ready: true, broker: { name: 'x' }, tcp: { host: '127.0.0.1', port: 5 } };

describe('readAnswer', () => {
  it('takes the least that there must be, and null for what the broker has not', () => {
    expect(readAnswer(JSON.stringify(good))).toEqual(good);
    expect(readAnswer(JSON.stringify({ ...good, health: null, dashboard: null, more: 1 })).tcp.port).toBe(5);
  });

  it.each<[unknown, string]>([
    [{ ...good, tcp: undefined }, 'tcp is missing'],
    [{ ...good, tcp: { host: 'h', port: 0 } }, 'tcp.port: 0 came, allowed: 1 to 65535'],
    [{ ...good, ready: 'yes' }, 'ready: "yes" came, allowed: true, false'],
    [{ ...good, protocol: 2 }, 'protocol: 2 came, allowed: 1'],
    [{ ...good, unsupported: 'x' }, 'unsupported: "x" came, allowed: an array'],
    [{ protocol: 1, ready: false, error: 'no disk' }, 'the adapter refused: no disk'],
  ])('refuses %o', (answer, text) => {
    expect(() => readAnswer(JSON.stringify(answer))).toThrow(text);
  });

  it('refuses a line that is a log line', () => {
    expect(() => readAnswer('listening on 5')).toThrow('logs belong on standard error');
  });
});
