// `truemq bench`: puts a load on a running broker through a queue of its own, and prints what it measured. Connects, cleans up, and says what limits the
// figures; bench/ measures.

import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { type Client, ClientError } from '../client/index.ts';
import { systemEnvironment } from '../gateway/system-environment.ts';
import { type Arguments, parseArguments, parseCount, UsageError } from './arguments.ts';
import { MAX_PAYLOAD_BYTES, MIN_PAYLOAD_BYTES } from './bench/bench-payload.ts';
import { type BenchPlan, type BenchResult, BenchRun } from './bench/bench-run.ts';
import type { Latency } from './bench/percentiles.ts';
import { type BrokerAddress, CONNECTION_HELP, connectionFlags, parseAddress } from './broker-address.ts';
import { connectOrExplain } from './broker-connection.ts';
import { type Command, type CommandContext, ExitCode, exitCodeAfter } from './command.ts';
import { tableOf } from './table.ts';
import { escaped } from './top/shown-text.ts';

type Job = {
  readonly plan: BenchPlan;
  readonly publisherCount: number;
  readonly subscriberCount: number;
  readonly isJson: boolean;
};

const flags = {
  ...connectionFlags,
  count: 'text',
  size: 'text',
  publishers: 'text',
  subscribers: 'text',
  window: 'text',
  rate: 'text',
  json: 'switch',
} as const;

export const bench: Command = {
  help: `usage: truemq bench [flags]

Publishes messages to a running broker and receives them again, and prints messages per second and latencies. It uses a queue of its own,
which it deletes at the end. All connections are in this one process: with many of them it may be slower than the broker.

  --count N               messages [10000]
  --size N                bytes of the payload of each, from ${MIN_PAYLOAD_BYTES} to ${MAX_PAYLOAD_BYTES} [1024]
  --publishers N          connections that publish [1]
  --subscribers N         connections that receive [1]
  --window N              publishes of one connection that wait for their confirmation at the same time [64]
  --rate N                messages per second, of all connections together [as many as the broker takes]
  --json                  print the result as one JSON document
${CONNECTION_HELP}

Whether messages are durable depends on the broker: truemq serve --storage. A broker limits the rate of its clients by default, so that the
figures are those of the limit: truemq serve --rate-limit off.

Exit code: 0 when it has measured, 1 when the broker refused or the connection failed, 2 for a wrong command line, 130 when it was
interrupted (Ctrl-C) and 143 after SIGTERM: it then prints what it has measured so far.`,

  async run(argv, context) {
    const given = parseArguments(argv, { flags, positionals: [] });
    const job = parseJob(given);
    return withClients(parseAddress(given, context), job, context, (clients) =>
      measure(clients, job, context),
    );
  },
};

/** @throws UsageError */
function parseJob({ texts, switches }: Arguments): Job {
  const count = (flag: string, otherwise: number) =>
    parseCount(flag, texts.get(flag) ?? String(otherwise), 1);
  const sizeBytes = count('size', 1_024);
  if (sizeBytes < MIN_PAYLOAD_BYTES || sizeBytes > MAX_PAYLOAD_BYTES)
    throw new UsageError(
      `--size: came "${sizeBytes}"; allowed is a whole number from ${MIN_PAYLOAD_BYTES} to ${MAX_PAYLOAD_BYTES}`,
    );
  const messageCount = count('count', 10_000);
  if (messageCount > 10_000_000) throw new UsageError('--count: allowed is at most 10000000');
  const plan: BenchPlan = {
    queue: `truemq-bench-${randomUUID()}`,
    messageCount,
    sizeBytes,
    window: count('window', 64),
    rate: texts.has('rate') ? count('rate', 1) : undefined,
  };
  return {
    plan,
    publisherCount: count('publishers', 1),
    subscriberCount: count('subscribers', 1),
    isJson: switches.has('json'),
  };
}

type Clients = {
  /** Creates and deletes the queue. */
  readonly owner: Client;
  readonly publishers: readonly Client[];
  readonly subscribers: readonly Client[];
};

