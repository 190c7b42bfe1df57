// `truemq bench` against a broker in this process: that it measures everything, cleans up, and says what limits it. No figure is judged.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../client/index.ts';
import { type RunningBroker, startBroker } from '../server/start-broker.ts';
import { testCommandContext } from '../testing/command-context.ts';
import { benchNumber, benchPayload, MAX_PAYLOAD_BYTES, MIN_PAYLOAD_BYTES } from './bench/bench-payload.ts';
import { latencyOf } from './bench/percentiles.ts';
import { bench } from './bench.ts';
import { ExitCode } from './command.ts';
import { loadAdapterConfiguration } from './configuration-flags.ts';
import { createLogger } from './logger.ts';

let broker: RunningBroker;
let slow: RunningBroker;

async function start(settings: readonly (readonly [string, unknown])[]): Promise<RunningBroker> {
  const entries = new Map<string, unknown>([
    ['port', 0],
    ['health', false],
    ['dashboard', false],
    ...settings,
  ]);
  const { configuration } = loadAdapterConfiguration(entries, testCommandContext());
  const logger = createLogger({ level: 'error', format: 'json', write: () => undefined, wallNow: Date.now });
  return startBroker(configuration, logger);
}

beforeAll(async () => {
  broker = await start([['rateLimit', false]]);
  slow = await start([['maxMessagesPerClientPerSecond', 20]]);
}, 60_000);

afterAll(async () => {
  await broker.stop();
  await slow.stop();
});

async function run(argv: readonly string[], to = broker) {
  const context = testCommandContext();
  const exitCode = await bench.run([...argv, '--port', String(to.tcp.port)], context);
  return { exitCode, output: context.output(), errors: context.errors() };
}

async function queuesOf({ tcp }: RunningBroker): Promise<readonly string[]> {
  const client = await connect({ port: tcp.port, reconnect: false });
  const names = await client.listQueues();
  await client.close();
  return names;
}

const latency = expect.objectContaining({ p50Ms: expect.any(Number), maxMs: expect.any(Number) });

