// One simulated run put together: a real engine in virtual time on a simulated store, and connections to it. It tells the court what
// passes the broker's edge, knows when nothing is under way in the broker, and keeps the last events for people.

import { Engine } from '../../engine/engine.ts';
import { RequestRefused } from '../../engine/operator-requests.ts';
import type { Algorithm } from '../../protocol/compression.ts';
import type { Message } from '../../protocol/message.ts';
import { ConnectionEnd } from './connection-end.ts';
import { Court } from './court.ts';
import type { Observation } from './history.ts';
import type { Plan } from './plan.ts';
import type { Random } from './random.ts';
import { SimulatedCompressor } from './simulated-compressor.ts';
import { SimulatedEnvironment } from './simulated-environment.ts';
import { SimulatedStore } from './simulated-store.ts';
import { Tally } from './tally.ts';
import { Trace } from './trace.ts';

/** Moments of rest are looked at after so many batches, or so much time. */
const IDLE_EVERY = 3;
const IDLE_EVERY_MS = 20;

export class World {
  readonly plan: Plan;
  readonly random: Random;
  readonly environment: SimulatedEnvironment;
  readonly engine: Engine;
  readonly court: Court;
  readonly tally = new Tally();
  readonly trace = new Trace();
  readonly store: SimulatedStore;
  readonly #compressor: SimulatedCompressor;
  readonly #ends = new Map<number, ConnectionEnd>();
  readonly #congested = new Set<number>();
  readonly #names: readonly string[];
  #isStepping = false;
  #nextConnection = 1;
  #nextNumber = 1;
  #idleEpoch = -1;
  #judgedIdleEpoch = 0;
  #judgedIdleAt = 0;
  /** The batch in which a result of the compressor began to be awaited. */
  #compressingSince: number | undefined;
  /** Commands handed to the broker. */
  inputCount = 0;

