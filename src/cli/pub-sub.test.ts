// `truemq pub` and `truemq sub` against a broker in this process: what they print, what they confirm, how they end.

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { connect } from '../client/index.ts';
import { type RunningBroker, startBroker } from '../server/start-broker.ts';
import { testCommandContext } from '../testing/command-context.ts';
import { ScriptedBroker } from '../testing/scripted-broker.ts';
import { ExitCode } from './command.ts';
import { loadAdapterConfiguration } from './configuration-flags.ts';
import { createLogger } from './logger.ts';
import { pub } from './pub.ts';
import { sub } from './sub.ts';

let broker: RunningBroker;
let address: string[];

beforeAll(async () => {
  const entries = new Map<string, unknown>([
    ['port', 0],
    ['health', false],
    ['dashboard', false],
    ['rateLimit', false],
  ]);
  const { configuration } = loadAdapterConfiguration(entries, testCommandContext());
  const logger = createLogger({ level: 'error', format: 'json', write: () => undefined, wallNow: Date.now });
  broker = await startBroker(configuration, logger);
  address = ['--port', String(broker.tcp.port)];
});

afterAll(() => broker.stop());

async function publish(argv: readonly string[], input?: string | Buffer) {
  const context = testCommandContext();
  if (input !== undefined) context.stdin.end(input);
  const exitCode = await pub.run([...argv, ...address], context);
  return { exitCode, errors: context.errors() };
}

async function take(queue: string, argv: readonly string[]) {
  const context = testCommandContext();
  const exitCode = await sub.run([queue, ...address, ...argv], context);
  return { exitCode, output: context.output(), errors: context.errors() };
}

async function messageCount(queue: string): Promise<number | undefined> {
  const client = await connect({ port: broker.tcp.port, reconnect: false });
  const info = await client.queueInfo(queue);
  await client.close();
  return info?.messageCount;
}

