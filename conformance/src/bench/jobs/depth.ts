// Whether the cost of a message grows with the number of waiting messages, queues and idle connections. Each amount has its own broker, so
// that a full heap does not slow down the empty one; all run at the same time and are measured in turn. The figure is the processor time
// of the server per message; the goal is that no amount costs a fifth more than the smallest one.
import type { ConfigurationRequest } from '../../configuration.ts';
import { untilInterrupted } from '../../interruption.ts';
import { visibleLine } from '../../report/visible-text.ts';
import type { RowKey } from '../bench-result.ts';
import type { BenchBroker, BenchTarget } from '../bench-target.ts';
import { LoadFault } from '../load/load-fault.ts';
import { LoadLink } from '../load/load-link.ts';
import { makeQueue } from '../load/queue-commands.ts';
import { SteadyQueue } from '../load/steady-queue.ts';
import type { Reading } from '../metrics.ts';
import { idleLinks } from './footprint.ts';
import { cpuPerMessage, type Job, type JobContext, recordReading } from './job.ts';

type Amount = {
  readonly words: string;
  readonly waitingCount: number;
  readonly queueCount: number;
  readonly connectionCount: number;
};

const smallest: Amount = { words: '10 waiting', waitingCount: 10, queueCount: 1, connectionCount: 0 };
const amounts: readonly Amount[] = [
  smallest,
  { ...smallest, words: '10,000 waiting', waitingCount: 10_000 },
  { ...smallest, words: '1,000,000 waiting', waitingCount: 1_000_000 },
  { ...smallest, words: '10 waiting, 10,000 queues', queueCount: 10_000 },
  { ...smallest, words: '10 waiting, 1,000 idle connections', connectionCount: 1000 },
];

const payloadBytes = 100;
const passCount = 100_000;
const phaseCount = 50_000;
/** How often a phase is measured in a round: one alone takes 0.1 s, and may have a collection of the whole heap in it or none. */
const phaseTimes = 5;
const warmCount = 100_000;

/** Nothing may fall due or be refused while another broker is measured. */
const request: ConfigurationRequest = {
  limits: { maxQueuedBytes: 8 * 1024 ** 3, maxConnections: 5000, maxQueues: 100_000 },
  timing: { ackTimeoutMs: 3_600_000, idleTimeoutMs: 3_600_000 },
};

type Prepared = { readonly amount: Amount; readonly broker: BenchBroker; readonly queue: SteadyQueue };

type Phase = {
  readonly words: string;
  readonly count: number;
  readonly run: (queue: SteadyQueue) => Promise<void>;
};

/** Phases that leave the queue as long as it was, in turn. */
type Series = { readonly phases: readonly Phase[]; readonly times: number };

const bothWays: Series = {
  phases: [{ words: 'publish, deliver and ack', count: passCount, run: (queue) => queue.pass(passCount) }],
  times: 1,
};
const oneWay: Series = {
  phases: [
    { words: 'publish', count: phaseCount, run: (queue) => queue.publish(phaseCount) },
    { words: 'deliver and ack', count: phaseCount, run: (queue) => queue.take(phaseCount) },
  ],
  times: phaseTimes,
};

export const depthJob: Job = async (context) => {
  for (const target of context.targets) await measureTarget(context, target);
};

async function measureTarget(context: JobContext, target: BenchTarget): Promise<void> {
  const prepared: Prepared[] = [];
  const brokers: BenchBroker[] = [];
  try {
    for (const amount of amounts) {
      const broker = await target.start(request);
      brokers.push(broker);
      context.tell(`filling: ${amount.words}, ${target.name}`);
      const queue = await preparedQueue(context, target, broker, amount);
      if (queue === undefined) return;
      prepared.push({ amount, broker, queue });
    }
    for (let round = 0; round < context.settings.roundCount; round += 1) {
      for (const series of [bothWays, oneWay]) {
        await measureSeries(context, target, prepared, series, round);
      }
    }
  } finally {
    for (const { queue } of prepared) queue.close();
    for (const broker of brokers) await broker.stop();
  }
}