  constructor(plan: Plan, random: Random, names: readonly string[]) {
    this.plan = plan;
    this.random = random;
    this.environment = new SimulatedEnvironment(random.fork(), plan.mostDelayOfSoonMs);
    this.store = new SimulatedStore(this.environment, random.fork(), plan.store);
    this.#compressor = new SimulatedCompressor(this.environment, random.fork(), plan.lateCompressionChance);
    this.court = new Court({
      settings: plan.engine.broker,
      shutdownTimeoutMs: plan.engine.shutdownTimeoutMs,
      framesMayLag: plan.lateCompressionChance > 0,
      slackMs: 2 * (plan.store.mostDelayMs + plan.mostDelayOfSoonMs) + 30,
    });
    this.engine = new Engine(plan.engine, {
      environment: this.environment,
      store: this.store,
      compressor: this.#compressor,
      logger: this.#logger(),
      onStorageFailure: (error) => this.complain(`the store failed: ${String(error)}`),
    });
    this.#names = names;
    this.environment.watchBatches({ begins: () => this.#batchBegins(), ends: () => this.#batchStepped() });
  }

  /** Numbers that no publish of the run has had. */
  nextNumber(): number {
    return this.#nextNumber++;
  }

  complain(text: string): void {
    this.court.complaints.add(text);
  }

  observe(observation: Observation): void {
    if (observation.kind === 'command') this.inputCount += 1;
    this.trace.add(this.environment.clock.now(), this.court.ledger.epoch, observation);
    this.court.observe(observation);
  }

  /** A connection that the engine serves from now on. */
  open(
    isSilent: boolean,
    compression: Algorithm | undefined,
    on: { readonly frame: (message: Message) => void; readonly end: () => void },
  ): ConnectionEnd {
    const number = this.#nextConnection++;
    const end = new ConnectionEnd(number, compression, {
      environment: this.environment,
      random: this.random.fork(),
      habits: this.plan.line,
      tally: this.tally,
      observe: (observation) => {
        // What a batch has come to is known before the first of its frames is written.
        if (observation.kind === 'frame') this.#batchStepped();
        this.observe(observation);
      },
      sinceEpoch: () => this.#compressingSince ?? this.court.ledger.epoch,
      onFrame: on.frame,
      onEnd: on.end,
    });
    this.#ends.set(number, end);
    this.observe({ kind: 'opened', connection: number, isSilent });
    this.engine.attach(end.socket, '192.0.2.1');
    return end;
  }

  /** To be called whenever the event loop has come to rest. */
  betweenTasks(): void {
    if (this.#compressor.pendingCount === 0) this.#compressingSince = undefined;
    else this.#compressingSince ??= this.court.ledger.epoch;
    this.#watchCongestion();
    const { epoch } = this.court.ledger;
    const isBusy =
      this.environment.awaitsBatch || this.store.isCommitting || this.#compressor.pendingCount > 0;
    if (isBusy || this.#idleEpoch === epoch) return;
    this.#idleEpoch = epoch;
    const now = this.environment.clock.now();
    // What is wrong when nothing is under way stays wrong: not every such moment has to be looked at.
    if (epoch < this.#judgedIdleEpoch + IDLE_EVERY && now < this.#judgedIdleAt + IDLE_EVERY_MS) return;
    this.lookAtRest();
  }

  /** Has the court look at a moment at which nothing is under way. */
  lookAtRest(): void {
    const { epoch } = this.court.ledger;
    const now = this.environment.clock.now();
    this.#judgedIdleEpoch = epoch;
    this.#judgedIdleAt = now;
    const restful = [...this.#ends.values()].filter(isRestful);
    const numbers = new Set(restful.map(({ number }) => number));
    const figures = this.engine.stats();
    this.observe({ kind: 'idle', at: now, figures, restful: numbers });
  }

  /** What the operator may do to a queue at any time. */
  purge(queue: string): void {
    this.inputCount += 1;
    this.observe({ kind: 'purgeAsked', queue });
    const ended = (): void => this.observe({ kind: 'purgeEnded', queue });
    this.engine.purgeQueue(queue).then(ended, (error: unknown) => {
      ended();
      if (!isExpectedRefusal(error)) this.complain(`the purge of ${queue} failed: ${String(error)}`);
    });
  }

  get lateCompressionCount(): number {
    return this.#compressor.lateCount;
  }

  /** Nothing is waiting or in flight, and nothing is under way. */
  get isAtRest(): boolean {
    const { queuedBytes, inFlightCount } = this.engine.stats();
    const isIdle = this.isIdle && queuedBytes === 0 && inFlightCount === 0;
    return isIdle && [...this.#ends.values()].every((end) => end.isOver || isRestful(end));
  }

  get hasNoConnections(): boolean {
    return [...this.#ends.values()].every(({ isOver }) => isOver);
  }

  /** Whether nothing is under way in the broker. */
  get isIdle(): boolean {
    return this.#idleEpoch === this.court.ledger.epoch;
  }

  #watchCongestion(): void {
    for (const { socket, number } of this.#ends.values()) {
      const isCongested = socket.writableLength > this.plan.engine.maxOutboundBytes;
      if (isCongested === this.#congested.has(number)) continue;
      this.observe({ kind: 'congestion', connection: number, isCongested });
      if (!isCongested) this.#congested.delete(number);
      else {
        this.#congested.add(number);
        this.tally.fault('broker cannot write on');
      }
    }
  }

  #batchBegins(): void {
    const { clock } = this.environment;
    this.#isStepping = true;
    this.observe({ kind: 'batchBegan', at: clock.now(), wallAt: clock.wallNow() });
    for (const { number, socket, isOver } of this.#ends.values()) {
      // What a broken connection had brought and the broker had not taken up is lost.
      if (socket.isTakenUp && !socket.destroyed) this.observe({ kind: 'taken', connection: number });
      if (isOver && socket.destroyed) this.#ends.delete(number);
    }
  }

  #batchStepped(): void {
    if (!this.#isStepping) return;
    this.#isStepping = false;
    const queues = new Map(
      this.#names.flatMap((name) => {
        const info = this.engine.queueInfo(name);
        return info === undefined ? [] : [[name, info]];
      }),
    );
    this.observe({ kind: 'batchStepped', figures: this.engine.stats(), queues });
  }

  #logger() {
    const ignore = (): void => undefined;
    const complain = (sentence: string, fields?: unknown): void =>
      this.complain(`the broker says: ${sentence} ${JSON.stringify(fields)}`);
    return { error: complain, warn: complain, info: ignore, debug: ignore };
  }
}

function isExpectedRefusal(error: unknown): boolean {
  return error instanceof RequestRefused && ['QUEUE_NOT_FOUND', 'SHUTTING_DOWN'].includes(error.code);
}

function isRestful({ socket }: ConnectionEnd): boolean {
  return socket.isTakenUp && socket.writableLength === 0;
}
