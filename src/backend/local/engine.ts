// The shell around the core. Collects arrivals into a batch, steps it through the core, commits all its records together, and only
// then sends the frames, one write per connection: nothing is visible before it is stored.
// Arrivals wait in order during a commit, so the state is never more than one batch ahead of the store.
// Implements DURABLE (before visible), SHUTDOWN and LIMIT (connections, pending input).

import type { Duplex } from 'node:stream';
import { Broker } from '../../broker/broker.ts';
import type { Effect } from '../../broker/interface/effect.ts';
import { type ConnectionId, OPERATOR } from '../../broker/interface/input.ts';
import type { StoreRecord } from '../../broker/interface/store-record.ts';
import { Admission } from '../../gateway/admission.ts';
import type { Arrival } from '../../gateway/arrival.ts';
import { BatchCompressor } from '../../gateway/batch-compressor.ts';
import {
  connectionLimitFields,
  disconnectFields,
  storageErrorFields,
} from '../../gateway/connection-frames.ts';
import { ServerConnection } from '../../gateway/server-connection.ts';
import { answerFields, refusalFields } from '../../gateway/translate/answers.ts';
import { deliverBody } from '../../gateway/translate/content.ts';
import { QueueListCache } from '../../gateway/translate/queue-list.ts';
import type { Environment } from '../../model/environment.ts';
import type { Logger } from '../../model/logger.ts';
import type { QueueInfo } from '../../model/queue-info.ts';
import type { Algorithm, Compressor } from '../../protocol/compression.ts';
import type { StorageProvider } from '../../storage/storage-provider.ts';
import { DeliveryLatency } from './delivery-latency.ts';
import type { EngineOptions } from './engine-options.ts';
import { OperatorRequests } from './operator-requests.ts';

type Pending = {
  readonly from: ServerConnection | undefined;
  readonly arrival: Arrival;
  readonly bytes: number;
  readonly arrivedAt: number;
};

/** A batch ends at the first of these limits, so that sockets, timers and health requests are served between batches. */
const MAX_BATCH_LENGTH = 4096;
const MAX_BATCH_MS = 10;
/** Arrivals between two readings of the clock. */
const ARRIVALS_PER_CLOCK_READ = 64;

/** What happens after the commit, in order. */
type Outcome = { readonly to: ServerConnection; readonly arrival: Arrival } | Effect;

export type EngineParts = {
  readonly environment: Environment;
  readonly store: StorageProvider;
  /** A core recovered from the store; absent: an empty one. */
  readonly broker?: Broker;
  /** Why Connect is refused with STORAGE_ERROR, as text for people; absent: it is accepted. */
  readonly outOfServiceReason?: string;
  readonly compressor: Compressor;
  readonly logger: Logger;
  /** The store has failed: nothing of the batch was visible, all clients were notified, and the engine has ended. */
  readonly onStorageFailure: (error: unknown) => void;
};

export class Engine {
  readonly #options: EngineOptions;
  readonly #parts: EngineParts;
  readonly #broker: Broker;
  readonly #compressor: BatchCompressor;
  readonly #connections = new Map<ConnectionId, ServerConnection>();
  readonly #admission: Admission;
  readonly #touched = new Set<ServerConnection>();
  #pending: Pending[] = [];
  #isScheduled = false;
  #isCommitting = false;
  #hasEnded = false;
  #draining: Promise<void> | undefined;
  /** To be called when no connection is left. */
  #onEmpty: () => void = () => undefined;
  #nextConnectionId = 1;
  #cancelTimer: () => void = () => undefined;
  /** When the timer that is set will fire. */
  #timerAt = Number.POSITIVE_INFINITY;
  #errorFrameCount = 0;
  /** When the first arrival since the last batch came; later ones share it, so that the clock is read once. Undefined: none came. */
  #arrivedAt: number | undefined;
  readonly #queueLists = new QueueListCache();
  readonly #latency = new DeliveryLatency();
  readonly #requests = new OperatorRequests();

  constructor(options: EngineOptions, parts: EngineParts) {
    this.#options = options;
    this.#parts = parts;
    this.#broker = parts.broker ?? new Broker(options.broker);
    this.#compressor = new BatchCompressor(parts.compressor);
    this.#admission = new Admission(options);
    this.#setTimer();
  }

