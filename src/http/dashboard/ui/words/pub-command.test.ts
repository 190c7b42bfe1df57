// The command that publishes a first message.

import { describe, expect, it } from 'vitest';
import { DEFAULT_PORT } from '../../../../model/default-address.ts';
import { pubCommand } from './pub-command.ts';

describe('the command that publishes a message', () => {
  it.each([
    [undefined, `npx truemq pub q '{"n":1}'`],
    [{ port: DEFAULT_PORT, tls: false }, `npx truemq pub q '{"n":1}'`],
    [{ port: 4000, tls: false }, `npx truemq pub --port 4000 q '{"n":1}'`],
    [{ port: 4000, tls: true }, `npx truemq pub --port 4000 --tls q '{"n":1}'`],
  ])('says where the broker is unless it is at the default address: %o', (tcp, command) => {
    expect(pubCommand('q', tcp)).toBe(command);
  });

  it.each([
    ['orders/eu.v1-a', 'orders/eu.v1-a'],
    ['two words', "'two words'"],
    ['$(id)', "'$(id)'"],
    ["it's", String.raw`'it'\''s'`],
    ['-x', '-- -x'],
    ['- x', "-- '- x'"],
    ['größe', "'größe'"],
  ])('names the queue %s as one word of a shell', (queue, word) => {
    expect(pubCommand(queue, undefined)).toBe(`npx truemq pub ${word} '{"n":1}'`);
  });
});
