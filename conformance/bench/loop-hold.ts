// Measures the longest time for which a broker does not answer a Ping on another connection during a large operation:
// 1,000,000 messages expire together, a queue of 1,000,000 is deleted, a FanOutWithAck subscriber with 1,000,000 unsent
// copies leaves. The goal is 50 ms. The same probe without an operation, and with a stop without expiry, shows the delays of the machine.
//
//   node --import tsx conformance/bench/loop-hold.ts [TARGET] [--json PATH] [--reps N]
//
// To make all messages expire together, the script suspends the processes of the broker until every TTL has passed (SIGSTOP, SIGCONT). So
// the runner must start the broker, and the script does not work on Windows.
import type { BenchBroker, BenchTarget } from '../src/bench/bench-target.ts';
import { delay, type JobContext, recordReading } from '../src/bench/jobs/job.ts';
import { currentSecond, loadClock } from '../src/bench/load/load-clock.ts';
import { LoadFault } from '../src/bench/load/load-fault.ts';
import { LoadLink } from '../src/bench/load/load-link.ts';
import { Publisher } from '../src/bench/load/publisher.ts';
import { deleteQueue, makeQueue, queueLength } from '../src/bench/load/queue-commands.ts';
import { SubscriberGroup } from '../src/bench/load/subscriber-group.ts';
import type { Reading } from '../src/bench/metrics.ts';
import { suspendFamily } from '../src/bench/process-usage.ts';
import type { ConfigurationRequest } from '../src/configuration.ts';
import { Command } from '../src/wire/command.ts';
import { figure } from './figure.ts';
import { PingProbe } from './ping-probe.ts';

const messageCount = 1_000_000;
const payloadBytes = 64;
const queue = 'many';
const tag = 'many';
/** Long enough to fill the queue on a slow machine. */
const ttl = { text: '00:00:40', ms: 40_000 };
const quietMs = 3000;
const maxEventMs = 120_000;

const request: ConfigurationRequest = {
  limits: { maxQueuedBytes: 8 * 1024 ** 3 },
  timing: { ackTimeoutMs: 3_600_000, idleTimeoutMs: 3_600_000 },
};

/** Starts the operation and resolves with its start time (`performance.now()`). */
type Happen = (probe: PingProbe) => Promise<number>;

type Happening = {
  readonly load: string;
  /** Fills the broker, and returns the function that starts the operation. */
  readonly prepare: (broker: BenchBroker, control: LoadLink) => Promise<Happen>;
};

const happenings: readonly Happening[] = [
  { load: 'nothing happens', prepare: async () => nothing },
  { load: '1,000,000 messages wait, and the broker is stopped for a while', prepare: standStill },
  { load: '1,000,000 messages expire together', prepare: expire },
  { load: 'a queue of 1,000,000 is deleted', prepare: remove },
  { load: 'a member that is owed 1,000,000 copies leaves', prepare: leave },
];

await figure({
  roundCount: 3,
  measure: async (context) => {
    for (let round = 0; round < context.settings.roundCount; round += 1) {
      for (const target of context.targets) {
        for (const happening of happenings) await measure(context, target, happening, round);
      }
    }
  },
});

async function measure(
  context: JobContext,
  target: BenchTarget,
  { load, prepare }: Happening,
  round: number,
) {
  await recordReading(context, { job: 'loop hold', load, target: target.name }, round, async () => {
    const broker = await target.start(request);
    const control = await LoadLink.open(broker.address);
    try {
      const happen = await prepare(broker, control);
      return await held(broker, control, happen);
    } finally {
      control.close();
      await broker.stop();
    }
  });
}

/** The longest hold from the start until no message waits and a short time has passed. */
async function held(broker: BenchBroker, control: LoadLink, happen: Happen): Promise<Reading> {
  const probe = await PingProbe.start(broker.address);
  try {
    await delay(200);
    const beganAtMs = await happen(probe);
    await untilEmpty(control, beganAtMs);
    const eventMs = performance.now() - beganAtMs;
    await delay(500);
    return { holdMs: probe.longestMs, eventMs };
  } finally {
    probe.stop();
  }
}

async function untilEmpty(control: LoadLink, beganAtMs: number): Promise<void> {
  while ((await queueLength(control, queue)) > 0) {
    if (performance.now() - beganAtMs > maxEventMs) throw new LoadFault('messages still wait after 2 min');
    await delay(20);
  }
}

async function nothing(): Promise<number> {
  const beganAtMs = performance.now();
  await delay(quietMs);
  return beganAtMs;
}

async function fill(broker: BenchBroker): Promise<void> {
  const publisher = await Publisher.open(broker.address, loadClock(currentSecond()));
  const order = { queue, tag, payloadBytes, window: 1024, durationMs: 600_000, maxCount: messageCount };
  const { confirmedCount } = await publisher.publish(order);
  publisher.close();
  if (confirmedCount < messageCount) throw new LoadFault(`${messageCount - confirmedCount} were refused`);
}

/** Measures the effect of the suspension alone. Then deletes the queue, so that the broker is empty. */
async function standStill(broker: BenchBroker, control: LoadLink): Promise<Happen> {
  await makeQueue(control, queue);
  await fill(broker);
  const goOn = stopped(broker);
  return async (probe) => {
    const beganAtMs = await goOn(probe);
    await delay(quietMs);
    await deleteQueue(control, queue);
    return beganAtMs;
  };
}

async function expire(broker: BenchBroker, control: LoadLink): Promise<Happen> {
  await makeQueue(control, queue, { messageTtl: ttl.text });
  await fill(broker);
  if ((await queueLength(control, queue)) < messageCount) throw new LoadFault('some expired too early');
  return stopped(broker);
}

/** Suspends the broker until every TTL has passed. */
function stopped(broker: BenchBroker): Happen {
  return async (probe) => {
    probe.pause();
    const goOn = suspendFamily(broker.processId);
    await delay(ttl.ms + 1000);
    probe.resume();
    const beganAtMs = performance.now();
    goOn();
    return beganAtMs;
  };
}

async function remove(broker: BenchBroker, control: LoadLink): Promise<Happen> {
  await makeQueue(control, queue);
  await fill(broker);
  return async () => {
    const beganAtMs = performance.now();
    await deleteQueue(control, queue);
    return beganAtMs;
  };
}

/** One member acknowledges everything, the other receives what its window allows and acknowledges nothing. */
async function leave(broker: BenchBroker, control: LoadLink): Promise<Happen> {
  await makeQueue(control, queue, { mode: 'FanOutWithAck' });
  const member = new SubscriberGroup(loadClock(currentSecond()), () => {});
  await member.open(broker.address, { queue, count: 1, prefetch: 256, acknowledge: true });
  member.arm({ queue, tag, payloadBytes, creditEvery: 0 });
  const idle = await LoadLink.open(broker.address);
  await idle.request({ command: Command.Subscribe, queue, headers: { maxInFlight: '1' } });
  await fill(broker);
  const { lostCount } = await member.expect(messageCount);
  if (lostCount > 0) throw new LoadFault(`${lostCount} messages did not arrive`);
  return async () => {
    const beganAtMs = performance.now();
    idle.close();
    return beganAtMs;
  };
}
