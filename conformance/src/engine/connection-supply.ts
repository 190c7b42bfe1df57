// The connections of a check on a broker that limits their rate. A check must not wait for its turn to connect while it holds deliveries:
// the ack timeout would pass, and the runner would blame the broker for its own delay. So connections are reserved before a check starts.
// If a check needs more of them, its run is abandoned and starts again with more reserved connections.
// Areas: LIMIT (connections by address), DELIVERY (ack timeout).
import type { BrokerConnection } from '../wire/broker-connection.ts';
import type { Pacer, Turn } from './pacer.ts';
import { watchedPacer } from './pacer.ts';
import type { SpareConnections } from './spare-connections.ts';

/** How many connections: those that any check may use, and those that must be the check's own. */
export type ConnectionNeed = {
  readonly shared: number;
  readonly own: number;
  /** Waits for connections that are not available yet. */
  readonly mayWait?: boolean;
};

type Kind = 'shared' | 'own';

type SupplySetting = {
  readonly pacer: Pacer;
  /** Absent if connections are not passed from one check to another. */
  readonly spares: SpareConnections | undefined;
};

/** Opens a connection in its turn and does the handshake. */
export type OpenAhead = () => Promise<BrokerConnection>;

export class ConnectionSupply {
  readonly #limits: { readonly pacer: Pacer };
  readonly #spares: SpareConnections | undefined;
  #tail: Promise<unknown> = Promise.resolve();

  /** `limits`: asked for its pacer before each check, because it may change. */
  constructor(limits: { readonly pacer: Pacer }, spares: SpareConnections | undefined) {
    this.#limits = limits;
    this.#spares = spares;
  }

  /** Waits until the connections are ready; requests are served in order. */
  reserve(need: ConnectionNeed, open: OpenAhead): Promise<CheckConnections> {
    const setting = { pacer: this.#limits.pacer, spares: this.#spares };
    const isLimited = setting.pacer.reserve !== undefined;
    if (!isLimited)
      return Promise.resolve(new CheckConnections(setting, { need, connections: [], turns: [] }));
    const gathered = this.#tail.then(() => this.#gather(setting, need, open));
    this.#tail = gathered.catch(() => undefined);
    return gathered;
  }

  async #gather(setting: SupplySetting, need: ConnectionNeed, open: OpenAhead): Promise<CheckConnections> {
    const { pacer } = setting;
    const connections: BrokerConnection[] = [];
    const turns: Turn[] = [];
    while (connections.length < need.shared) {
      const connection = await oneOf(setting, open);
      // If the broker accepts no connection, the check judges that.
      if (connection === undefined) break;
      connections.push(connection);
    }
    // Reserved turns block other checks, so they are taken last.
    while (turns.length < Math.min(need.own, pacer.capacity ?? 0)) {
      const turn = pacer.reserve?.();
      if (turn === undefined) await pacer.freed?.().done;
      else turns.push(turn);
    }
    return new CheckConnections(setting, { need, connections, turns });
  }
}

/** A spare connection or a new one, whichever is available first. */
async function oneOf(
  { pacer, spares }: SupplySetting,
  open: OpenAhead,
): Promise<BrokerConnection | undefined> {
  for (;;) {
    const spare = await spares?.take();
    if (spare !== undefined) return spare;
    const turn = pacer.reserve?.();
    if (turn !== undefined) {
      turn.giveBack();
      return open().catch(() => undefined);
    }
    const freed = pacer.freed?.();
    await Promise.race([freed?.done, spares?.freed() ?? new Promise<void>(() => {})]);
    freed?.cancel();
  }
}

type Ready = {
  readonly need: ConnectionNeed;
  readonly connections: BrokerConnection[];
  readonly turns: Turn[];
};

/** What one run of a check may use. */
export class CheckConnections {
  readonly #spares: SpareConnections | undefined;
  readonly #pacer: ReturnType<typeof watchedPacer>;
  readonly #ready: Ready;
  readonly #asked = { shared: 0, own: 0 };
  #shortOf: Kind | undefined;
  #hasEnded = false;

  constructor({ pacer, spares }: SupplySetting, ready: Ready) {
    this.#spares = spares;
    this.#pacer = watchedPacer(pacer);
    this.#ready = ready;
  }

  /** The check asked for a connection that was not available: the result of this run is discarded. */
  get isShort(): boolean {
    return this.#shortOf !== undefined;
  }

  /** What to reserve for the next run of the check: more than it asked for, so that a few runs are enough. */
  get nextNeed(): ConnectionNeed {
    const { shared, own } = this.#asked;
    return this.#shortOf === 'own' ? { shared, own: withMore(own) } : { shared: withMore(shared), own };
  }

  /** Milliseconds that the check has waited for turns. */
  waitedMs(): number {
    return this.#pacer.waitedMs();
  }

  /** A connection with its handshake done; undefined when one has to be opened, with the pacer for `shared`. */
  async take(): Promise<BrokerConnection | undefined> {
    this.#asked.shared += 1;
    const ready = this.#ready.connections.pop();
    if (ready?.isClosed === false) return ready;
    return this.#spares?.take();
  }

  /** Gives the turns for connections that the check opens. */
  pacer(kind: Kind): Pacer {
    return { ...this.#pacer, turn: () => this.#turn(kind) };
  }

  /** Returns unused connections and turns; later requests of the check fail. */
  end(): void {
    this.#hasEnded = true;
    for (const turn of this.#ready.turns) turn.giveBack();
    for (const connection of this.#ready.connections) {
      if (this.#spares === undefined) connection.destroy();
      else this.#spares.add(connection);
    }
    this.#ready.connections.length = 0;
  }

  async #turn(kind: Kind): Promise<void> {
    if (this.#hasEnded) throw new Error('the check has ended');
    if (kind === 'own') this.#asked.own += 1;
    if (this.#pacer.reserve === undefined) return this.#pacer.turn();
    const turn = (kind === 'own' ? this.#ready.turns.shift() : undefined) ?? this.#pacer.reserve();
    if (turn !== undefined) return turn.use();
    // More than one window allows cannot be reserved.
    const isTooMany = this.#asked.own > (this.#pacer.capacity ?? 0);
    if (isTooMany || this.#ready.need.mayWait === true) return this.#pacer.turn();
    this.#shortOf = kind;
    throw new Error('no connection is available now');
  }
}

function withMore(count: number): number {
  return count + Math.ceil(count / 2);
}