/** Connects everybody, and closes everything in the end. */
async function withClients(
  address: BrokerAddress,
  { plan, publisherCount, subscriberCount }: Job,
  context: CommandContext,
  use: (clients: Clients) => Promise<ExitCode>,
): Promise<ExitCode> {
  const clients: Client[] = [];
  // The bench keeps its own window, whatever the messages take: the client refuses what waits beyond its own.
  const publishWindow = { maxCount: plan.window, maxBytes: Number.POSITIVE_INFINITY };
  try {
    for (let index = 0; index < publisherCount + subscriberCount + 1; index += 1) {
      const client = await connectOrExplain(address, context, { publishWindow });
      if (client === undefined) return ExitCode.Failed;
      clients.push(client);
    }
    const [owner, ...others] = clients as [Client, ...Client[]];
    return await use({
      owner,
      publishers: others.slice(0, publisherCount),
      subscribers: others.slice(publisherCount),
    });
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    context.stderr.write(`truemq: ${escaped(error.message)}\n`);
    return ExitCode.Failed;
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
}

async function measure(
  { owner, publishers, subscribers }: Clients,
  job: Job,
  context: CommandContext,
): Promise<ExitCode> {
  const { plan, isJson } = job;
  const stopping = new AbortController();
  // Each publish that waits listens to it.
  setMaxListeners(0, stopping.signal);
  const release = context.onStopSignal((signal) => {
    if (stopping.signal.aborted) context.exitNow(exitCodeAfter(signal));
    stopping.abort(signal);
  });
  try {
    await owner.createQueue(plan.queue, { maxQueueSize: plan.messageCount });
    const tools = { now: () => systemEnvironment.clock.now(), signal: stopping.signal };
    const result = await new BenchRun(plan, tools).run(publishers, subscribers).catch(async (error) => {
      // If the deletion fails too, the error that ended the bench is the one to report.
      await owner.deleteQueue(plan.queue).catch(() => undefined);
      throw error;
    });
    const isComplete = !stopping.signal.aborted;
    context.stdout.write(isJson ? jsonText(job, result, isComplete) : textOf(result));
    warn(result, context);
    const isDeleted = await deleteQueue(owner, plan.queue, context);
    if (!isDeleted) return ExitCode.Failed;
    return isComplete ? ExitCode.Done : exitCodeAfter(stopping.signal.reason);
  } finally {
    release();
  }
}

/** False when the queue could not be deleted, which is said with its name. */
async function deleteQueue(owner: Client, queue: string, { stderr }: CommandContext): Promise<boolean> {
  try {
    await owner.deleteQueue(queue);
    return true;
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    stderr.write(`truemq: the queue ${queue} was not deleted: ${escaped(error.message)}\n`);
    return false;
  }
}

function jsonText(job: Job, result: BenchResult, isComplete: boolean): string {
  const { queue: _, ...plan } = job.plan;
  const { publisherCount, subscriberCount } = job;
  const { confirmLatency = null, deliveryLatency = null, ...figures } = result;
  const document = {
    ...plan,
    rate: plan.rate ?? null,
    publisherCount,
    subscriberCount,
    isComplete,
    ...figures,
    confirmLatency,
    deliveryLatency,
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function textOf(result: BenchResult): string {
  const head = ['', 'MESSAGES', 'PER SECOND', 'P50', 'P90', 'P99', 'MAX'];
  const { publishedCount, publishedPerSecond, receivedCount, receivedPerSecond } = result;
  return tableOf(head, [
    ['published', String(publishedCount), String(publishedPerSecond), ...latencyCells(result.confirmLatency)],
    ['received', String(receivedCount), String(receivedPerSecond), ...latencyCells(result.deliveryLatency)],
  ]);
}

function latencyCells(latency: Latency | undefined): readonly string[] {
  if (latency === undefined) return ['-', '-', '-', '-'];
  return [latency.p50Ms, latency.p90Ms, latency.p99Ms, latency.maxMs].map((value) => `${value} ms`);
}

function warn({ rateLimitedCount }: BenchResult, { stderr }: CommandContext): void {
  if (rateLimitedCount === 0) return;
  stderr.write(
    `truemq: the broker's rate limit refused ${rateLimitedCount} publishes, which were repeated: these are figures of the limit\n` +
      'truemq:   without it: truemq serve --rate-limit off; below it: --rate N\n',
  );
}