describe('pub', () => {
  it('publishes one message with headers and priority, and says so [CLIENT-001, CLIENT-040]', async () => {
    const { exitCode, errors } = await publish([
      'one',
      '{ "n": 1 }',
      '--header',
      'a=b=c',
      '--priority',
      'high',
    ]);
    expect([exitCode, errors]).toEqual([ExitCode.Done, 'truemq: 1 message published to one\n']);
    const { output } = await take('one', ['--count', '1', '--json']);
    expect(JSON.parse(output)).toEqual({
      id: expect.any(String),
      queue: 'one',
      headers: expect.objectContaining({ a: 'b=c', priority: 'High' }),
      attemptCount: 1,
      payload: { n: 1 },
    });
  });

  it('sends a priority in a header, in any case', async () => {
    expect((await publish(['as-header', '1', '--header', 'priority=high'])).exitCode).toBe(ExitCode.Done);
    const { output } = await take('as-header', ['--count', '1', '--json']);
    expect(JSON.parse(output)).toMatchObject({ headers: { priority: expect.stringMatching(/^high$/i) } });
  });

  it('connects where the environment says', async () => {
    const context = testCommandContext({
      TRUEMQ_URL: `vibemq://127.0.0.1:${broker.tcp.port}?compression=none`,
    });
    expect(await pub.run(['by-url', '1'], context)).toBe(ExitCode.Done);
    expect(await messageCount('by-url')).toBe(1);
  });

  it('publishes the lines of stdin in order, as many times as asked', async () => {
    const { exitCode, errors } = await publish(['lines', '--count', '2'], '1\r\n"\u2028"\n\n[3]');
    expect([exitCode, errors]).toEqual([ExitCode.Done, 'truemq: 6 messages published to lines\n']);
    expect((await take('lines', ['--count', '6'])).output).toBe('1\n1\n"\u2028"\n"\u2028"\n[3]\n[3]\n');
  });

  it('names the bad lines, publishes the good ones and fails', async () => {
    const input = Buffer.concat([Buffer.from('1\n{bad\n"'), Buffer.from([0xff]), Buffer.from('"\n4\n')]);
    const { exitCode, errors } = await publish(['bad'], input);
    expect(exitCode).toBe(ExitCode.Failed);
    expect(errors).toMatch(
      /^truemq: line 2: not published: not JSON .*\ntruemq: line 3: not published: not UTF-8\n/,
    );
    expect(errors).toMatch(/\ntruemq: 2 messages published to bad\n$/);
    expect(await messageCount('bad')).toBe(2);
  });

  it('refuses a line that is longer than any message, and publishes the next one', async () => {
    const { exitCode, errors } = await publish(['long'], `"${'x'.repeat(3_000_000)}"\n2\n`);
    expect([exitCode, errors]).toEqual([
      ExitCode.Failed,
      'truemq: line 1: not published: longer than the 1048576 bytes that a message may have\n' +
        'truemq: 1 message published to long\n',
    ]);
  });

  it('prints a line of JSON for each message with --json', async () => {
    const context = testCommandContext();
    context.stdin.end('1\n{\n');
    expect(await pub.run(['as-json', '--json', ...address], context)).toBe(ExitCode.Failed);
    const records = context
      .output()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const id = expect.any(String);
    expect(records).toContainEqual({ queue: 'as-json', line: 1, id, isConfirmed: true, error: null });
    const error = { code: 'NOT_JSON', message: expect.stringMatching(/^not JSON/) };
    expect(records).toContainEqual({ queue: 'as-json', line: 2, id: null, isConfirmed: false, error });
    const refused = testCommandContext();
    await pub.run(['no such/name', '1', '--json', ...address], refused);
    expect(JSON.parse(refused.output())).toMatchObject({
      line: null,
      id: null,
      isConfirmed: false,
      error: { code: 'INVALID_MESSAGE' },
    });
  });

  it('fails when its input cannot be read to its end, after what came before', async () => {
    const context = testCommandContext();
    context.stdin.write('1\n2\n');
    const exit = pub.run(['unreadable', ...address], context);
    await vi.waitFor(async () => expect(await messageCount('unreadable')).toBe(2));
    context.stdin.destroy(Object.assign(new Error('EIO: i/o error, read'), { errno: -5, code: 'EIO' }));
    expect(await exit).toBe(ExitCode.Failed);
    expect(context.errors()).toBe(
      'truemq: stdin cannot be read: i/o error; what follows in it was not published\n' +
        'truemq: 2 messages published to unreadable\n',
    );
  });

  it.each([
    ['SIGINT', ExitCode.Interrupted],
    ['SIGTERM', ExitCode.Terminated],
  ] as const)(
    'waits for what it has sent when %s comes, although its input goes on',
    async (signal, exitCode) => {
      const [port, played] = await scriptedBroker(async (script) => {
        await script.welcome();
        const { id } = await script.take();
        context.signal(signal);
        script.send({ command: 21, id });
      });
      const context = testCommandContext();
      context.stdin.write('1\n');
      expect(await pub.run(['q', '--port', String(port)], context)).toBe(exitCode);
      expect(context.errors()).toMatch(/^truemq: interrupted; .*\ntruemq: 1 message published to q\n$/);
      expect(context.stdin.destroyed).toBe(true);
      await played;
    },
  );

  it('ends at a signal also when nobody reads its output, and acknowledges nothing that nobody read', async () => {
    await publish(['unread', '1']);
    const context = testCommandContext();
    const written = new Promise<void>((resolve) => {
      context.stdout._write = () => resolve();
    });
    const exit = sub.run(['unread', ...address], context);
    await written;
    context.signal('SIGTERM');
    expect(await exit).toBe(ExitCode.Done);
    await vi.waitFor(() => expect(context.exits).toEqual([ExitCode.Done]));
    expect(await messageCount('unread')).toBe(1);
  });

  it('ends at once at a second signal', async () => {
    const [port] = await scriptedBroker(async (script) => {
      await script.welcome();
      await script.take();
      context.signal('SIGINT');
      context.signal('SIGINT');
    });
    const context = testCommandContext();
    void pub.run(['q', '1', '--port', String(port)], context);
    await vi.waitFor(() => expect(context.exits).toEqual([ExitCode.Interrupted]));
  });

  it('ends when the broker goes away, although its input goes on', async () => {
    const [port] = await scriptedBroker(async (script) => {
      await script.welcome();
      script.send({ command: 21, id: (await script.take()).id });
      script.end();
    });
    const context = testCommandContext();
    context.stdin.write('1\n');
    expect(await pub.run(['q', '--port', String(port)], context)).toBe(ExitCode.Failed);
    expect(context.errors()).toMatch(/lost/);
  });

  it('tells which message the broker refused', async () => {
    const { exitCode, errors } = await publish(['no such/name'], '1\n');
    expect(exitCode).toBe(ExitCode.Failed);
    expect(errors).toMatch(/^truemq: line 1: not confirmed: INVALID_MESSAGE/);
  });

  it('escapes what a terminal would obey in the words of the broker, and not in JSON', async () => {
    const [port] = await scriptedBroker(async (script) => {
      await script.welcome();
      const { id } = await script.take();
      script.send({ command: 99, id, errorCode: 'QUEUE_FULL', errorMessage: 'a\u001b[2J\u009bm' });
    });
    const context = testCommandContext();
    expect(await pub.run(['q', '1', '--json', '--port', String(port)], context)).toBe(ExitCode.Failed);
    expect(context.errors()).toContain('not confirmed: QUEUE_FULL: a\\x1b[2J\\x9bm\n');
    expect(JSON.parse(context.output()).error.message).toBe('QUEUE_FULL: a\u001b[2J\u009bm');
  });

  it('publishes more lines than fit into its window', async () => {
    const numbers = Array.from({ length: 1_000 }, (_, index) => index);
    expect(await publish(['many'], numbers.join('\n'))).toMatchObject({ exitCode: ExitCode.Done });
    const { output } = await take('many', ['--count', '1000']);
    expect(output).toBe(`${numbers.join('\n')}\n`);
  });

  it('tries again what is over the rate limit', async () => {
    const [port, taken] = await scriptedBroker(async (script) => {
      await script.welcome();
      const first = await script.take();
      script.send({ command: 99, id: first.id, errorCode: 'RATE_LIMITED', errorMessage: '' });
      script.send({ command: 21, id: (await script.take()).id });
    });
    const context = testCommandContext();
    expect(await pub.run(['q', '1', '--port', String(port)], context)).toBe(ExitCode.Done);
    await taken;
  });

  it('says which lines were not confirmed when the connection is lost', async () => {
    const [port] = await scriptedBroker(async (script) => {
      await script.welcome();
      script.send({ command: 21, id: (await script.take()).id });
      await script.take();
      script.destroy();
    });
    const context = testCommandContext();
    context.stdin.end('1\n2\n');
    expect(await pub.run(['q', '--port', String(port)], context)).toBe(ExitCode.Failed);
    expect(context.errors()).toMatch(
      /^truemq: line 2: not confirmed: [^\n]+\n[\s\S]*lost[\s\S]*\ntruemq: 1 message published to q\n$/,
    );
  });

  it('says which flag takes a larger message', async () => {
    const { exitCode, errors } = await publish(['q', `"${'x'.repeat(300)}"`, '--max-message-size', '256']);
    expect(exitCode).toBe(ExitCode.Failed);
    expect(errors).toMatch(
      /sends at most 256; make it smaller, or raise --max-message-size if the broker takes it\n/,
    );
  });

  it.each([
    [['q', '{x'], /^"\{x": not JSON/],
    [['q', '1', '--header', 'x'], /^--header: came "x"; allowed is NAME=VALUE/],
    [
      ['q', '1', '--header', 'priority=hihg'],
      /^--header priority: came "hihg"; allowed is Low, Normal, High, Critical; did you mean High\?$/,
    ],
    [
      ['q', '1', '--header', 'priority=High', '--priority', 'High'],
      /^--priority: contradicts --header priority=High; give one of them$/,
    ],
    [
      ['q', '1', '--header', 'a=1', '--header', 'a=2'],
      /^--header: "a" came twice, with "1" and "2"; give it one value$/,
    ],
    [
      ['q', '1', '--priority', 'urgent'],
      /^--priority: came "urgent"; allowed is Low, Normal, High, Critical/,
    ],
    [['q', '1', '--count', '0'], /^--count: came "0"/],
    [['q', '1', '--port', '0'], /^--port: came "0"/],
  ])('refuses %j', async (argv, message) => {
    await expect(pub.run(argv, testCommandContext())).rejects.toThrow(message);
  });
});