  /** Serves a client on any duplex stream; its connection counts in the rate limit of `address`. */
  attach(stream: Duplex, address: string): void {
    const { environment } = this.#parts;
    const isOver = this.#hasEnded || this.#draining !== undefined;
    const attempt = { stream, address, now: environment.clock.now(), servedCount: this.#connections.size };
    switch (isOver ? this.#admission.reject() : this.#admission.judge(attempt)) {
      case 'accept': {
        const connection = this.#newConnection(stream);
        this.#connections.set(connection.id, connection);
        return connection.serve();
      }
      case 'refuse': {
        const fields = connectionLimitFields(environment.freshId(), this.#options.maxConnections);
        return this.#newConnection(stream).refuse(fields);
      }
      case 'destroy':
        stream.on('error', () => undefined);
        stream.destroy();
    }
  }

  /**
   * Ends the broker in good order: clients are told, deliveries stop, what is in flight may still be acknowledged for
   * `shutdownTimeoutMs`, then all connections are closed and the store too. New streams are cut off from now on. Later calls
   * give the promise of the first.
   */
  drain(): Promise<void> {
    this.#draining ??= this.#drain();
    return this.#draining;
  }

  /** The current statistics. */
  stats() {
    const core = this.#broker.stats();
    return {
      ...core,
      averageDeliveryLatencyMs: this.#latency.averageMs(core),
      errorsCount: this.#errorFrameCount + core.discardedCount,
      connectionsAcceptedCount: this.#admission.acceptedCount,
      connectionsRejectedCount: this.#admission.rejectedCount,
      activeConnectionCount: this.#connections.size,
      queueCount: this.#broker.queueCount,
    };
  }

  queueInfo(name: string): QueueInfo | undefined {
    return this.#broker.queueInfo(name);
  }

  /**
   * Takes everything that waits out of a queue; what is in flight stays. Resolves when it is gone and that is safe. Rejected with
   * RequestRefused where there is no such queue (QUEUE_NOT_FOUND) and while the broker ends (SHUTTING_DOWN; a part may be gone).
   */
  async purgeQueue(queue: string): Promise<void> {
    if (this.#hasEnded) throw new Error(ENDED);
    await this.#requests.make((token) => {
      const input = { kind: 'purgeQueue', connection: OPERATOR, token, queue } as const;
      this.#arrive(undefined, { kind: 'input', input }, 0);
    });
  }

  async #drain(): Promise<void> {
    if (!this.#hasEnded) {
      const emptied = new Promise<void>((resolve) => {
        this.#onEmpty = resolve;
      });
      this.#tellAll();
      const { shutdownTimeoutMs } = this.#options;
      const cancel = this.#parts.environment.scheduler.after(shutdownTimeoutMs, () => this.#closeAll());
      await emptied;
      cancel();
      this.#cancelTimer();
      this.#hasEnded = true;
      this.#requests.failAll(new Error(ENDED));
    }
    await this.#parts.store.close();
  }

  /** Clients learn of the end before the core does: what they send from now on is answered accordingly. */
  #tellAll(): void {
    for (const connection of this.#connections.values()) {
      if (!connection.isConnected) continue;
      connection.notify(disconnectFields(this.#parts.environment.freshId(), 'server_shutdown'));
    }
    this.#arrive(undefined, { kind: 'input', input: { kind: 'drain' } }, 0);
    for (const connection of this.#connections.values()) {
      if (!connection.isConnected) this.#arrive(connection, { kind: 'close' }, 0);
    }
  }

  #newConnection(stream: Duplex): ServerConnection {
    const id = this.#nextConnectionId++;
    const connection: ServerConnection = new ServerConnection(id, stream, {
      options: this.#options,
      environment: this.#parts.environment,
      logger: this.#parts.logger,
      compressor: this.#parts.compressor,
      outOfServiceReason: this.#parts.outOfServiceReason,
      compress: (algorithm: Algorithm, body: Buffer) => this.#compressor.compress(algorithm, body),
      arrive: (arrival, bytes) => this.#arrive(connection, arrival, bytes),
      countError: () => {
        this.#errorFrameCount += 1;
      },
    });
    return connection;
  }

