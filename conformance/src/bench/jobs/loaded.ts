// The jobs that load a broker: throughput, latency at a fixed rate, and fan-out to many subscribers. In each round every target is started
// again, and each load runs on all targets one after the other.

import type { ConfigurationRequest } from '../../configuration.ts';
import { LoadFault } from '../load/load-fault.ts';
import type { PassOrder, PassOutcome } from '../load/load-generator.ts';
import type { Reading } from '../metrics.ts';
import { type HistogramRecord, LatencyHistogram } from '../statistics/latency-histogram.ts';
import type { BenchSettings, Job, JobContext, OfferedRate } from './job.ts';
import { cpuPerMessage, mebibytes, recordReading } from './job.ts';
import type { LoadShape } from './session.ts';
import { leadFor, Session } from './session.ts';

type LoadedCase = {
  readonly job: string;
  readonly load: string;
  readonly measure: (session: Session) => Promise<Reading>;
};

const single: LoadShape = { mode: 'RoundRobin', subscriberCount: 1 };
/** An open loop must be free to send when the broker stalls; this window is only there to keep memory bounded. */
const openWindow = 16_384;

export const throughputJob: Job = (context) =>
  runCases(
    context,
    context.settings.payloadBytes.map((payloadBytes) => ({
      job: 'throughput',
      load: `${payloadBytes} B`,
      measure: (session) => throughput(context, session, payloadBytes),
    })),
  );

export const latencyJob: Job = (context) =>
  runCases(
    context,
    context.settings.rates.flatMap((rate) =>
      context.settings.payloadBytes.map((payloadBytes) => ({
        job: 'latency',
        load: `${payloadBytes} B at ${rate === 'half' ? 'half of the most' : `${rate} msg/s`}`,
        measure: (session) => latency(context, session, payloadBytes, rate),
      })),
    ),
  );

export const fanOutJob: Job = (context) =>
  runCases(
    context,
    (['FanOutWithAck', 'FanOutWithoutAck'] as const).flatMap((mode) =>
      context.settings.subscriberCounts.flatMap((subscriberCount) =>
        context.settings.payloadBytes.map((payloadBytes) => ({
          job: 'fan-out',
          load: `1 to ${subscriberCount}, ${mode}, ${payloadBytes} B`,
          measure: (session) => fanOut(context, session, { mode, subscriberCount }, payloadBytes),
        })),
      ),
    ),
  );

async function runCases(context: JobContext, cases: readonly LoadedCase[]): Promise<void> {
  for (let round = 0; round < context.settings.roundCount; round += 1) {
    const sessions: Session[] = [];
    try {
      for (const target of context.targets)
        sessions.push(await Session.start(target, context.settings, requestFor(context.settings)));
      for (const one of cases) await runRound(context, one, sessions, round);
    } finally {
      for (const session of sessions) await session.stop();
    }
  }
}

function requestFor({ storage }: BenchSettings): ConfigurationRequest {
  return storage === undefined ? {} : { storage };
}

async function runRound(
  context: JobContext,
  { job, load, measure }: LoadedCase,
  sessions: readonly Session[],
  round: number,
): Promise<void> {
  for (const session of sessions) {
    await recordReading(context, { job, load, target: session.target }, round, async () => {
      try {
        return await measure(session);
      } catch (error) {
        await session.dropLoads();
        throw await session.explained(error);
      }
    });
  }
}

async function throughput(context: JobContext, session: Session, payloadBytes: number): Promise<Reading> {
  const { window, durationMs } = context.settings;
  const { outcome, cpu } = await measuredPass(session, single, { payloadBytes, window, durationMs });
  return {
    messagesPerSecond: perSecond(outcome, outcome.publish.sentCount),
    ...cpu,
    ...loadersCpu(outcome),
    ...memory(session),
    ...repeated(outcome),
  };
}

async function latency(
  context: JobContext,
  session: Session,
  payloadBytes: number,
  rate: OfferedRate,
): Promise<Reading> {
  const { durationMs } = context.settings;
  const offered = rate === 'half' ? await halfOfMost(context, session, payloadBytes) : rate;
  const order = { payloadBytes, window: openWindow, durationMs, perSecond: offered };
  const { outcome, cpu } = await measuredPass(session, single, order);
  const { lateness, answerLatency } = outcome.publish;
  return {
    ratePerSecond: offered,
    ...percentiles(outcome),
    confirmP99Us: p99Of(answerLatency),
    generatorLateUs: p99Of(lateness),
    ...cpu,
    ...repeated(outcome),
  };
}

async function fanOut(
  context: JobContext,
  session: Session,
  shape: LoadShape,
  payloadBytes: number,
): Promise<Reading> {
  const { window, durationMs } = context.settings;
  const order = { payloadBytes, window, durationMs, ...leadFor(shape, { window, payloadBytes }) };
  const { outcome, cpu } = await measuredPass(session, shape, order);
  return {
    deliveriesPerSecond: perSecond(outcome, outcome.receive.receivedCount),
    messagesPerSecond: perSecond(outcome, outcome.publish.sentCount),
    ...cpu,
    ...loadersCpu(outcome),
    ...memory(session),
    ...repeated(outcome),
  };
}

/** A pass between two looks at the server's processes. */
async function measuredPass(
  session: Session,
  shape: LoadShape,
  order: PassOrder,
): Promise<{ readonly outcome: PassOutcome; readonly cpu: Reading }> {
  const load = await session.load(shape);
  const before = session.broker.usage();
  const outcome = await load.pass(order);
  return { outcome, cpu: cpuPerMessage(before, session.broker.usage(), outcome.publish.sentCount) };
}

async function halfOfMost(context: JobContext, session: Session, payloadBytes: number): Promise<number> {
  const { window, durationMs } = context.settings;
  const load = await session.load(single);
  const outcome = await load.pass({ payloadBytes, window, durationMs });
  return Math.max(1, Math.round(perSecond(outcome, outcome.publish.sentCount) / 2));
}

/** From the first publish to the last delivery, so that the backlog at the end counts. */
function perSecond({ publish, receive }: PassOutcome, count: number): number {
  const durationUs = receive.lastAtUs - publish.startedAtUs;
  if (durationUs <= 0) throw new LoadFault('nothing was delivered');
  return (count / durationUs) * 1e6;
}

function percentiles({ receive }: PassOutcome): Reading {
  const histogram = new LatencyHistogram();
  histogram.addAll(receive.latency);
  const { p50Us, p90Us, p99Us, p999Us, maxUs } = histogram.summary();
  return { p50Us, p90Us, p99Us, p999Us, maxUs };
}

function p99Of(record: HistogramRecord | undefined): number {
  const histogram = new LatencyHistogram();
  if (record !== undefined) histogram.addAll(record);
  return histogram.percentileUs(0.99);
}

function loadersCpu({ publish, receive }: PassOutcome): Reading {
  return {
    publisherCpuUs: publish.cpuUs / publish.sentCount,
    subscriberCpuUs: receive.cpuUs / receive.receivedCount,
  };
}

function memory(session: Session): Reading {
  const usage = session.broker.usage();
  return usage === undefined ? {} : { rssMiB: mebibytes(usage.rssBytes) };
}

/** Told only if there are some: a broker that delivers more than once does work that others do not. */
function repeated({ receive: { repeatedCount } }: PassOutcome): Reading {
  return repeatedCount === 0 ? {} : { repeatedCount };
}