describe('sub', () => {
  it('prints what waits and what comes, until it is stopped [CLIENT-001, CLIENT-005]', async () => {
    await publish(['live', '{"a":\n1}']);
    const context = testCommandContext();
    const exit = sub.run(['live', ...address], context);
    await vi.waitFor(() => expect(context.output()).toBe('{"a": 1}\n'));
    await publish(['live', '2']);
    await vi.waitFor(() => expect(context.output()).toBe('{"a": 1}\n2\n'));
    context.signal('SIGINT');
    expect(await exit).toBe(ExitCode.Done);
    expect(broker.view.stats().inFlightCount).toBe(0);
    expect(await messageCount('live')).toBe(0);
  });

  it('leaves what is beyond its count to others', async () => {
    await publish(['five'], '1\n2\n3\n4\n5\n');
    expect(await take('five', ['--count', '2'])).toMatchObject({ exitCode: ExitCode.Done, output: '1\n2\n' });
    await vi.waitFor(async () => expect(await messageCount('five')).toBe(3));
  });

  it('ends well when nobody reads its output any more, and acknowledges nothing that was not printed', async () => {
    await publish(['pipe', '1']);
    const context = testCommandContext();
    context.stdout._write = (_chunk, _encoding, done) =>
      done(Object.assign(new Error('EPIPE'), { code: 'EPIPE' }));
    expect(await sub.run(['pipe', ...address], context)).toBe(ExitCode.Done);
    await vi.waitFor(async () => expect(await messageCount('pipe')).toBe(1));
  });

  it('fails when its output cannot be written, and acknowledges nothing that was not', async () => {
    await publish(['full'], '1\n2\n3\n');
    const context = testCommandContext();
    const full = Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
    context.stdout._write = (chunk, _encoding, done) => done(String(chunk) === '1\n' ? null : full);
    expect(await sub.run(['full', ...address], context)).toBe(ExitCode.Failed);
    await vi.waitFor(async () => expect(await messageCount('full')).toBe(2));
    const rest = await take('full', ['--count', '2', '--json']);
    expect(rest.output.split('\n').length).toBe(3);
  });

  it('ends at once at a second signal', async () => {
    const [port] = await scriptedBroker(async (script) => {
      await script.welcome();
    });
    const context = testCommandContext();
    void sub.run(['q', '--port', String(port)], context);
    await vi.waitFor(() => {
      context.signal('SIGINT');
      expect(context.exits.length).toBeGreaterThan(0);
    });
  });

  it('tells why the broker ended the connection [CLIENT-038]', async () => {
    const [port] = await scriptedBroker(async (script) => {
      await script.welcome();
      script.send({ command: 23, id: (await script.take()).id });
      script.send({ command: 2, id: 'x', headers: [['reason', 'server_shutdown']] });
      script.end();
    });
    const context = testCommandContext();
    expect(await sub.run(['q', '--port', String(port)], context)).toBe(ExitCode.Failed);
    expect(context.errors()).toBe('truemq: the broker ended the connection: server_shutdown\n');
  });

  it.each<[string, (script: ScriptedBroker) => void, RegExp]>([
    ['without a word', (script) => script.end(), /^truemq: the connection to the broker has ended\n$/],
    [
      'by a message that is too long',
      (script) => script.send({ command: 26, id: 'x', queue: 'q', payload: `"${'x'.repeat(300)}"` }),
      /^truemq: a message of queue "q" has \d+ bytes, [^\n]*: raise --max-message-size to at least \d+\n$/,
    ],
  ])('says once that the connection ended: %s', async (_, end, message) => {
    const [port] = await scriptedBroker(async (script) => {
      await script.welcome();
      script.send({ command: 23, id: (await script.take()).id });
      end(script);
    });
    const context = testCommandContext();
    const warned = vi.spyOn(process, 'emitWarning').mockReturnValue(undefined);
    const argv = ['q', '--max-message-size', '256', '--port', String(port)];
    expect(await sub.run(argv, context)).toBe(ExitCode.Failed);
    expect(context.errors()).toMatch(message);
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
  });

  it('tells why it may not subscribe', async () => {
    const context = testCommandContext();
    expect(await sub.run(['no such/name', ...address], context)).toBe(ExitCode.Failed);
    expect(context.errors()).toMatch(/^truemq: cannot subscribe to no such\/name: INVALID_MESSAGE/);
  });
});

