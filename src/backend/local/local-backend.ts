// The backend whose queues are in this process: a core and a store. Opens the store, recovers the core from it and serves. A failed commit, or
// a core that throws, is crash-only: the core and the store are dropped, and the backend recovers from what the store has kept, with a backoff,
// until that succeeds. batch-loop.ts runs the batches, recovery.ts recovers the core. Implements DURABLE-017 to DURABLE-020 and ERROR-005 on the
// backend's side.

import { Broker } from '../../broker/broker.ts';
import type { EarlierCore } from '../../broker/interface/earlier-core.ts';
import type { RefusedEffect } from '../../broker/interface/effect.ts';
import type { Input } from '../../broker/interface/input.ts';
import type { MessageContent } from '../../broker/interface/message-content.ts';
import type { BrokerSettings } from '../../broker/interface/settings.ts';
import { emptyStats } from '../../broker/interface/stats.ts';
import type { Environment } from '../../model/environment.ts';
import type { Logger } from '../../model/logger.ts';
import type { LargestQueues, QueueFigures, QueueInfo, SubscriberFigures } from '../../model/queue-info.ts';
import type { OpenStore, StorageProvider } from '../../storage/storage-provider.ts';
import {
  type Backend,
  type BackendReceiver,
  type BackendState,
  type BackendStatistics,
  StartCancelled,
} from '../backend.ts';
import { BatchLoop, type LoopFailure } from './batch-loop.ts';
import { DeliveryLatency } from './delivery-latency.ts';
import { EvictionLog } from './eviction-log.ts';
import { QueueLog } from './queue-log.ts';
import { recover } from './recovery.ts';

/** The backoff before a failed store is opened again; doubles with every failure, up to a maximum. */
const MIN_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 10_000;
/** The backoff starts at its minimum again when the store has served for this long. */
const STABLE_AFTER_MS = 60_000;

export type LocalBackendParts = {
  readonly environment: Environment;
  readonly openStore: OpenStore;
  readonly logger: Logger;
  /** Copies the content of a recovered message, because the store may reuse the bytes. */
  readonly keepContent: (bytes: Buffer) => MessageContent;
};

/** The parts that exist while the backend serves. */
type Life = { readonly broker: Broker; readonly store: StorageProvider; readonly loop: BatchLoop };

export class LocalBackend implements Backend {
  readonly #settings: BrokerSettings;
  readonly #parts: LocalBackendParts;
  readonly #latency = new DeliveryLatency();
  readonly #evictions: EvictionLog;
  readonly #queueLog: QueueLog;
  #receiver: BackendReceiver = nobody;
  #state: BackendState = { kind: 'recovering' };
  #life: Life | undefined;
  /** What the next core takes over; undefined while one serves, and before the first. */
  #earlier: EarlierCore | undefined;
  #servingSince = 0;
  #failureCount = 0;
  #closing: Promise<void> | undefined;
  /** Settles when no store is being opened, recovered or closed. Never rejects. */
  #storeWork: Promise<unknown> = Promise.resolve();
  #cancelRetry: () => void = () => undefined;

  constructor(settings: BrokerSettings, parts: LocalBackendParts) {
    this.#settings = settings;
    this.#parts = parts;
    this.#evictions = new EvictionLog(parts.environment, parts.logger);
    this.#queueLog = new QueueLog(parts.logger);
  }

  get state(): BackendState {
    return this.#state;
  }

  async start(receiver: BackendReceiver): Promise<void> {
    this.#receiver = receiver;
    await this.#recoverAndServe({ probe: false });
  }

