// One schedule of the simulation, from a seed to a verdict: clients with faults, then calm until every message has ended, then perhaps a
// shutdown. The same seed gives the same run, to the byte.

import { drawFaults, faultRandom, planWithFaults } from './faults.ts';
import { type ClientPlan, deadLetterNameOf, drawPlan, type Plan } from './plan.ts';
import { Random } from './random.ts';
import { type Company, SimulatedClient } from './simulated-client.ts';
import { type Counts, watchMessages } from './tally.ts';
import { World } from './world.ts';

/** Virtual time in which the work must be done, and in which it must come to its end afterwards. */
const MAX_WORK_MS = 60_000;
const MAX_CALM_MS = 120_000;
/** In which the last connections are closed, by their clients or by force. */
const MAX_CLOSING_MS = 10_000;
/** In which a broker recovers after its store works again. */
const MAX_AWAY_MS = 60_000;
/** How often subscribers are added to new queues during the calm. */
const CALM_STEP_MS = 250;

export type Verdict = {
  readonly seed: number;
  /** Commands that the broker was given. */
  readonly inputCount: number;
  readonly complaints: readonly string[];
  /** The last events, where there are complaints. */
  readonly trace: readonly string[];
  readonly counts: Counts;
};

/** `onStray`: hands over what throws outside of any call, in streams and promises; the result ends that. */
export type StrayErrors = (take: (error: unknown) => void) => () => void;

export async function runSchedule(seed: number, onStray: StrayErrors, traceLength = 60): Promise<Verdict> {
  const random = new Random(seed);
  const chance = faultRandom(seed);
  const drawn = drawPlan(random);
  const faults = drawFaults(chance, drawn);
  const plan = faults.maxCount > 0 ? planWithFaults(drawn, chance) : drawn;
  const names = queueNames(plan);
  const world = new World(plan, random, names, { faults, chance });
  const unwatch = watchMessages((state, event) => world.tally.way(state, event));
  const unstray = onStray((error) => world.complain(`thrown: ${describeError(error)}`));
  try {
    await play(world, names);
  } catch (error) {
    world.complain(`thrown: ${describeError(error)}`);
  } finally {
    unwatch();
    unstray();
  }
  for (let left = world.lateCompressionCount; left > 0; left -= 1)
    world.tally.fault('compression comes late');
  const complaints = [...world.checkers.complaints];
  const trace = complaints.length === 0 ? [] : world.trace.lines(traceLength);
  return { seed, inputCount: world.inputCount, complaints, trace, counts: world.tally.counts };
}

function queueNames(plan: Plan): readonly string[] {
  const sources = plan.queues.map(({ name }) => name);
  const letters = plan.queues.map(({ name, options }) => deadLetterNameOf(name, options));
  return [...new Set([...sources, ...sources.map((name) => `${name}.dlq`), ...letters, 'graveyard'])];
}

async function play(world: World, names: readonly string[]): Promise<void> {
  const { plan, random } = world;
  const company: Company = {
    world,
    published: [],
    clients: [],
    hasCalmedDown: false,
    actionsLeft: plan.actionCount,
  };
  world.start();
  await untilServing(world);
  for (const [index, client] of plan.clients.entries()) {
    company.clients.push(new SimulatedClient(`c${index}`, client, company));
  }
  for (const client of company.clients) client.start();
  for (const { name, options } of plan.queues) {
    if (random.chance(0.9)) random.pick(company.clients).createQueue(name, options);
  }
  openSilentClients(world);
  if (plan.wallClockJumps) jumpWallClock(world);
  await advance(world, MAX_WORK_MS, () => company.actionsLeft <= 0);
  world.disk.calmDown();
  await advance(world, MAX_AWAY_MS, () => !world.disk.isTroubled);
  await untilServing(world);
  if (plan.shutdown === 'amid') {
    world.tally.fault('shutdown amid work');
    await shutDown(world, company);
    await startAgain(world);
    return calmDown(world, company, names);
  }
  await desert(world, company);
  await calmDown(world, company, names);
  if (plan.shutdown === 'atRest') {
    world.tally.fault('shutdown at rest');
    await shutDown(world, company);
  }
  await startAgain(world);
}

/** What the process that has ended, or ends now, has left on the disk is there. */
async function startAgain(world: World): Promise<void> {
  if (world.checkers.complaints.size > 0) return;
  world.restart();
  await untilServing(world);
}

