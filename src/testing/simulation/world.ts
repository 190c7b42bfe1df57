// One simulated run put together: a real broker in virtual time on a simulated disk, life after life, and connections to it. Reports to the
// checkers what enters and leaves the broker, detects when the broker is idle, and keeps the last events for people.

import type { Gateway } from '../../gateway/gateway.ts';
import { RequestRefused } from '../../gateway/operator-requests.ts';
import type { QueueInfo } from '../../model/queue-info.ts';
import type { Algorithm } from '../../protocol/compression.ts';
import type { Message } from '../../protocol/message.ts';
import { BrokerLives } from './broker-lives.ts';
import { Checkers } from './checkers.ts';
import { ConnectionEnd } from './connection-end.ts';
import type { Faults } from './faults.ts';
import type { Observation } from './history.ts';
import type { Plan } from './plan.ts';
import type { Random } from './random.ts';
import { SimulatedCompressor } from './simulated-compressor.ts';
import { SimulatedDisk } from './simulated-disk.ts';
import { SimulatedEnvironment } from './simulated-environment.ts';
import { type Fault, Tally } from './tally.ts';
import { Trace } from './trace.ts';

/** Moments of rest are looked at after so many batches, or so much time. */
const IDLE_EVERY = 3;
const IDLE_EVERY_MS = 20;

export class World {
  readonly plan: Plan;
  readonly random: Random;
  readonly environment: SimulatedEnvironment;
  readonly checkers: Checkers;
  readonly tally = new Tally();
  readonly trace = new Trace();
  readonly disk: SimulatedDisk;
  readonly #lives: BrokerLives;
  readonly #compressor: SimulatedCompressor;
  readonly #ends = new Map<number, ConnectionEnd>();
  readonly #congested = new Set<number>();
  readonly #names: readonly string[];
  #isStepping = false;
  #nextConnection = 1;
  #nextNumber = 1;
  #idleEpoch = -1;
  #checkedIdleEpoch = 0;
  #checkedIdleAt = 0;
  /** The batch in which a result of the compressor began to be awaited. */
  #compressingSince: number | undefined;
  /** Commands handed to the broker. */
  inputCount = 0;

  /** `chance` decides on what goes wrong with the store and the process. */
  constructor(
    plan: Plan,
    random: Random,
    names: readonly string[],
    troubled: { readonly faults: Faults; readonly chance: Random },
  ) {
    this.plan = plan;
    this.random = random;
    this.environment = new SimulatedEnvironment(random.fork(), plan.maxDelayOfSoonMs);
    this.disk = new SimulatedDisk({
      environment: this.environment,
      random: random.fork(),
      chance: troubled.chance,
      habits: plan.store,
      faults: troubled.faults,
      tally: this.tally,
      onFailure: () => this.#lives.storeFails(),
      onCrash: () => this.#lives.die('crash'),
    });
    this.#compressor = new SimulatedCompressor(this.environment, random.fork(), plan.lateCompressionChance);
    this.checkers = new Checkers({
      settings: plan.options.broker,
      shutdownTimeoutMs: plan.options.shutdownTimeoutMs,
      framesMayLag: plan.lateCompressionChance > 0,
      slackMs: 2 * (plan.store.maxDelayMs + plan.maxDelayOfSoonMs) + 30,
    });
    this.#names = names;
    this.#lives = new BrokerLives({
      ...troubled,
      options: plan.options,
      environment: this.environment,
      disk: this.disk,
      compressor: this.#compressor,
      logger: this.#logger(),
      tally: this.tally,
      onDoomed: () => this.#momentOfCrash(),
      onEnd: (how) => {
        this.#batchStepped();
        this.observe({ kind: 'lifeEnded', how, at: this.environment.clock.now() });
      },
      onDeath: () => {
        for (const { socket } of this.#ends.values()) socket.destroy();
      },
      onServing: (service) => this.#serves(service),
      complain: (text) => this.complain(text),
    });
    this.environment.watchBatches({
      // A broker without its store, or one that refuses the clients that waited for it, does nothing that counts.
      watchedLife: () => (this.isServing ? this.#lives.number : undefined),
      begins: () => this.#batchBegins(),
      ends: () => this.#batchStepped(),
    });
  }

  /** The first process begins. */
  start(): void {
    this.#lives.start();
  }

  /** The process that has ended in good order is followed by another one. */
  restart(): void {
    this.tally.fault('restart at the end');
    this.#lives.die('exit');
  }

  /** Numbers that no publish of the run has had. */
  nextNumber(): number {
    return this.#nextNumber++;
  }

  complain(text: string): void {
    this.checkers.complaints.add(text);
  }

  observe(observation: Observation): void {
    if (observation.kind === 'command') this.inputCount += 1;
    this.trace.add(this.environment.clock.now(), this.checkers.ledger.epoch, observation);
    this.checkers.observe(observation);
  }

