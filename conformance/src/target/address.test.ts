// Addresses as people write them.
import { expect, it } from 'vitest';
import { parseAddress, parseUrl, urlAt } from './address.ts';

it.each([
  ['127.0.0.1:3000', '127.0.0.1', 3000],
  ['localhost', 'localhost', 2925],
  ['[::1]:3000', '::1', 3000],
  ['[::1]', '::1', 2925],
  ['vibemq://broker.example:3000', 'broker.example', 3000],
  ['tcp://broker/', 'broker', 2925],
])('reads %s', (text, host, port) => {
  expect(parseAddress(text)).toEqual({ host, port });
});

it.each(['', ':1', 'a:0', 'a:65536', '::1', 'a b', 'user@host', 'http://host:1'])('refuses "%s"', (text) => {
  expect(() => parseAddress(text)).toThrow('came, allowed: an address');
});

it('makes URLs', () => {
  expect(urlAt('::1', 5)).toBe('http://[::1]:5');
  expect(parseUrl('health', 'localhost:2926')).toBe('http://localhost:2926');
  expect(parseUrl('health', 'https://x/y')).toBe('https://x/y');
  expect(() => parseUrl('health', 'http://')).toThrow('--health: http:// came, allowed: a URL');
});