/** The first process, or the one after a crash, needs a while to recover. */
async function untilServing(world: World): Promise<void> {
  await advance(world, MAX_AWAY_MS, () => world.isServing);
  if (!world.isServing && world.checkers.complaints.size === 0)
    world.complain('the broker does not come back');
}

/** Runs until it is done, the time is up, or a complaint makes all that follows worthless. */
async function advance(world: World, maxMs: number, isDone: () => boolean): Promise<void> {
  const { environment, checkers } = world;
  const until = environment.clock.now() + maxMs;
  await environment.run(
    until,
    () => world.betweenTasks(),
    () => checkers.complaints.size > 0 || isDone(),
  );
}

function openSilentClients(world: World): void {
  for (let left = world.plan.silentClientCount; left > 0; left -= 1) {
    world.tally.fault('client never connects');
    const end = world.open(true, undefined, { frame: () => undefined, end: () => end.socket.endByClient() });
  }
}

function jumpWallClock(world: World): void {
  const { environment, random } = world;
  environment.after(random.whole(1, 2000), () => {
    world.tally.fault('wall clock jumps');
    environment.shiftWallClock(random.whole(-100_000_000, 100_000_000));
  });
}

/** All clients disconnect for a while: messages in flight return, and may expire. */
async function desert(world: World, company: Company): Promise<void> {
  const { desertedMs } = world.plan;
  if (desertedMs === 0 || world.checkers.complaints.size > 0) return;
  company.hasCalmedDown = true;
  for (const client of company.clients) client.leave();
  await advance(world, desertedMs, () => false);
  if (world.checkers.complaints.size === 0 && world.isIdle) world.lookAtRest();
  company.hasCalmedDown = false;
}

const calmPlan: ClientPlan = {
  subscribesTo: [],
  maxInFlight: undefined,
  acks: {
    atOnce: 1,
    soon: 0,
    justInTime: 0,
    tooLate: 0,
    never: 0,
    twice: 0,
    stray: 0,
    fails: 0,
    notUnderstood: 0,
  },
  actions: {
    publish: 0,
    repeat: 0,
    subscribe: 0,
    unsubscribe: 0,
    createQueue: 0,
    deleteQueue: 0,
    purgeQueue: 0,
    queueInfo: 0,
    listQueues: 0,
    ping: 1,
    ackNothing: 0,
    stall: 0,
    breakLine: 0,
    endSide: 0,
    disconnect: 0,
    breakBody: 0,
    breakFrame: 0,
  },
  maxPauseMs: 1,
  maxBurst: 1,
  compression: undefined,
};

/** A subscriber that acknowledges everything subscribes to all existing and new queues. */
async function calmDown(world: World, company: Company, names: readonly string[]): Promise<void> {
  const taker = new SimulatedClient('taker', calmPlan, company);
  company.hasCalmedDown = false;
  taker.start();
  company.hasCalmedDown = true;
  for (const client of company.clients) client.calmDown();
  world.observe({ kind: 'faultsStopped' });
  const subscribed = new Set<string>();
  const until = world.environment.clock.now() + MAX_CALM_MS;
  while (world.environment.clock.now() < until && world.checkers.complaints.size === 0) {
    for (const name of names) {
      const info = world.queueInfo(name);
      // A queue that another client was still deleting may have refused the first subscription, or ended it, and been created anew.
      if (info === undefined || (subscribed.has(name) && info.subscriberCount > 0)) continue;
      subscribed.add(name);
      taker.subscribe(name);
    }
    await advance(world, CALM_STEP_MS, () => false);
    if (world.isAtRest) break;
  }
  if (world.checkers.complaints.size === 0) world.observe({ kind: 'finished' });
}

async function shutDown(world: World, company: Company): Promise<void> {
  company.hasCalmedDown = true;
  for (const client of company.clients) client.calmDown();
  world.observe({ kind: 'draining', at: world.environment.clock.now() });
  let endedAt: number | undefined;
  const draining = world.drain().then(() => {
    endedAt = world.environment.clock.now();
  });
  await advance(
    world,
    world.plan.options.shutdownTimeoutMs + MAX_CLOSING_MS,
    () => endedAt !== undefined && world.hasNoConnections,
  );
  if (world.checkers.complaints.size > 0) return;
  if (endedAt === undefined) world.complain('the broker does not end');
  else {
    await draining;
    world.observe({ kind: 'ended', at: endedAt });
  }
}

function describeError(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