describe('a connection that fails', () => {
  it('says that nobody listens and how to start a broker', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    const context = testCommandContext();
    expect(await pub.run(['q', '1', '--port', String(port)], context)).toBe(ExitCode.Failed);
    expect(context.errors()).toContain(`truemq: nobody listens on 127.0.0.1:${port}\n`);
    expect(context.errors()).toMatch(/ truemq serve\n/);
  });

  it('says what a broker may have against it that closes at once', async () => {
    const [port] = await scriptedBroker(async (script) => {
      await script.take();
      script.end();
    });
    const context = testCommandContext();
    expect(await sub.run(['q', '--port', String(port)], context)).toBe(ExitCode.Failed);
    expect(context.errors()).toMatch(
      /closed the connection before it answered\n[\s\S]*20 a minute[\s\S]*maxConnectionsPerIpPerWindow/,
    );
  });

  it('says what the broker said', async () => {
    const [port] = await scriptedBroker(async (script) => {
      const { id } = await script.take();
      script.send({ command: 99, id, errorCode: 'CONNECTION_LIMIT', errorMessage: 'full\u001b[2J' });
      script.end();
    });
    const context = testCommandContext();
    expect(await sub.run(['q', '--port', String(port)], context)).toBe(ExitCode.Failed);
    expect(context.errors()).toMatch(/refused: CONNECTION_LIMIT: full\\x1b\[2J\n[\s\S]*maxConnections/);
  });
});

/** A broker on a port of its own for one connection; resolves with the port, and a promise of the script's end. */
async function scriptedBroker(
  play: (script: ScriptedBroker) => Promise<void>,
): Promise<readonly [number, Promise<void>]> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const played = once(server, 'connection').then(([socket]) => {
    server.close();
    return play(new ScriptedBroker(socket));
  });
  return [(server.address() as AddressInfo).port, played];
}