/** Undefined if the target is at fault, which is recorded. */
async function preparedQueue(
  context: JobContext,
  target: BenchTarget,
  broker: BenchBroker,
  amount: Amount,
): Promise<SteadyQueue | undefined> {
  try {
    return await untilInterrupted(context.signal, () => prepare(broker, amount));
  } catch (error) {
    if (!(error instanceof LoadFault)) throw error;
    const end = await broker.findEnd();
    const reason = visibleLine(
      `before it was filled: ${error.message}${end === undefined ? '' : `; ${end}`}`,
    );
    context.book.fail({ job: 'depth', load: `filling: ${amount.words}`, target: target.name }, 0, reason);
    context.tell(`depth, ${amount.words}, ${target.name}: failed ${reason}`);
    return undefined;
  }
}

async function prepare(broker: BenchBroker, amount: Amount): Promise<SteadyQueue> {
  await idleLinks(broker, amount.connectionCount);
  if (amount.queueCount > 1) await makeQueues(broker, amount.queueCount - 1);
  const { waitingCount } = amount;
  const queue = await SteadyQueue.open(broker.address, { queue: 'steady', waitingCount, payloadBytes });
  await queue.pass(warmCount);
  await queue.publish(phaseCount);
  await queue.take(phaseCount);
  return queue;
}

async function makeQueues(broker: BenchBroker, count: number): Promise<void> {
  const link = await LoadLink.open(broker.address);
  const atOnce = 500;
  for (let made = 0; made < count; made += atOnce) {
    const names = Array.from(
      { length: Math.min(atOnce, count - made) },
      (_, index) => `other-${made + index}`,
    );
    await Promise.all(names.map((name) => makeQueue(link, name)));
  }
  link.close();
}

/** Each broker runs all phases of the series in its turn. */
async function measureSeries(
  context: JobContext,
  target: BenchTarget,
  prepared: readonly Prepared[],
  series: Series,
  round: number,
): Promise<void> {
  const readings = new Map<Prepared, Promise<ReadonlyMap<Phase, Reading>>>();
  for (const phase of series.phases) {
    for (const one of prepared) {
      await recordReading(context, rowKey(target, phase, one.amount), round, async () => {
        const own = readings.get(one) ?? readingsOf(one, series);
        readings.set(one, own);
        return (await own).get(phase) ?? {};
      });
    }
  }
}

function rowKey(target: BenchTarget, phase: Phase, amount: Amount): RowKey {
  const key = { job: 'depth', load: `${phase.words}, ${amount.words}`, target: target.name };
  return amount === smallest ? key : { ...key, baseLoad: `${phase.words}, ${smallest.words}` };
}

/** Runs the phases in turn. Throws a LoadFault. */
async function readingsOf(
  { broker, queue }: Prepared,
  { phases, times }: Series,
): Promise<ReadonlyMap<Phase, Reading>> {
  const looks = new Map<Phase, Look[]>(phases.map((phase) => [phase, []]));
  for (let time = 0; time < times; time += 1) {
    for (const phase of phases) {
      const before = broker.usage();
      const startedAtMs = performance.now();
      await phase.run(queue);
      const durationMs = performance.now() - startedAtMs;
      looks.get(phase)?.push({ durationMs, ...cpuPerMessage(before, broker.usage(), phase.count) });
    }
  }
  return new Map([...looks].map(([phase, taken]) => [phase, meanOf(phase, taken)]));
}

/** One run of a phase. */
type Look = { readonly durationMs: number; readonly serverCpuUs?: number };

function meanOf(phase: Phase, looks: readonly Look[]): Reading {
  const sum = (pick: (look: Look) => number): number => looks.reduce((total, look) => total + pick(look), 0);
  const seconds = sum(({ durationMs }) => durationMs) / 1e3;
  const messagesPerSecond = (phase.count * looks.length) / seconds;
  if (looks.some(({ serverCpuUs }) => serverCpuUs === undefined)) return { messagesPerSecond };
  return { messagesPerSecond, serverCpuUs: sum(({ serverCpuUs = 0 }) => serverCpuUs) / looks.length };
}
