// A broker for as long as the process lives: an engine, and after its store has failed another one that begins from what the store
// has kept. In between, and before the first recovery is done, clients are told to come back later. It knows when to recover; how
// is in recovery.ts. Implements DURABLE (a failed commit is crash-only; nothing acknowledged is lost).

import type { Duplex } from 'node:stream';
import type { Broker } from '../../broker/broker.ts';
import type { QueueInfo } from '../../model/queue-info.ts';
import type { OpenStore, StorageProvider } from '../../storage/storage-provider.ts';
import { Engine, type EngineParts } from './engine.ts';
import type { EngineOptions } from './engine-options.ts';
import { recoverBroker } from './recovery.ts';
import { addStats, type EngineStats } from './stats-sum.ts';

/** The pause before a store that has failed is tried again; it doubles with every failure, up to the longest. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** A store that has served for so long and fails then has failed for another reason. */
const STEADY_MS = 60_000;

export type ServiceParts = Omit<
  EngineParts,
  'store' | 'broker' | 'outOfServiceReason' | 'onStorageFailure'
> & {
  readonly openStore: OpenStore;
};

export type Readiness =
  | { readonly ready: true }
  /** `reason` is for people. */
  | { readonly ready: false; readonly reason: string };

/** The broker was drained before it served. */
export class StartCancelled extends Error {
  override readonly name = 'StartCancelled';

  constructor() {
    super('The broker was stopped while it started.');
  }
}

export class BrokerService {
  readonly #options: EngineOptions;
  readonly #parts: ServiceParts;
  #engine: Engine;
  #readiness: Readiness;
  /** What the engines before this one have counted. */
  #past: EngineStats | undefined;
  #servingSince = 0;
  #failureCount = 0;
  #draining: Promise<void> | undefined;
  /** A store is being opened, recovered or closed outside an engine. Never rejects. */
  #storeWork: Promise<unknown> = Promise.resolve();
  #cancelRetry: () => void = () => undefined;

  constructor(options: EngineOptions, parts: ServiceParts) {
    this.#options = options;
    this.#parts = parts;
    this.#readiness = { ready: false, reason: RECOVERING };
    this.#engine = this.#standIn(RECOVERING);
  }

  /**
   * Opens the store, recovers and serves. Rejects with StoreError, or with another error of the store; rejects with StartCancelled
   * when the broker is drained before it serves. After a rejection nothing runs and the store is closed.
   */
  async start(): Promise<void> {
    await this.#recoverAndServe({ probe: false });
  }

  /** Whether clients are served now. */
  readiness(): Readiness {
    return this.#readiness;
  }

  attach(stream: Duplex, address: string): void {
    this.#engine.attach(stream, address);
  }

  /**
   * See {@link Engine.drain}. A recovery that is under way is cancelled, and the broker never serves afterwards. Resolves when
   * the store is closed. Later calls return the promise of the first.
   */
  drain(): Promise<void> {
    this.#cancelRetry();
    this.#draining ??= this.#drain(this.#engine);
    return this.#draining;
  }

