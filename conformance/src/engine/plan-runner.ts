// Works a plan off, several checks at a time, and keeps what came of it. It also finds out who killed a broker: when a shared broker
// dies, each check that was on it runs again with a broker of its own, and only the one whose broker dies again is blamed. A
// death that nobody can be blamed for is the target's fault (exit code 4), and so is every death of an attached broker, which
// the runner cannot start again. What was judged while the machine was too busy is played again alone, and what may be another check's
// doing is told when all are known.
import { setMaxListeners } from 'node:events';
import { withBaseline } from '../baseline/baseline.ts';
import type { Catalogue } from '../catalogue.ts';
import type { Check } from '../check.ts';
import { ProbeClient } from '../observation/probe-client.ts';
import { undeclaredNotes } from '../observation/undeclared.ts';
import type { CheckResult } from '../result.ts';
import type { GoldenFile } from '../suite-data.ts';
import type { BrokerExit } from '../target/broker-process.ts';
import type { Endpoints } from '../target/target-file.ts';
import { timingFor } from '../timing.ts';
import { applicabilityOf, undeclaredCapabilities, unsupportedSettings } from './applicability.ts';
import { runAttempts } from './attempts.ts';
import { blamed, blamedReason, exitText, lost, lostConnection } from './broker-death.ts';
import type { BrokerPool, Lease } from './broker-pool.ts';
import { withCauses } from './causes.ts';
import type { CheckConnections } from './connection-supply.ts';
import { ConnectionSupply } from './connection-supply.ts';
import type { Pacer } from './pacer.ts';
import { noPacer, windowPacer } from './pacer.ts';
import { QueueCleanup } from './queue-cleanup.ts';
import { reproduceLine } from './reproduce.ts';
import type { RunCheckSetting } from './run-check.ts';
import { resultHead } from './run-check.ts';
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
  /** Failures at a step that the check only relies on: whether another check explains them is known at the end. */
  readonly #unexplained: CheckResult[] = [];
  /** To be played again, one after the other: the machine was too busy to believe what came. */
  readonly #doubted: PlanEntry[] = [];
  readonly #startedAt = performance.now();
  readonly #names = new RunNames();
  readonly #pacer: Pacer;
  readonly #supply: ConnectionSupply;
  /** Absent where the broker ends with the run. */
  readonly #cleanup: QueueCleanup | undefined;
  readonly #spares: SpareConnections | undefined;
  /** What is still to be run: by the jobs, and beside them what mostly waits. */
  #brief: PlanEntry[] = [];
  #patient: PlanEntry[] = [];
  #stopped = false;
  /** Deaths of shared brokers, each with whether a check was found that does it. */
  readonly #sharedDeaths = new Map<BrokerExit, boolean>();
  /** Checks that were running when an attached broker was found gone. */
  readonly #lostWith: string[] = [];
  #lastBroker: Lease['broker'] | undefined;
  /** What a look at the broker saw beside the checks; undefined before it began. */
  #look: Promise<void> | undefined;
  #notes: readonly string[] = [];
  readonly #sameCause: SameCauseWatch;
  #identity: Lease['broker']['identity'];

  constructor(setting: PlanRunnerSetting) {
    this.#setting = setting;
    this.#sameCause = new SameCauseWatch(setting.options.sameCauseLimit);
    const { limits, lifecycle } = setting.options.target;
    this.#spares = lifecycle.kind === 'attach' ? new SpareConnections() : undefined;
    this.#pacer =
      lifecycle.kind !== 'spawn' && limits?.maxConnectionsPerIpPerWindow !== undefined
        ? windowPacer(limits.maxConnectionsPerIpPerWindow ?? 1, limits.connectionWindowMs ?? 60_000)
        : noPacer;
    this.#supply = new ConnectionSupply({ pacer: this.#pacer, spares: this.#spares });
    // Every check that runs listens for an interrupt.
    if (setting.options.signal !== undefined) setMaxListeners(0, setting.options.signal);
    // The first turn is that of the look whether anybody listens.
    void this.#pacer.turn();
    this.#cleanup = lifecycle.kind === 'attach' ? this.#queueCleanup() : undefined;
  }

  /** Runs every entry; throws a TargetFault when no broker can be started. */
  async run(planned: readonly PlanEntry[]): Promise<void> {
    const { sameCauseLimit } = this.#setting.options;
    const entries = sameCauseLimit === undefined ? planned : someOfEachAreaFirst(planned);
    this.#brief = entries.filter(({ check }) => check.waits !== true);
    this.#patient = entries.filter(({ check }) => check.waits === true);
    const { jobs, signal } = this.#setting.options;
    const workers = Promise.allSettled([
      ...Array.from({ length: jobs }, () => this.#work(this.#brief)),
      ...Array.from({ length: patientJobs }, () => this.#work(this.#patient)),
    ]);
    const settled = (await Promise.race([workers, interruption(signal)])) ?? [];
    const again = Promise.allSettled([this.#workAlone()]);
    settled.push(...((await Promise.race([again, interruption(signal)])) ?? []));
    this.#explain();
    await this.#spares?.dispose();
    if (signal?.aborted !== true) await this.#look;
    if (this.#lostWith.length === 0) await this.#cleanUp();
    await this.#lookAtTheEnd();
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
      notes: [...this.#sameCauseNotes(), ...this.#notes],
    };
  }

  async #work(waiting: PlanEntry[]): Promise<void> {
    for (let entry = waiting[0]; entry !== undefined && !this.#stopped; entry = waiting[0]) {
      waiting.shift();
      const came = await this.#resultOf(entry).catch((error: unknown) => {
        this.#stopped = true;
        throw error;
      });
      if (this.#setting.options.signal?.aborted === true) return;
      const { leavesDoubts } = this.#setting.options;
      if (came.starved === true && leavesDoubts !== true && !this.#isDeadEnd) this.#doubted.push(entry);
      else this.#take(came);
    }
  }

  /** The broker cannot be reached any more, or the first failure was to be the last. */
  get #isDeadEnd(): boolean {
    return this.#stopped || this.#setting.options.failFast;
  }

  /** With nothing beside it, up to three times: what comes then is believed, whatever it is. */
  async #workAlone(): Promise<void> {
    const { signal } = this.#setting.options;
    for (let entry = this.#doubted[0]; entry !== undefined && !this.#stopped; entry = this.#doubted[0]) {
      let came = await this.#resultOf(entry, 1);
      for (
        let play = 2;
        came.starved === true && play <= mostPlaysAlone && signal?.aborted !== true;
        play += 1
      )
        came = await this.#resultOf(entry, play);
      if (signal?.aborted === true) return;
      this.#doubted.shift();
      this.#take({ ...came, notes: [...came.notes, aloneNote] });
    }
  }

  #take(came: CheckResult): void {
    const mayBeExplained = came.reliesOn !== undefined || came.possibleCauses !== undefined;
    const isOpen = mayBeExplained && came.starved !== true;
    if (isOpen) this.#unexplained.push(came);
    else this.#settle(came);
    this.#sameCause.add(came);
    const isLast = this.#setting.options.failFast && stopsRun(this.#withBaseline(came));
    if (isLast || this.#sameCause.reached !== undefined) this.#stopped = true;
  }

  get #notReachedCount(): number {
    return this.#brief.length + this.#patient.length + this.#doubted.length;
  }

  #sameCauseNotes(): readonly string[] {
    const { reached } = this.#sameCause;
    if (reached === undefined) return [];
    const { catalogue, options } = this.#setting;
    const sentence = catalogue.requirement(reached.clause ?? '')?.sentence;
    return [
      sameCauseNote(reached, {
        sentence,
        targetPath: options.targetPath,
        notReachedCount: this.#notReachedCount,
      }),
    ];
  }

  #withBaseline(came: CheckResult): CheckResult {
    return withBaseline(came, this.#setting.options.baseline, this.#setting.options);
  }

  #settle(came: CheckResult): void {
    const result = this.#withBaseline(came);
    this.#results.push(result);
    this.#setting.observe({ type: 'check finished', result });
  }

  /** All that will be known is known: each is blocked by what another check shows broken, or the failure that it seemed. */
  #explain(): void {
    const judged = withCauses([...this.#results, ...this.#unexplained]);
    for (const result of judged.slice(this.#results.length)) this.#settle(result);
    this.#unexplained.length = 0;
  }

  /** `play`: 0 beside others, from 1 on alone. */
  async #resultOf(entry: PlanEntry, play = 0): Promise<CheckResult> {
    const { catalogue, options, selection } = this.#setting;
    const level = catalogue.levelOf(entry.check);
    const applicability = applicabilityOf(entry.check, level, options.target, selection.claimed);
    if (applicability.kind !== 'run') return this.#unrun(entry, applicability.kind, applicability.reason);
    const once = await this.#runOnce(entry, { play });
    return once.kind === 'result' ? once.result : this.#runWithOwnBroker(entry, once.death);
  }

  async #runOnce(
    entry: PlanEntry,
    { play, ownBroker = false }: { readonly play: number; readonly ownBroker?: boolean },
  ): Promise<OneRun> {
    const lease = await this.#setting.pool.lease(entry.check, { alone: ownBroker });
    try {
      this.#identity ??= lease.broker.identity;
      this.#lastBroker = lease.broker;
      this.#look ??= mayLook(entry.check) ? this.#lookForUndeclared(entry.check) : undefined;
      const request = entry.check.requires?.configuration ?? {};
      const refused = unsupportedSettings(request, lease.broker.unsupported);
      if (refused.length > 0) {
        const reason = `the adapter does not support ${refused.join(', ')}`;
        return { kind: 'result', result: this.#unrun(entry, 'could not run', reason) };
      }
      const result = await this.#runAttempts(entry, lease, play);
      return this.#judgeDeath(result, lease, await this.#deathBehind(result, lease));
    } finally {
      await lease.release();
    }
  }

  #runAttempts(entry: PlanEntry, lease: Lease, play: number): Promise<CheckResult> {
    const { tcp } = lease.broker.endpoints;
    return runAttempts({
      supply: this.#supply,
      open: () => this.#visitor(tcp).connect(),
      settingOf: (attempt, connections) => ({
        ...this.#checkSetting(entry, lease, attempt + play * namesPerPlay, connections),
        isAlone: play > 0,
      }),
      ended: ({ names }, { evidence }) => {
        // A broker that has said nothing has nothing of it.
        if (evidence.frames > 0) this.#cleanup?.checkEnded(names);
      },
    });
  }

  /** Opens connections for checks, which end them. */
  #visitor(tcp: Endpoints['tcp']): ProbeClient {
    const { seed, timeoutScale } = this.#setting.options;
    const name = this.#names.ofVisit('connection', seed);
    return new ProbeClient({ tcp, timing: timingFor(timeoutScale), name, pacer: this.#pacer });
  }

  /** With a lease of its own, so that it counts among the users of the broker. */
  async #lookForUndeclared(check: Check): Promise<void> {
    const { target, seed, timeoutScale } = this.#setting.options;
    try {
      const lease = await this.#setting.pool.lease(check);
      this.#notes = await undeclaredNotes({
        endpoints: lease.broker.endpoints,
        declared: target.capabilities ?? [],
        timing: timingFor(timeoutScale),
        name: this.#names.ofVisit('look', seed),
        pacer: this.#pacer,
      }).finally(() => lease.release());
    } catch {
      // Whatever is wrong with the broker, or with this, is for the checks to find: nothing depends on the look.
    }
  }

  #judgeDeath(result: CheckResult, lease: Lease, death: BrokerExit | undefined): OneRun {
    if (death === undefined) return { kind: 'result', result };
    if (this.#isAttached) {
      this.#lostWith.push(result.id);
      this.#stopped = true;
      return { kind: 'result', result: lost(result, death) };
    }
    if (lease.wasAlone()) return { kind: 'result', result: blamed(result, death) };
    if (!this.#sharedDeaths.has(death)) this.#sharedDeaths.set(death, false);
    return { kind: 'shared death', death };
  }

  /** The end of the broker, which may be noticed a little after the connections that it took along. */
  async #deathBehind(result: CheckResult, { broker }: Lease): Promise<BrokerExit | undefined> {
    if (result.outcome === 'pass') return broker.unwantedEnd;
    if (this.#setting.options.target.lifecycle.kind !== 'spawn') {
      // Looking takes a connection, which is worth it only when one was lost.
      if (!lostConnection(result)) return undefined;
      await this.#pacer.turn();
    }
    return broker.findUnwantedEnd();
  }

  get #isAttached(): boolean {
    return this.#setting.options.target.lifecycle.kind === 'attach';
  }

  async #runWithOwnBroker(entry: PlanEntry, death: BrokerExit): Promise<CheckResult> {
    const again = await this.#runOnce(entry, { play: 0, ownBroker: true });
    if (again.kind !== 'result') throw new Error(`${entry.check.id} shared a broker that was its own`);
    if (again.result.reason === blamedReason) this.#sharedDeaths.set(death, true);
    const note =
      'the broker died while this check ran beside others; this is the result of a run with a broker of its own';
    return { ...again.result, notes: [...again.result.notes, note] };
  }

  #checkSetting(
    entry: PlanEntry,
    lease: Lease,
    attempt: number,
    connections: CheckConnections,
  ): Omit<RunCheckSetting, 'isAlone'> {
    const { catalogue, options, golden } = this.#setting;
    const { check, repetition } = entry;
    const required = check.requires?.capabilities ?? [];
    return {
      ...this.#head(entry, attempt),
      broker: lease.broker,
      facts: targetFacts(options.target, check, lease.broker.unsupported),
      seed: options.seed + repetition - 1,
      timing: timingFor(options.timeoutScale),
      wireMode: options.wireMode,
      connections,
      signal: options.signal,
      golden,
      spares: this.#spares,
      now: () => performance.now() - this.#startedAt,
      level: catalogue.levelOf(check),
      declared: required.length > 0 && undeclaredCapabilities(check, options.target).length === 0,
    };
  }

  #head(
    { check, repetition }: PlanEntry,
    attempt = 1,
  ): Pick<RunCheckSetting, 'check' | 'level' | 'names' | 'reproduce' | 'repetition'> {
    const { catalogue, options } = this.#setting;
    const seed = options.seed + repetition - 1;
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
      pacer: this.#pacer,
    });
  }

  /** An attached broker that is gone after the last check: nobody else would notice. */
  async #lookAtTheEnd(): Promise<void> {
    if (!this.#isAttached || this.#stopped || this.#setting.options.signal?.aborted === true) return;
    if ((await this.#lastBroker?.findUnwantedEnd()) !== undefined) this.#lostWith.push('none');
  }

  #lostTarget(): string | undefined {
    if (this.#lostWith.length === 0) return undefined;
    const { tcp } = this.#setting.options.target.endpoints ?? {};
    return `nothing can be reached at ${tcp?.host}:${tcp?.port} any more; these checks were running: ${this.#lostWith.join(', ')}`;
  }

  /** A shared broker died and no check kills one when it is alone, or a broker died with no check on it. */
  #unexplainedDeath(): string | undefined {
    const shared = [...this.#sharedDeaths].find(([, isExplained]) => !isExplained)?.[0];
    const idle = this.#setting.pool.idleEnds().filter((end) => !this.#sharedDeaths.has(end));
    const death = shared ?? idle[0];
    if (death === undefined) return undefined;
    return `the broker ended without being told to (${exitText(death)}), and no single check made it`;
  }
}

function stopsRun({ outcome, baseline }: CheckResult): boolean {
  return outcome === 'error' || (outcome === 'fail' && baseline === undefined);
}

/** A result, or a shared broker died and somebody else may have killed it. */
type OneRun =
  | { readonly kind: 'result'; readonly result: CheckResult }
  | { readonly kind: 'shared death'; readonly death: BrokerExit };

const mostPlaysAlone = 3;
/** More than the attempts of one play, so that no two plays use the same names. */
const namesPerPlay = 10;
const aloneNote = 'the machine was too busy at first: this result is of a run with nothing beside it';

/** A broker that checks share and that asks for no credentials: a look at it starts no other, and is let in. */
function mayLook({ isolation = 'shared', requires }: Check): boolean {
  const { authentication, tls } = requires?.configuration ?? {};
  return isolation === 'shared' && (authentication ?? null) === null && (tls ?? null) === null;
}

/** Checks that wait for the broker's timers, at a time: they cost connections, but hardly any work. */
const patientJobs = 24;

function byId(a: CheckResult, b: CheckResult): number {
  return a.repetition - b.repetition || (a.id < b.id ? -1 : 1);
}

/** Never settles without an interruption. */
function interruption(signal: AbortSignal | undefined): Promise<undefined> {
  return new Promise((resolve) => {
    signal?.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}