  #arrive(from: ServerConnection | undefined, arrival: Arrival, bytes: number): void {
    if (this.#hasEnded) return;
    this.#arrivedAt ??= this.#parts.environment.clock.now();
    const arrivedAt = this.#arrivedAt;
    this.#pending.push({ from, arrival, bytes, arrivedAt });
    if (this.#isScheduled || this.#isCommitting) return;
    this.#isScheduled = true;
    this.#parts.environment.scheduler.soon(() => this.#runBatch());
  }

  #runBatch(): void {
    this.#isScheduled = false;
    if (this.#hasEnded) return;
    const first = this.#pending[0];
    if (first === undefined) return;
    this.#latency.batchArrivedAt = first.arrivedAt;
    this.#arrivedAt = undefined;
    const { batch, records, outcomes } = this.#stepBatch();
    const committed = this.#commit(records);
    if (committed === undefined) this.#finish(batch, outcomes);
    else {
      this.#isCommitting = true;
      committed.then(
        () => this.#finish(batch, outcomes),
        (error: unknown) => this.#fail(batch, error),
      );
    }
  }

  /** Takes the next batch from the pending arrivals and steps it through the core. */
  #stepBatch(): { batch: Pending[]; records: StoreRecord[]; outcomes: Outcome[] } {
    const { clock } = this.#parts.environment;
    const time = { now: clock.now(), wallNow: clock.wallNow() };
    const records: StoreRecord[] = [];
    const outcomes: Outcome[] = [];
    const take = (): void => {
      const outputs = this.#broker.takeOutputs();
      for (const record of outputs.records) records.push(record);
      for (const effect of outputs.effects) outcomes.push(effect);
    };
    let count = 0;
    for (const { from, arrival } of this.#pending) {
      if (count === MAX_BATCH_LENGTH) break;
      if (count > 0 && count % ARRIVALS_PER_CLOCK_READ === 0 && clock.now() - time.now >= MAX_BATCH_MS) break;
      count += 1;
      if (arrival.kind === 'input') {
        if (from === undefined || from.isKnown) this.#broker.step(arrival.input, time);
        continue;
      }
      if (from === undefined) continue;
      if (arrival.kind !== 'answer' && from.leave()) {
        this.#broker.step({ kind: 'disconnected', connection: from.id }, time);
      }
      take();
      outcomes.push({ to: from, arrival });
    }
    take();
    return { batch: this.#takePending(count), records, outcomes };
  }

  #takePending(count: number): Pending[] {
    if (count < this.#pending.length) return this.#pending.splice(0, count);
    const all = this.#pending;
    this.#pending = [];
    return all;
  }

  /** Undefined when the records are safe already. */
  #commit(records: readonly StoreRecord[]): Promise<void> | undefined {
    if (records.length === 0) return undefined;
    try {
      return this.#parts.store.commit(records) ?? undefined;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** The batch is safe: everything that came of it happens now. */
  #finish(batch: readonly Pending[], outcomes: readonly Outcome[]): void {
    this.#isCommitting = false;
    for (const outcome of outcomes) this.#carryOut(outcome);
    for (const { from, bytes } of batch) from?.inputProcessed(bytes);
    for (const connection of this.#touched) connection.flush();
    this.#touched.clear();
    this.#broker.written();
    this.#compressor.clear();
    this.#queueLists.clear();
    this.#latency.written(this.#broker.stats().firstDeliveryCount, this.#parts.environment.clock.now());
    this.#setTimer();
    if (this.#connections.size === 0) this.#onEmpty();
    if (this.#pending.length > 0 && !this.#isScheduled) {
      this.#isScheduled = true;
      this.#parts.environment.scheduler.soon(() => this.#runBatch());
    }
  }

  #carryOut(outcome: Outcome): void {
    if ('arrival' in outcome) return this.#carryOutArrival(outcome.to, outcome.arrival);
    const connection = this.#connections.get(outcome.connection);
    if (connection === undefined) return this.#tellOperator(outcome);
    this.#touched.add(connection);
    const { maxMessageSizeBytes } = this.#options.limits;
    switch (outcome.kind) {
      case 'deliver':
        return connection.send(deliverBody(outcome, maxMessageSizeBytes));
      case 'answered':
        return connection.send(answerFields(outcome, maxMessageSizeBytes, this.#queueLists));
      case 'refused':
        return connection.send(refusalFields(outcome));
      case 'saturated':
        return connection.saturated();
      case 'close':
        return this.#arrive(connection, { kind: 'close' }, 0);
    }
  }

  #tellOperator(effect: Effect): void {
    const isAnswer = effect.kind === 'answered' || effect.kind === 'refused';
    if (isAnswer && effect.connection === OPERATOR) this.#requests.settle(effect);
  }

  #carryOutArrival(to: ServerConnection, arrival: Arrival): void {
    this.#touched.add(to);
    if (arrival.kind === 'answer') to.send(arrival.fields);
    else {
      this.#connections.delete(to.id);
      to.end();
    }
  }

  /** One timer for everything that the core waits for. */
  #setTimer(): void {
    const at = this.#broker.nextDeadline() ?? Number.POSITIVE_INFINITY;
    // A timer that fires too early does no harm, and setting it anew at every batch would cost more.
    if (at >= this.#timerAt) return;
    this.#cancelTimer();
    this.#timerAt = at;
    const { clock, scheduler } = this.#parts.environment;
    this.#cancelTimer = scheduler.after(at - clock.now(), () => {
      this.#timerAt = Number.POSITIVE_INFINITY;
      this.#arrive(undefined, { kind: 'input', input: { kind: 'tick' } }, 0);
    });
  }

  #closeAll(): void {
    for (const connection of this.#connections.values()) this.#arrive(connection, { kind: 'close' }, 0);
  }

  /** A failed commit is the end of this engine: what it knows may be ahead of what is stored. */
  #fail(batch: readonly Pending[], error: unknown): void {
    this.#hasEnded = true;
    this.#cancelTimer();
    this.#refusePublishes([...batch, ...this.#pending]);
    this.#pending = [];
    for (const connection of this.#connections.values()) {
      connection.leave();
      connection.notify(disconnectFields(this.#parts.environment.freshId(), 'storage_error'));
      connection.end();
      connection.flush();
    }
    this.#connections.clear();
    this.#requests.failAll(new Error(ENDED));
    this.#onEmpty();
    this.#parts.onStorageFailure(error);
  }

  /** Publishers learn which of their messages may be lost. */
  #refusePublishes(pending: readonly Pending[]): void {
    for (const { from, arrival } of pending) {
      if (from === undefined || arrival.kind !== 'input' || arrival.input.kind !== 'publish') continue;
      if (this.#connections.has(from.id)) from.send(storageErrorFields(arrival.input.id));
    }
  }
}

const ENDED = 'The broker has ended.';
