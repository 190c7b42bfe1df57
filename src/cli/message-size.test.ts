// `truemq pub` and `truemq sub` with a broker that takes larger messages than the default, which they must be told.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBroker, type EmbeddedBroker } from '../server/create-broker.ts';
import { testCommandContext } from '../testing/command-context.ts';
import { UsageError } from './arguments.ts';
import { ExitCode } from './command.ts';
import { pub } from './pub.ts';
import { sub } from './sub.ts';

let broker: EmbeddedBroker;
let address: string[];

beforeAll(async () => {
  broker = await createBroker({ port: 0, maxMessageSize: '40MiB' });
  address = ['--port', String(broker.port)];
});

afterAll(() => broker.stop());

const large = JSON.stringify('x'.repeat(3_000_000));

describe('a message of 3 MB', () => {
  it('is published and printed with --max-message-size', async () => {
    const publishing = testCommandContext();
    publishing.stdin.end(`${large}\n`);
    const size = ['--max-message-size', '4MiB'];
    expect(await pub.run(['q', ...size, ...address], publishing)).toBe(ExitCode.Done);
    const printing = testCommandContext();
    expect(await sub.run(['q', '--count', '1', ...size, ...address], printing)).toBe(ExitCode.Done);
    expect(printing.output()).toBe(`${large}\n`);
  });

  it('is told as too long without', async () => {
    const context = testCommandContext();
    context.stdin.end(`${large}\n`);
    expect(await pub.run(['q', ...address], context)).toBe(ExitCode.Failed);
    expect(context.errors()).toContain('longer than the 1048576 bytes that a message may have');
  });
});

it('is published also beside others that take more together than a client keeps', async () => {
  const context = testCommandContext();
  const lines = JSON.stringify('y'.repeat(33 * 1_048_576)).concat('\n');
  context.stdin.end(lines.repeat(3));
  expect(await pub.run(['huge', '--max-message-size', '40MiB', ...address], context)).toBe(ExitCode.Done);
  expect(context.errors()).toBe('truemq: 3 messages published to huge\n');
});

describe('--max-message-size', () => {
  it.each(['255', '65MiB', '1MB', 'large', ''])('refuses %j', async (text) => {
    const run = pub.run(['q', '1', '--max-message-size', text, ...address], testCommandContext());
    await expect(run).rejects.toThrow(UsageError);
    await expect(run).rejects.toThrow('allowed is 256 to 64MiB');
  });
});
