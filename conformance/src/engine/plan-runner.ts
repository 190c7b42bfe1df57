// Runs the checks of a plan, several at the same time, and collects their results. If a shared broker dies, each check that was using it
// runs again with a separate broker, and the check fails if that broker dies too. If no check explains the death, it is a fault of the
// target (exit code 4); so is each death of an attached broker, which the runner cannot start again. Checks for which the machine was too
// busy run again alone at the end. Failures that another check may explain are reported when all results are known.
import { setMaxListeners } from 'node:events';
import { withBaseline } from '../baseline/baseline.ts';
import type { Catalogue } from '../catalogue.ts';
import type { Check } from '../check.ts';
import { ProbeClient } from '../observation/probe-client.ts';
import { undeclaredNotes } from '../observation/undeclared.ts';
import { maxSeed } from '../random.ts';
import type { CheckResult } from '../result.ts';
import type { GoldenFile } from '../suite-data.ts';
import type { BrokerExit } from '../target/broker-process.ts';
import type { Endpoints } from '../target/target-file.ts';
import { timingFor } from '../timing.ts';
import type { Credentials } from '../wire/credentials.ts';
import { LoginTurns } from '../wire/login-turns.ts';
import {
  applicabilityOf,
  hasRoomForSeveral,
  undeclaredCapabilities,
  unsupportedSettings,
} from './applicability.ts';
import { runAttempts } from './attempts.ts';
import { blamed, blamedReason, exitText, lost, lostConnection } from './broker-death.ts';
import type { BrokerPool, Lease } from './broker-pool.ts';
import { withCauses } from './causes.ts';
import type { CheckConnections } from './connection-supply.ts';
import { ConnectionSupply } from './connection-supply.ts';
import type { OneRun, SharedDeath, WayOfRun } from './one-run.ts';
import { refusesConnections } from './open-connection.ts';
import { QueueCleanup } from './queue-cleanup.ts';
import { RateLimits } from './rate-limits.ts';
import { reproduceLine } from './reproduce.ts';
import type { PlayedCheck, RunCheckSetting } from './run-check.ts';
import { certain, resultHead } from './run-check.ts';
import { RunNames } from './run-names.ts';
import { SameCauseWatch, sameCauseNote, someOfEachAreaFirst } from './same-cause.ts';
import type { Selection } from './selection.ts';
import { SpareConnections } from './spare-connections.ts';
import type { PlanEntry, RunOptions, SuiteEvent } from './suite.ts';
import { targetFacts } from './target-facts.ts';

export type PlanRunnerSetting = {
  readonly catalogue: Catalogue;
  readonly golden: readonly GoldenFile[];
  readonly options: RunOptions;
  readonly selection: Selection;
  readonly pool: BrokerPool;
  readonly observe: (event: SuiteEvent) => void;
};

export class PlanRunner {
  readonly #setting: PlanRunnerSetting;
  readonly #results: CheckResult[] = [];
  /** Failures that another check may explain; they are completed when all results are known. */
  readonly #unexplained: CheckResult[] = [];
  /** Checks to run again alone, because the machine was too busy for a reliable result; `broken`: what the first run broke for certain. */
  readonly #toRerun: { readonly entry: PlanEntry; readonly broken: CheckResult | undefined }[] = [];
  readonly #startedAt = performance.now();
  readonly #names = new RunNames();
  readonly #limits: RateLimits;
  readonly #supply: ConnectionSupply;
  readonly #loginTurns = new LoginTurns();
  /** Undefined if the broker ends with the run. */
  readonly #cleanup: QueueCleanup | undefined;
  readonly #spares: SpareConnections | undefined;
  /** Checks that have not started yet. Those that mostly wait run in addition to the others, and do not count as jobs. */
  #active: PlanEntry[] = [];
  #waiting: PlanEntry[] = [];
  #stopped = false;
  /** Deaths of shared brokers; true if a check that causes the death was found. */
  readonly #sharedDeaths = new Map<BrokerExit, boolean>();
  /** Checks that were running when the attached broker was lost; `none` if it was lost after the last check. */
  readonly #runningAtLoss: string[] = [];
  #lastBroker: Lease['broker'] | undefined;
  /** The search for undeclared capabilities, beside the checks; undefined before it starts. */
  #probe: Promise<void> | undefined;
  #notes: readonly string[] = [];
  readonly #sameCause: SameCauseWatch;
  #identity: Lease['broker']['identity'];