  submit(input: Input): void {
    this.#life?.loop.submit(input);
    if (input.kind === 'drain' && this.#state.kind === 'serving') this.#moveTo({ kind: 'draining' });
  }

  queueInfo(name: string): QueueInfo | undefined {
    return this.#life?.broker.queueInfo(name);
  }

  largestQueues(limit: number): LargestQueues | undefined {
    return this.#life?.broker.largestQueues(limit);
  }

  queueFigures(): readonly QueueFigures[] | undefined {
    return this.#life?.broker.queueFigures();
  }

  subscriberFigures(queue: string, limit: number): readonly SubscriberFigures[] | undefined {
    return this.#life?.broker.subscriberFigures(queue, limit);
  }

  get commitMs(): number {
    return this.#life?.loop.commitMs ?? 0;
  }

  statistics(): BackendStatistics {
    const stats = this.#life?.broker.stats() ?? this.#earlier?.stats ?? emptyStats();
    const queueCount = this.#life?.broker.queueCount ?? 0;
    const latency = this.#latency;
    const averageDeliveryLatencyMs = latency.averageMs();
    return { ...stats, queueCount, averageDeliveryLatencyMs, deliveryLatency: latency.histogram() };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#cancelRetry();
    this.#evictions.end();
    const life = this.#endLife();
    this.#moveTo({ kind: 'closed' });
    await life?.loop.end();
    await Promise.all([life?.store.close(), this.#storeWork]);
  }

  #recoverAndServe(options: { readonly probe: boolean }): Promise<void> {
    const serving = this.#openRecoverServe(options);
    this.#storeWork = serving.catch(() => undefined);
    return serving;
  }

  /** Closes the store when it fails or when the backend is closed meanwhile. */
  async #openRecoverServe({ probe }: { readonly probe: boolean }): Promise<void> {
    this.#throwIfClosed();
    const store = await this.#parts.openStore();
    try {
      this.#throwIfClosed();
      if (probe) await store.commit([]);
      const broker = new Broker(this.#settings, this.#earlier);
      const throwIfCancelled = () => this.#throwIfClosed();
      await recover(broker, store, {
        ...this.#parts,
        maxContentBytes: this.#settings.maxContentBytes,
        queueLog: this.#queueLog,
        throwIfCancelled,
      });
      // No await between this check and serving: a close comes before both or after both.
      this.#throwIfClosed();
      this.#serve(broker, store);
    } catch (error) {
      await closeQuietly(store);
      throw error;
    }
  }

  #throwIfClosed(): void {
    if (this.#closing !== undefined) throw new StartCancelled();
  }

  #serve(broker: Broker, store: StorageProvider): void {
    const { environment } = this.#parts;
    const loop = new BatchLoop({
      broker,
      store,
      environment,
      receiver: this.#receiver,
      latency: this.#latency,
      evictions: this.#evictions,
      queueLog: this.#queueLog,
      onFailure: (failure) => this.#failed(failure),
    });
    this.#life = { broker, store, loop };
    this.#earlier = undefined;
    this.#servingSince = environment.clock.now();
    this.#moveTo({ kind: 'serving' });
  }

  /** The loop has ended: the state of the core may be ahead of the store, or damaged. */
  #failed({ error, culprit, lost }: LoopFailure): void {
    const { environment, logger } = this.#parts;
    const store = this.#endLife()?.store;
    if (culprit === undefined) {
      logger.error('the store has failed; recovering from it', { error: messageOf(error) });
    } else {
      const stack = error instanceof Error ? error.stack : undefined;
      const fields = {
        input: culprit.kind,
        error: messageOf(error),
        ...(stack === undefined ? {} : { stack }),
      };
      logger.error('a fault of the broker itself, please report it; recovering from the store', fields);
    }
    if (environment.clock.now() - this.#servingSince >= STABLE_AFTER_MS) this.#failureCount = 0;
    this.#receiver.effects(lost.flatMap((input) => refusalOf(input, culprit)));
    this.#storeWork = closeQuietly(store).then(() => this.#retryLater());
    const what = culprit === undefined ? 'the store has failed' : 'the broker has failed';
    this.#moveTo({ kind: 'failed', reason: `${what}: ${messageOf(error)}` });
  }

  #endLife(): Life | undefined {
    const life = this.#life;
    this.#life = undefined;
    if (life !== undefined) this.#earlier = life.broker.asEarlierCore();
    return life;
  }

  #retryLater(): void {
    if (this.#closing !== undefined) return;
    const pauseMs = Math.min(MIN_BACKOFF_MS * 2 ** this.#failureCount, MAX_BACKOFF_MS);
    this.#failureCount += 1;
    this.#cancelRetry = this.#parts.environment.scheduler.after(pauseMs, () => {
      this.#retry().catch((error: unknown) => {
        if (error instanceof StartCancelled) return;
        this.#parts.logger.warn('the store still fails', { error: messageOf(error) });
        this.#retryLater();
      });
    });
  }

  /** Recovers as at a start, but only from a store that accepts a commit. */
  async #retry(): Promise<void> {
    await this.#recoverAndServe({ probe: true });
    this.#parts.logger.info('the store works again');
  }

  #moveTo(state: BackendState): void {
    this.#state = state;
    this.#receiver.stateChanged(state);
  }
}

const nobody: BackendReceiver = {
  effects: () => undefined,
  processed: () => undefined,
  stateChanged: () => undefined,
};

/** Refuses the publishes that are not committed, so that publishers know which messages may be lost; and the command that failed. */
function refusalOf(input: Input, culprit: Input | undefined): readonly RefusedEffect[] {
  if (input === culprit && 'token' in input) {
    const { connection, token } = input;
    const text = 'A fault of the broker itself prevented this.';
    return [{ kind: 'refused', connection, token, code: 'SERVER_ERROR', text }];
  }
  if (input.kind !== 'publish') return [];
  const { connection, token } = input;
  const text = 'The broker could not store the message.';
  return [{ kind: 'refused', connection, token, code: 'STORAGE_ERROR', text }];
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Ignores that a failed store cannot be closed either. */
async function closeQuietly(store: StorageProvider | undefined): Promise<void> {
  try {
    await store?.close();
  } catch {
    // The failure itself was logged.
  }
}