  stats(): EngineStats {
    return addStats(this.#past, this.#engine.stats());
  }

  queueInfo(name: string): QueueInfo | undefined {
    return this.#engine.queueInfo(name);
  }

  /** See {@link Engine.purgeQueue}. */
  async purgeQueue(queue: string): Promise<void> {
    if (!this.#readiness.ready) throw new Error(this.#readiness.reason);
    return this.#engine.purgeQueue(queue);
  }

  async #drain(engine: Engine): Promise<void> {
    await Promise.all([engine.drain(), this.#storeWork]);
    // A store that failed while the engine drained is closed by now, or is being closed.
    await this.#storeWork;
  }

  #recoverAndServe(options: { readonly probe: boolean }): Promise<void> {
    const serving = this.#openRecoverServe(options);
    this.#storeWork = serving.catch(() => undefined);
    return serving;
  }

  /** Closes the store when it fails or when the broker is drained meanwhile. */
  async #openRecoverServe({ probe }: { readonly probe: boolean }): Promise<void> {
    this.#throwIfDraining();
    const store = closingOnce(await this.#parts.openStore());
    try {
      this.#throwIfDraining();
      if (probe) await store.commit([]);
      const broker = await recoverBroker(store, this.#options.broker, {
        ...this.#parts,
        throwIfCancelled: () => this.#throwIfDraining(),
      });
      // No await between this check and serving: a drain comes before both or after both.
      this.#throwIfDraining();
      this.#serve(store, broker);
    } catch (error) {
      await closeQuietly(store);
      throw error;
    }
  }

  #throwIfDraining(): void {
    if (this.#draining !== undefined) throw new StartCancelled();
  }

  #serve(store: StorageProvider, broker: Broker): void {
    const standIn = this.#engine;
    this.#engine = new Engine(this.#options, {
      ...this.#parts,
      store,
      broker,
      onStorageFailure: (error) => this.#failed(store, error),
    });
    this.#takeOver(standIn);
    this.#readiness = { ready: true };
    this.#servingSince = this.#parts.environment.clock.now();
    // Whoever waits there has not been answered; it finds the broker when it connects again.
    standIn.drain().catch(() => undefined);
  }

  /** The engine has ended itself: its clients were told, and what it knew may be ahead of the store. */
  #failed(store: StorageProvider, error: unknown): void {
    const { clock } = this.#parts.environment;
    const reason = `the store has failed: ${messageOf(error)}`;
    this.#parts.logger.error('the store has failed; recovering from it', { error: messageOf(error) });
    if (clock.now() - this.#servingSince >= STEADY_MS) this.#failureCount = 0;
    const ended = this.#engine;
    this.#readiness = { ready: false, reason };
    this.#engine = this.#standIn(`The broker cannot store messages now: ${reason}.`);
    this.#takeOver(ended);
    if (this.#draining !== undefined) this.#engine.drain().catch(() => undefined);
    this.#storeWork = closeQuietly(store).then(() => this.#retryLater());
  }

  #takeOver(from: Engine): void {
    this.#past = addStats(this.#past, from.stats());
  }

  #retryLater(): void {
    if (this.#draining !== undefined) return;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#failureCount, LONGEST_PAUSE_MS);
    this.#failureCount += 1;
    this.#cancelRetry = this.#parts.environment.scheduler.after(pauseMs, () => {
      this.#retry().catch((error: unknown) => {
        if (error instanceof StartCancelled) return;
        this.#parts.logger.warn('the store fails still', { error: messageOf(error) });
        this.#retryLater();
      });
    });
  }

  /** Recovers as at a start, and only from a store that takes a commit. */
  async #retry(): Promise<void> {
    await this.#recoverAndServe({ probe: true });
    this.#parts.logger.info('the store works again');
  }

  /** An engine without a store, for as long as there is no other: it answers pings, and every Connect with STORAGE_ERROR. */
  #standIn(outOfServiceReason: string): Engine {
    return new Engine(this.#options, {
      ...this.#parts,
      store: nothing,
      outOfServiceReason,
      onStorageFailure: () => undefined,
    });
  }
}

/** What an engine that serves nobody stores. */
const nothing: StorageProvider = { recover: () => [], commit: () => undefined, close: () => undefined };

const RECOVERING = 'recovering from the store';

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A store whose second and later closes return the promise of the first. */
function closingOnce(store: StorageProvider): StorageProvider {
  let closed: Promise<void> | undefined;
  const close = async () => store.close();
  return {
    recover: () => store.recover(),
    commit: (records) => store.commit(records),
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}

/** A store that has failed may fail to close, too; there is nothing more to lose. */
async function closeQuietly(store: StorageProvider): Promise<void> {
  try {
    await store.close();
  } catch {
    // Said above: the failure itself was logged.
  }
}