  constructor(setting: PlanRunnerSetting) {
    this.#setting = setting;
    this.#sameCause = new SameCauseWatch(setting.options.sameCauseLimit);
    const { target } = setting.options;
    this.#spares = target.lifecycle.kind === 'attach' ? new SpareConnections() : undefined;
    this.#limits = new RateLimits(target, setting.options.notice);
    this.#supply = new ConnectionSupply(this.#limits, this.#spares);
    // Each running check adds a listener for interrupts.
    if (setting.options.signal !== undefined) setMaxListeners(0, setting.options.signal);
    // The test whether the target listens has already used a connection: count it.
    void this.#limits.pacer.turn();
    this.#cleanup = target.lifecycle.kind === 'attach' ? this.#queueCleanup() : undefined;
  }

  /** Runs all entries. Throws a TargetFault if no broker can be started. */
  async run(planned: readonly PlanEntry[]): Promise<void> {
    const { sameCauseLimit } = this.#setting.options;
    const entries = sameCauseLimit === undefined ? planned : someOfEachAreaFirst(planned);
    this.#active = entries.filter(({ check }) => check.waits !== true);
    this.#waiting = entries.filter(({ check }) => check.waits === true);
    const { jobs, signal, target } = this.#setting.options;
    const [activeCount, waitingCount] = hasRoomForSeveral(target) ? [jobs, maxWaitingChecks] : [1, 1];
    const workers = Promise.allSettled([
      ...Array.from({ length: activeCount }, () => this.#work(this.#active)),
      ...Array.from({ length: waitingCount }, () => this.#work(this.#waiting)),
    ]);
    const settled = (await Promise.race([workers, interruption(signal)])) ?? [];
    const reruns = Promise.allSettled([this.#rerunAlone()]);
    settled.push(...((await Promise.race([reruns, interruption(signal)])) ?? []));
    this.#addUnexplained();
    await this.#spares?.dispose();
    if (signal?.aborted !== true) await this.#probe;
    if (this.#runningAtLoss.length === 0) await this.#cleanUp();
    await this.#checkBrokerAtEnd();
    const failed = settled.find((end) => end.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  ran(): {
    results: readonly CheckResult[];
    notReachedCount: number;
    targetFault: string | undefined;
    runnerFault: string | undefined;
    identity: Lease['broker']['identity'];
    notes: readonly string[];
  } {
    const interrupted = this.#setting.options.signal?.aborted === true;
    return {
      results: [...this.#results].sort(byId),
      notReachedCount: this.#notReachedCount,
      targetFault: this.#lostTarget() ?? this.#unexplainedDeath(),
      runnerFault: interrupted ? 'the run was interrupted' : undefined,
      identity: this.#identity,
      notes: [...this.#sameCauseNotes(), ...this.#limits.notes, ...this.#notes],
    };
  }

  /** Runs the entries of `queue` one after the other, and removes them from it. */
  async #work(queue: PlanEntry[]): Promise<void> {
    for (let entry = queue[0]; entry !== undefined && !this.#stopped; entry = queue[0]) {
      queue.shift();
      const { result, broken } = await this.#resultOf(entry).catch((error: unknown) => {
        this.#stopped = true;
        throw error;
      });
      if (this.#setting.options.signal?.aborted === true) return;
      if (result.starved === true && this.#mayRerun) this.#toRerun.push({ entry, broken });
      else this.#add(certain(result, broken));
    }
  }

  /** True if a check can run again at the end: the run is not stopped, and does not end at the first failure. */
  get #mayRerun(): boolean {
    const { skipsReruns, failFast } = this.#setting.options;
    return skipsReruns !== true && !this.#stopped && !failFast;
  }

  /** Runs each check again while no other check runs, up to `maxReruns` times. The last result is final. */
  async #rerunAlone(): Promise<void> {
    const { signal } = this.#setting.options;
    for (let first = this.#toRerun[0]; first !== undefined && !this.#stopped; first = this.#toRerun[0]) {
      let { result, broken = first.broken } = await this.#resultOf(first.entry, 1);
      for (
        let rerun = 2;
        result.starved === true && rerun <= maxReruns && signal?.aborted !== true;
        rerun += 1
      ) {
        const again = await this.#resultOf(first.entry, rerun);
        result = again.result;
        broken = again.broken ?? broken;
      }
      if (signal?.aborted === true) return;
      this.#toRerun.shift();
      this.#add(certain({ ...result, notes: [...result.notes, rerunNote] }, broken));
    }
  }

  #add(result: CheckResult): void {
    const mayBeExplained = result.reliesOn !== undefined || result.possibleCauses !== undefined;
    if (mayBeExplained) this.#unexplained.push(result);
    else this.#finish(result);
    this.#sameCause.add(result);
    const isLast = this.#setting.options.failFast && stopsRun(this.#withBaseline(result));
    if (isLast || this.#sameCause.reached !== undefined) this.#stopped = true;
  }

  get #notReachedCount(): number {
    return this.#active.length + this.#waiting.length + this.#toRerun.length;
  }

  #sameCauseNotes(): readonly string[] {
    const { reached } = this.#sameCause;
    if (reached === undefined) return [];
    const { catalogue, options } = this.#setting;
    const sentence = catalogue.requirement(reached.clause ?? '')?.sentence;
    return [sameCauseNote(reached, { ...options, sentence, notReachedCount: this.#notReachedCount })];
  }

  #withBaseline(result: CheckResult): CheckResult {
    return withBaseline(result, this.#setting.options.baseline, this.#setting.options);
  }

  /** Adds a final result and reports it. */
  #finish(judged: CheckResult): void {
    const result = this.#withBaseline(judged);
    this.#results.push(result);
    this.#setting.observe({ type: 'check finished', result });
  }

  /**
   * Adds the failures that another check may explain, when all results are known: each is blocked if another check shows the requirement
   * broken, and stays a failure otherwise.
   */
  #addUnexplained(): void {
    const { shard, isPart = (shard?.count ?? 1) > 1 } = this.#setting.options;
    const judged = withCauses([...this.#results, ...this.#unexplained], { isPart });
    for (const result of judged.slice(this.#results.length)) this.#finish(result);
    this.#unexplained.length = 0;
  }

  /** `rerun`: 0 for the first run, beside other checks; from 1 for runs alone. */
  async #resultOf(entry: PlanEntry, rerun = 0): Promise<PlayedCheck> {
    const { catalogue, options, selection } = this.#setting;
    const level = catalogue.levelOf(entry.check);
    const applicability = applicabilityOf(entry.check, level, options.target, selection.claimed);
    if (applicability.kind !== 'run')
      return { result: this.#unrun(entry, applicability.kind, applicability.reason) };
    const once = await this.#runOnce(entry, { rerun });
    return once.kind === 'result' ? once : this.#runWithOwnBroker(entry, once);
  }

  /** Runs it again if the result is discarded because the run kept to no limits. */
  async #runOnce(entry: PlanEntry, way: WayOfRun): Promise<OneRun> {
    const once = await this.#runLeased(entry, way);
    return once.kind === 'discarded' ? this.#runOnce(entry, { ...way, isRepeat: true }) : once;
  }

  async #runLeased(
    entry: PlanEntry,
    { rerun, ownBroker = false, isRepeat = false }: WayOfRun,
  ): Promise<OneRun | { readonly kind: 'discarded' }> {
    const { pacer } = this.#limits;
    const lease = await this.#setting.pool.lease(entry.check, { alone: ownBroker });
    try {
      this.#identity ??= lease.broker.identity;
      this.#lastBroker = lease.broker;
      this.#probe ??= canProbe(entry.check) ? this.#probeUndeclared(entry.check) : undefined;
      const request = entry.check.requires?.configuration ?? {};
      const unsupported = unsupportedSettings(request, lease.broker.unsupported);
      if (unsupported.length > 0) {
        const reason = `the adapter does not support ${unsupported.join(', ')}`;
        return { kind: 'result', result: this.#unrun(entry, 'could not run', reason) };
      }
      const runNumber = isRepeat ? rerun + maxReruns + 1 : rerun;
      const played = await this.#runAttempts(entry, lease, { isAlone: rerun > 0, runNumber });
      const asks = () =>
        refusesConnections(lease.broker.endpoints.tcp, timingFor(this.#setting.options.timeoutScale));
      const isDiscarded = await this.#limits.discards(played.result, pacer, asks);
      const result = isDiscarded ? played.broken : played.result;
      if (result === undefined) return { kind: 'discarded' };
      return this.#judgeDeath({ ...played, result }, lease, await this.#deathBehind(result, lease));
    } finally {
      await lease.release();
    }
  }

  /** `runNumber`: from 0, different for each run of the check. */
  #runAttempts(
    entry: PlanEntry,
    lease: Lease,
    { isAlone, runNumber }: { readonly isAlone: boolean; readonly runNumber: number },
  ): Promise<PlayedCheck> {
    const { tcp } = lease.broker.endpoints;
    return runAttempts({
      supply: this.#supply,
      open: () => this.#connectionOpener(tcp).connect(),
      settingOf: (attempt, connections) => ({
        ...this.#checkSetting(entry, lease, attempt + runNumber * attemptNamesPerRun, connections),
        isAlone,
      }),
      ended: ({ names }, { evidence }) => {
        // A broker that sent nothing has created no queues.
        if (evidence.frames > 0) this.#cleanup?.checkEnded(names);
      },
    });
  }

  /** Opens connections in advance; the checks that use them also close them. */
  #connectionOpener(tcp: Endpoints['tcp']): ProbeClient {
    const { seed, timeoutScale } = this.#setting.options;
    const name = this.#names.ofVisit('connection', seed);
    return new ProbeClient({
      tcp,
      timing: timingFor(timeoutScale),
      name,
      pacer: this.#limits.pacer,
      ...this.#credentials,
    });
  }

  /** Uses a separate lease, so that the pool counts this probe as a user of the broker. */
  async #probeUndeclared(check: Check): Promise<void> {
    const { target, seed, timeoutScale } = this.#setting.options;
    try {
      const lease = await this.#setting.pool.lease(check);
      this.#notes = await undeclaredNotes({
        endpoints: lease.broker.endpoints,
        declared: target.capabilities ?? [],
        timing: timingFor(timeoutScale),
        name: this.#names.ofVisit('look', seed),
        pacer: this.#limits.pacer,
        ...this.#credentials,
      }).finally(() => lease.release());
    } catch {
      // The result does not matter for the run, and the checks find faults of the broker.
    }
  }

  #judgeDeath(played: PlayedCheck, lease: Lease, death: BrokerExit | undefined): OneRun {
    const { result, broken } = played;
    if (death === undefined) return { kind: 'result', ...played };
    if (this.#isAttached) {
      this.#runningAtLoss.push(result.id);
      this.#stopped = true;
      return { kind: 'result', result: lost(result, death) };
    }
    if (lease.wasAlone()) return { kind: 'result', result: blamed(result, death) };
    if (!this.#sharedDeaths.has(death)) this.#sharedDeaths.set(death, false);
    return { kind: 'shared death', death, broken };
  }

  /** The end of the broker, which the runner may detect a little after the end of its connections; undefined if it runs. */
  async #deathBehind(result: CheckResult, { broker }: Lease): Promise<BrokerExit | undefined> {
    if (result.outcome === 'pass') return broker.unwantedEnd;
    if (this.#setting.options.target.lifecycle.kind !== 'spawn') {
      // The test uses a connection, so it is done only after a connection was lost.
      if (!lostConnection(result)) return undefined;
      await this.#limits.pacer.turn();
    }
    return broker.findUnwantedEnd();
  }

  get #credentials(): { readonly credentials?: Credentials } {
    const { credentials } = this.#setting.options;
    return credentials === undefined ? {} : { credentials };
  }

  get #isAttached(): boolean {
    return this.#setting.options.target.lifecycle.kind === 'attach';
  }

  /** What the frames broke before the death counts, also if they break nothing now. */
  async #runWithOwnBroker(entry: PlanEntry, { death, broken }: SharedDeath): Promise<PlayedCheck> {
    const again = await this.#runOnce(entry, { rerun: 0, ownBroker: true });
    if (again.kind !== 'result') throw new Error(`${entry.check.id} shared a broker that only it may use`);
    if (again.result.reason === blamedReason) this.#sharedDeaths.set(death, true);
    const result = certain(again.result, broken);
    const from = result === broken ? 'before that' : 'a run with a separate broker';
    const note = `the broker died while this check and others were running; this result is from ${from}`;
    return { result: { ...result, notes: [...result.notes, note] }, broken: again.broken ?? broken };
  }

  #checkSetting(
    entry: PlanEntry,
    lease: Lease,
    attempt: number,
    connections: CheckConnections,
  ): Omit<RunCheckSetting, 'isAlone'> {
    const { catalogue, options, golden, selection } = this.#setting;
    const { check, repetition } = entry;
    const isRequired = (clause: string): boolean => catalogue.requirement(clause)?.level === 'MUST';
    const isClaimed = (clause: string): boolean => {
      const profile = catalogue.requirement(clause)?.profile;
      return profile !== undefined && selection.claimed.has(profile);
    };
    const required = check.requires?.capabilities ?? [];
    return {
      ...this.#head(entry, attempt),
      broker: lease.broker,
      facts: {
        ...targetFacts(this.#limits.target, check, lease.broker.unsupported),
        credentials: options.credentials ?? {},
      },
      seed: seedOf(options, repetition),
      timing: timingFor(options.timeoutScale),
      wireMode: options.wireMode,
      connections,
      loginTurns: this.#loginTurns,
      signal: options.signal,
      golden,
      spares: this.#spares,
      now: () => performance.now() - this.#startedAt,
      level: catalogue.levelOf(check),
      isRequired,
      isWatched: (clause) => isRequired(clause) && isClaimed(clause),
      declared: required.length > 0 && undeclaredCapabilities(check, options.target).length === 0,
    };
  }

  #head(
    { check, repetition }: PlanEntry,
    attempt = 1,
  ): Pick<RunCheckSetting, 'check' | 'level' | 'names' | 'reproduce' | 'repetition'> {
    const { catalogue, options } = this.#setting;
    const seed = seedOf(options, repetition);
    return {
      check,
      level: catalogue.levelOf(check),
      names: this.#names.ofCheck(check.id, seed, attempt),
      repetition,
      reproduce: reproduceLine(check, { ...options, seed }),
    };
  }