describe('bench', () => {
  it('publishes and receives every message, prints figures, and deletes its queue', async () => {
    const argv = ['--count', '500', '--size', '100', '--publishers', '2', '--subscribers', '2', '--json'];
    const { exitCode, output, errors } = await run(argv);
    expect([exitCode, errors]).toEqual([ExitCode.Done, '']);
    expect(JSON.parse(output)).toMatchObject({
      messageCount: 500,
      sizeBytes: 100,
      rate: null,
      publisherCount: 2,
      isComplete: true,
      publishedCount: 500,
      receivedCount: 500,
      rateLimitedCount: 0,
      publishedPerSecond: expect.any(Number),
      confirmLatency: latency,
      deliveryLatency: latency,
    });
    expect(await queuesOf(broker)).toEqual([]);
  });

  it('prints a table for people, and keeps to a rate', async () => {
    const { output } = await run(['--count', '20', '--rate', '2000']);
    const [head, published, received] = output.split('\n');
    expect(head).toMatch(/^ +MESSAGES +PER SECOND +P50 +P90 +P99 +MAX$/);
    expect(published).toMatch(/^published +20 +\d+( +[\d.]+ ms){4}$/);
    expect(received).toMatch(/^received +20 +\d+( +[\d.]+ ms){4}$/);
  });

  it('takes the largest payload that it allows', async () => {
    const { exitCode, output } = await run(
      ['--count', '2', '--size', String(MAX_PAYLOAD_BYTES), '--json'],
      broker,
    );
    expect([exitCode, JSON.parse(output)]).toMatchObject([ExitCode.Done, { receivedCount: 2 }]);
  });

  it('keeps its own window, also where a client of its own would keep a smaller one', async () => {
    const argv = ['--count', '80', '--size', '1000000', '--window', '80', '--json'];
    const { exitCode, output, errors } = await run(argv);
    expect([exitCode, errors]).toEqual([ExitCode.Done, '']);
    expect(JSON.parse(output)).toMatchObject({ publishedCount: 80, receivedCount: 80 });
  });

  it('says when the rate limit of the broker cuts it', async () => {
    const { exitCode, errors } = await run(['--count', '30'], slow);
    expect(exitCode).toBe(ExitCode.Done);
    expect(errors).toMatch(/^truemq: the broker's rate limit refused \d+ publishes.*\n.*--rate-limit off/);
  });

  it.each([
    ['SIGINT', ExitCode.Interrupted],
    ['SIGTERM', ExitCode.Terminated],
  ] as const)('prints what it has and deletes its queue at %s', async (signal, exitCode) => {
    const context = testCommandContext();
    const argv = ['--count', '1000', '--rate', '1', '--json', '--port', String(broker.tcp.port)];
    const exit = bench.run(argv, context);
    const client = await connect({ port: broker.tcp.port, reconnect: false });
    while ((await client.listQueues()).length === 0);
    context.signal(signal);
    expect(await exit).toBe(exitCode);
    expect(JSON.parse(context.output())).toMatchObject({ isComplete: false });
    expect(await client.listQueues()).toEqual([]);
    await client.close();
  });

  it('fails when the broker goes away', async () => {
    const other = await start([['rateLimit', false]]);
    const client = await connect({ port: other.tcp.port, reconnect: false });
    const exit = run(['--count', '1000', '--rate', '1'], other);
    while ((await client.listQueues()).length === 0);
    await client.close();
    await other.stop();
    const { exitCode, errors } = await exit;
    expect(exitCode).toBe(ExitCode.Failed);
    expect(errors).toMatch(/^truemq: .+\n$/);
  });

  it('fails when its queue cannot be deleted, after it has printed what it measured', async () => {
    const other = await start([['rateLimit', false]]);
    const context = testCommandContext();
    const stopped = new Promise<void>((resolve) => context.stdout.once('data', () => resolve(other.stop())));
    const exitCode = await bench.run(['--count', '10', '--json', '--port', String(other.tcp.port)], context);
    await stopped;
    expect(exitCode).toBe(ExitCode.Failed);
    expect(JSON.parse(context.output())).toMatchObject({ isComplete: true, receivedCount: 10 });
    expect(context.errors()).toMatch(/^truemq: the queue truemq-bench-\S+ was not deleted: .+\n$/);
  });

  it.each([
    [['--size', '5'], `--size: came "5"; allowed is a whole number from ${MIN_PAYLOAD_BYTES} to 1048000`],
    [
      ['--size', '1048001'],
      `--size: came "1048001"; allowed is a whole number from ${MIN_PAYLOAD_BYTES} to 1048000`,
    ],
    [['--size', '99999999999'], '--size: came "99999999999"; allowed is'],
    [['--count', '0'], '--count: came "0"'],
    [['--count', '10000001'], '--count: allowed is at most 10000000'],
    [['--rate', 'x'], '--rate: came "x"'],
  ])('refuses %j', async (argv, message) => {
    await expect(bench.run(argv, testCommandContext())).rejects.toThrow(message);
  });
});

describe('a payload of a bench', () => {
  it('is JSON of the wanted size with its number in it', () => {
    for (const number of [0, 7, 9_999_999]) {
      const payload = benchPayload(number, MIN_PAYLOAD_BYTES);
      expect(payload.length).toBe(MIN_PAYLOAD_BYTES);
      expect(JSON.parse(payload.toString())).toMatchObject({ n: number });
      expect(benchNumber(payload)).toBe(number);
    }
    expect(benchNumber(Buffer.from('{"other":1}'))).toBeUndefined();
  });
});

describe('percentiles', () => {
  it('are those of the nearest rank', () => {
    const values = Float64Array.from({ length: 200 }, (_, index) => 200 - index);
    expect(latencyOf(values)).toEqual({ p50Ms: 100, p90Ms: 180, p99Ms: 198, maxMs: 200 });
    expect(latencyOf(Float64Array.of(1.234))).toEqual({ p50Ms: 1.23, p90Ms: 1.23, p99Ms: 1.23, maxMs: 1.23 });
    expect(latencyOf(new Float64Array())).toBeUndefined();
  });
});