  /** A connection that the broker serves from now on. */
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
        // The results of a batch are known before the first of its frames is written.
        if (observation.kind === 'frame') this.#batchStepped();
        this.observe(observation);
      },
      sinceEpoch: () => this.#compressingSince ?? this.checkers.ledger.epoch,
      onFrame: on.frame,
      onEnd: on.end,
    });
    this.#ends.set(number, end);
    this.observe({ kind: 'opened', connection: number, isSilent });
    const { service } = this.#lives;
    if (service !== undefined) service.attach(end.socket, '192.0.2.1');
    else {
      this.tally.fault('connection refused');
      this.environment.after(0, () => end.socket.destroy());
    }
    return end;
  }

  /** Whether the broker serves. */
  get isServing(): boolean {
    return this.#lives.isServing;
  }

  queueInfo(name: string): QueueInfo | undefined {
    return this.#lives.service?.queueInfo(name);
  }

  /** Resolves when the broker has ended in good order. */
  async drain(): Promise<void> {
    await this.#lives.service?.drain();
  }

  /** To be called whenever the event loop has settled. */
  betweenTasks(): void {
    this.#lives.look();
    if (this.#compressor.pendingCount === 0) this.#compressingSince = undefined;
    else this.#compressingSince ??= this.checkers.ledger.epoch;
    this.#watchCongestion();
    const { epoch } = this.checkers.ledger;
    if (this.#isBusy || this.#idleEpoch === epoch) return;
    this.#idleEpoch = epoch;
    const now = this.environment.clock.now();
    // A fault of an idle broker persists, so not every idle moment is checked.
    if (epoch < this.#checkedIdleEpoch + IDLE_EVERY && now < this.#checkedIdleAt + IDLE_EVERY_MS) return;
    this.lookAtRest();
  }

  /** Runs the checkers at an idle moment. */
  lookAtRest(): void {
    const { epoch } = this.checkers.ledger;
    const now = this.environment.clock.now();
    this.#checkedIdleEpoch = epoch;
    this.#checkedIdleAt = now;
    const restful = [...this.#ends.values()].filter(isRestful);
    const numbers = new Set(restful.map(({ number }) => number));
    const figures = this.#lives.service?.stats();
    if (figures !== undefined) this.observe({ kind: 'idle', at: now, figures, restful: numbers });
  }

  /** Purges a queue, as an operator may at any time. */
  purge(queue: string): void {
    const { service, number } = this.#lives;
    if (!this.isServing || service === undefined) return;
    this.inputCount += 1;
    this.observe({ kind: 'purgeAsked', queue });
    const ended = (): boolean => {
      if (number !== this.#lives.number) return false;
      this.observe({ kind: 'purgeEnded', queue });
      return true;
    };
    service.operator.purgeQueue(queue).then(
      () => void ended(),
      (error: unknown) => {
        if (ended() && !isExpectedRefusal(error))
          this.complain(`the purge of ${queue} failed: ${String(error)}`);
      },
    );
  }

  get lateCompressionCount(): number {
    return this.#compressor.lateCount;
  }

  /** Nothing is waiting or in flight, and nothing is under way. */
  get isAtRest(): boolean {
    const stats = this.#lives.service?.stats();
    if (stats === undefined) return false;
    const { queuedBytes, inFlightCount } = stats;
    const isIdle = this.isIdle && queuedBytes === 0 && inFlightCount === 0;
    return isIdle && [...this.#ends.values()].every((end) => end.isOver || isRestful(end));
  }

  get hasNoConnections(): boolean {
    return [...this.#ends.values()].every(({ isOver }) => isOver);
  }

  /** Whether nothing is under way in the broker. */
  get isIdle(): boolean {
    return this.#idleEpoch === this.checkers.ledger.epoch;
  }

  get #isBusy(): boolean {
    const { awaitsBatch } = this.environment;
    return awaitsBatch || !this.isServing || this.disk.isBusy || this.#compressor.pendingCount > 0;
  }

  #serves(service: Gateway): void {
    const at = this.environment.clock.now();
    this.observe({ kind: 'serving', at, figures: service.stats(), queues: this.#queues() });
  }

  #momentOfCrash(): Fault {
    if (this.#isBusy) return 'crash between commits';
    // The next life must have exactly the present state.
    this.lookAtRest();
    return 'crash at rest';
  }

  #watchCongestion(): void {
    for (const { socket, number } of this.#ends.values()) {
      const isCongested = socket.writableLength > this.plan.options.maxOutboundBytes;
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
      // Bytes of a broken connection that the broker had not read are lost.
      if (socket.isTakenUp && !socket.destroyed) this.observe({ kind: 'taken', connection: number });
      if (isOver && socket.destroyed) this.#ends.delete(number);
    }
  }

  #batchStepped(): void {
    if (!this.#isStepping) return;
    this.#isStepping = false;
    const { service } = this.#lives;
    // A batch that runs while a drained broker closes its store shows no queues any more: that is no state to compare.
    if (service?.largestQueues(1) === undefined) return;
    this.observe({ kind: 'batchStepped', figures: service.stats(), queues: this.#queues() });
  }

  #queues(): ReadonlyMap<string, QueueInfo> {
    return new Map(
      this.#names.flatMap((name) => {
        const info = this.queueInfo(name);
        return info === undefined ? [] : [[name, info]];
      }),
    );
  }

  #logger() {
    const ignore = (): void => undefined;
    const complain = (sentence: string, fields?: unknown): void => {
      const said = JSON.stringify(fields);
      // It may say what the disk has done to it, and that a dead letter queue was full.
      const isExpected = said?.includes('the disk ') || sentence.startsWith('a full dead letter queue');
      if (!isExpected) this.complain(`the broker says: ${sentence} ${said}`);
    };
    return { error: complain, warn: complain, info: ignore, debug: ignore };
  }
}

function isExpectedRefusal(error: unknown): boolean {
  return error instanceof RequestRefused && ['QUEUE_NOT_FOUND', 'SHUTTING_DOWN'].includes(error.code);
}

function isRestful({ socket }: ConnectionEnd): boolean {
  return socket.isTakenUp && socket.writableLength === 0;
}