  #unrun(entry: PlanEntry, outcome: 'not applicable' | 'could not run', reason: string): CheckResult {
    const evidence = { frames: 0, messages: 0, responses: 0, assertions: 0 };
    const empty = { notes: [], warnings: [], durationMs: 0, trace: [], brokerLog: [] };
    return { ...resultHead(this.#head(entry)), outcome, reason, evidence, ...empty };
  }

  async #cleanUp(): Promise<void> {
    const note = await this.#cleanup?.finish(this.#setting.options.signal);
    if (note !== undefined) this.#notes = [...this.#notes, note];
  }

  #queueCleanup(): QueueCleanup | undefined {
    const { target, seed, timeoutScale } = this.#setting.options;
    if (target.endpoints === undefined) return undefined;
    const timing = timingFor(timeoutScale);
    return new QueueCleanup({
      tcp: target.endpoints.tcp,
      timing,
      names: this.#names,
      seed,
      pacer: { turn: () => this.#limits.pacer.turn() },
      ...this.#credentials,
    });
  }

  /** Detects that an attached broker ended after the last check. */
  async #checkBrokerAtEnd(): Promise<void> {
    if (!this.#isAttached || this.#stopped || this.#setting.options.signal?.aborted === true) return;
    if ((await this.#lastBroker?.findUnwantedEnd()) !== undefined) this.#runningAtLoss.push('none');
  }

  #lostTarget(): string | undefined {
    if (this.#runningAtLoss.length === 0) return undefined;
    const { tcp } = this.#setting.options.target.endpoints ?? {};
    return `the broker at ${tcp?.host}:${tcp?.port} cannot be reached any more; these checks were running: ${this.#runningAtLoss.join(', ')}`;
  }

  /** A shared broker died and none of its checks makes a separate broker die, or a broker died while no check used it. */
  #unexplainedDeath(): string | undefined {
    const shared = [...this.#sharedDeaths].find(([, isExplained]) => !isExplained)?.[0];
    const idle = this.#setting.pool.idleEnds().filter((end) => !this.#sharedDeaths.has(end));
    const death = shared ?? idle[0];
    if (death === undefined) return undefined;
    return `the broker ended unexpectedly (${exitText(death)}), and no single check causes it`;
  }
}

function stopsRun({ outcome, baseline }: CheckResult): boolean {
  return outcome === 'error' || (outcome === 'fail' && baseline === undefined);
}

const maxReruns = 3;
/** More than the attempts of one run, so that no two runs of a check use the same names. */
const attemptNamesPerRun = 10;
const rerunNote =
  'the machine was too busy in the first run: this result is from a run without other checks at the same time';

/** True if the check's broker is shared and requires no credentials: a probe can use it and does not start another broker. */
function canProbe({ isolation = 'shared', requires }: Check): boolean {
  const { authentication, tls } = requires?.configuration ?? {};
  return isolation === 'shared' && (authentication ?? null) === null && (tls ?? null) === null;
}

/** How many checks that wait for the broker's timers run at the same time. They need connections, but almost no processor time. */
const maxWaitingChecks = 24;

function byId(a: CheckResult, b: CheckResult): number {
  return a.repetition - b.repetition || (a.id < b.id ? -1 : 1);
}

/** Resolves when the run is interrupted; otherwise never. */
function interruption(signal: AbortSignal | undefined): Promise<undefined> {
  return new Promise((resolve) => {
    signal?.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}

/** The largest seed is followed by 0, so that the line that repeats a check has one that `--seed` takes. */
function seedOf({ seed }: Pick<RunOptions, 'seed'>, repetition: number): number {
  return (seed + repetition - 1) % (maxSeed + 1);
}
