// The broker of one target in one round, with its load generators. A generator is opened when a case first needs it, and warmed up, because
// the first second of a just-in-time compiler must not be measured.
import type { ConfigurationRequest } from '../../configuration.ts';
import type { DeliveryMode } from '../../history/operation.ts';
import type { BenchBroker, BenchTarget } from '../bench-target.ts';
import { LoadFault } from '../load/load-fault.ts';
import type { PassOrder } from '../load/load-generator.ts';
import { LoadGenerator } from '../load/load-generator.ts';
import type { BenchSettings } from './job.ts';

export type LoadShape = { readonly mode: DeliveryMode; readonly subscriberCount: number };

const warmUp = { payloadBytes: 1024, durationMs: 1000 };
/** How far the publisher may run ahead of the slowest of many subscribers: less than any broker holds for a connection. */
const lead = { windows: 4, bytes: 1024 * 1024 };

export class Session {
  readonly broker: BenchBroker;
  readonly target: string;
  readonly #settings: BenchSettings;
  readonly #loads = new Map<string, LoadGenerator>();
  #openedCount = 0;

  private constructor(target: string, broker: BenchBroker, settings: BenchSettings) {
    this.target = target;
    this.broker = broker;
    this.#settings = settings;
  }

  /** Throws a TargetFault. */
  static async start(
    target: BenchTarget,
    settings: BenchSettings,
    request: ConfigurationRequest = {},
  ): Promise<Session> {
    return new Session(target.name, await target.start(request), settings);
  }

  /** A warm load of this shape. Throws a LoadFault. */
  async load(shape: LoadShape): Promise<LoadGenerator> {
    const key = `${shape.mode} ${shape.subscriberCount}`;
    const open = this.#loads.get(key);
    if (open !== undefined) return open;
    // A new queue name each time: an attached broker may still have the last queue.
    this.#openedCount += 1;
    const queue = `bench-${process.pid}-${Date.now()}-${this.#openedCount}`;
    const { prefetch, window } = this.#settings;
    const load = await LoadGenerator.open({ address: this.broker.address, queue, prefetch, ...shape });
    this.#loads.set(key, load);
    await warm(load, { ...warmUp, window, ...leadFor(shape, { window, ...warmUp }) });
    return load;
  }

  /** Closes a load generator after a fault, so that the next case gets a new one. */
  async dropLoads(): Promise<void> {
    const loads = [...this.#loads.values()];
    this.#loads.clear();
    for (const load of loads) await load.close();
  }

  /** A LoadFault that also says how the broker ended, if it did. */
  async explained(error: unknown): Promise<unknown> {
    const end = error instanceof LoadFault ? await this.broker.findEnd() : undefined;
    return end === undefined ? error : new LoadFault(`${(error as LoadFault).message}; ${end}`);
  }

  async stop(): Promise<void> {
    await this.dropLoads();
    await this.broker.stop();
  }
}

async function warm(load: LoadGenerator, order: PassOrder): Promise<void> {
  try {
    await load.pass(order);
  } catch (error) {
    if (!(error instanceof LoadFault)) throw error;
    throw new LoadFault(`in the warm-up before it, ${error.message}`);
  }
}

/** The publisher waits for many subscribers, but not for one: there the backlog counts in the time of the last delivery. */
export function leadFor(
  { subscriberCount }: LoadShape,
  { window, payloadBytes }: { readonly window: number; readonly payloadBytes: number },
): { readonly lead?: number } {
  if (subscriberCount === 1) return {};
  return { lead: Math.max(1, Math.min(lead.windows * window, Math.floor(lead.bytes / payloadBytes))) };
}
